import type { TarHeader } from 'modern-tar';
import { archiveError } from './archive-error.js';

const BLOCK_BYTES = 512;
/**
 * File, old file, hard link, symlink, directory, contiguous file; devices and FIFOs, which are refused later; pax and
 * GNU extensions.
 */
const KNOWN = new Set(['0', '\0', '1', '2', '3', '4', '5', '6', '7', 'x', 'g', 'L', 'K']);

/**
 * Checks the type of every entry in the chunks of an archive. The parser takes an unknown type for a plain file; a
 * sparse file or a GNU tar volume would then get a content that it never had. Finds the entries by the sizes in their
 * own headers: {@link TypeFlags.checkNext} refuses an entry to which the parser gives another size.
 */
export class TypeFlags {
  readonly #block = new Uint8Array(BLOCK_BYTES);
  #filled = 0;
  /** Remaining bytes of content and padding to skip. */
  #skip = 0;
  #zeros = 0;
  /** Types and sizes of the entries that were found. */
  readonly #entries: { readonly flag: string; readonly size: number }[] = [];
  #checked = 0;

  /** @throws FsError EINVAL for an unknown type */
  look(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length && this.#zeros < 2; ) {
      const skipped = Math.min(this.#skip, chunk.length - at);
      this.#skip -= skipped;
      at += skipped;
      const taken = Math.min(BLOCK_BYTES - this.#filled, chunk.length - at);
      this.#block.set(chunk.subarray(at, at + taken), this.#filled);
      this.#filled += taken;
      at += taken;
      if (this.#filled < BLOCK_BYTES) continue;
      this.#filled = 0;
      this.#header();
    }
  }

  /**
   * Compares the next entry of the parser with the next one that was found.
   * @throws FsError EINVAL if a pax header gives the entry another size than its own header
   */
  checkNext({ name, type, size, pax = {} }: TarHeader): void {
    const found = this.#entries[this.#checked++];
    // The parser reports no size for a directory that is one by its name only.
    const isByName = type === 'directory' && found?.flag !== '5';
    if (isByName ? Object.keys(pax).length > 0 : size !== found?.size)
      throw archiveError(name, 'A pax header gives it another size than its own header, which is not supported');
  }

  #header(): void {
    this.#zeros = this.#block.every((byte) => byte === 0) ? this.#zeros + 1 : 0;
    if (this.#zeros > 0) return;
    const flag = String.fromCharCode(this.#block[156] as number);
    if (!KNOWN.has(flag)) {
      throw archiveError(
        undefined,
        `An entry has the type ${JSON.stringify(flag)}, which is not supported (sparse files have S)`,
      );
    }
    const size = '123456'.includes(flag) ? 0 : this.#size();
    if (!'xgLK'.includes(flag)) this.#entries.push({ flag, size });
    this.#skip = Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
  }

  /** Reads the size as the parser does: a difference would hide entries from the check. */
  #size(): number {
    const [first = 0, ...rest] = this.#block.subarray(124, 136);
    if ((first & 0x80) !== 0) return rest.reduce((size, byte) => size * 256 + byte, first & 0x7f);
    let size = 0;
    for (const byte of [first, ...rest]) {
      if (byte === 0) break;
      if (byte === 0x20) continue;
      if (byte < 0x30 || byte > 0x37) throw archiveError(undefined, 'The size of an entry is not an octal number');
      size = size * 8 + byte - 0x30;
    }
    return size;
  }
}
