import { closeSync, fstatSync, openSync, readFileSync, readSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isBinary } from '@scratchfs/history';
import { isCode } from '../host-error.js';

/** Entry of a persistent copy, as commands were given it or left it when their changes were taken. */
export interface GivenEntry {
  readonly kind: 'file' | 'directory' | 'symlink';
  /** Permission bits; 0 for a link. */
  readonly mode: number;
  /** Bytes of the content; 0 for a directory. */
  readonly size: number;
  /** Identifies the state of the source that was copied. Empty if it has to be read again. */
  readonly source: string;
  /**
   * Size, mode and times in milliseconds of the source, as a `stat` of a filesystem reports them. Empty if a command
   * has made or changed the entry since.
   */
  readonly stat: string;
  /** Identifies the state of the copy on disk. Empty for a directory. */
  readonly copy: string;
  /** Target of a link, as the command reads it. */
  readonly target?: string | undefined;
  /** Offset of the content in the file of contents. Undefined if it is not kept. */
  readonly at?: number | undefined;
}

const VERSION = 1;
/** Largest text whose content is kept for a merge. */
const MAX_MERGED_BYTES = 4 * 2 ** 20;
/** Bytes of kept contents that no entry needs any more, above which a copy may be made anew. */
const MAX_WASTE_BYTES = 64 * 2 ** 20;

/**
 * Entries of a persistent copy, with the contents of its smaller text files. Commands change the copy itself, so a
 * three-way merge takes its base from here.
 */
export class CopyIndex {
  readonly entries = new Map<string, GivenEntry>();
  /** Ignored paths that are private to the copy: they were copied once, or a command has made them. */
  readonly own = new Set<string>();
  /** Paths at which something of the host is mounted for a command: empty entries. */
  readonly mounts = new Set<string>();
  #contents: number | undefined;
  #size = 0;

  private constructor(readonly directory: string) {}

  /** Opens the index in a directory. Returns undefined if it is missing, damaged or of another version. */
  static open(directory: string): CopyIndex | undefined {
    try {
      const { version, entries, own, mounts } = JSON.parse(readFileSync(join(directory, 'index'), 'utf8'));
      if (version !== VERSION) return undefined;
      const index = new CopyIndex(directory);
      for (const [path, kind, mode, size, source, stat, copy, target, at] of entries) {
        const entry = { kind, mode, size, source, stat, copy, target: target ?? undefined, at: at ?? undefined };
        index.entries.set(path, entry);
      }
      for (const path of own) index.own.add(path);
      for (const path of mounts) index.mounts.add(path);
      index.#contents = openSync(join(directory, 'contents'), 'r+');
      index.#size = fstatSync(index.#contents).size;
      return index;
    } catch (error) {
      if (isCode(error, 'ENOENT') || error instanceof SyntaxError || error instanceof TypeError) return undefined;
      throw error;
    }
  }

  static create(directory: string): CopyIndex {
    const index = new CopyIndex(directory);
    index.#contents = openSync(join(directory, 'contents'), 'w+', 0o600);
    return index;
  }

  /**
   * Reports whether more than half of the kept contents, and more than `MAX_WASTE_BYTES`, belongs to no entry any more.
   */
  get isWasteful(): boolean {
    let used = 0;
    for (const { at, size } of this.entries.values()) if (at !== undefined) used += size;
    return this.#size - used > Math.max(MAX_WASTE_BYTES, used);
  }

  /**
   * Keeps a text of at most `MAX_MERGED_BYTES` and returns its offset; undefined for another content, which is not
   * kept.
   */
  keep(content: Uint8Array): number | undefined {
    if (content.length > MAX_MERGED_BYTES || isBinary(content)) return undefined;
    const at = this.#size;
    for (let done = 0; done < content.length; )
      done += writeSync(this.#file, content, done, content.length - done, at + done);
    this.#size = at + content.length;
    return at;
  }

  /** Returns the content of a file or the target of a link; undefined if it is not kept. */
  contentOf({ kind, at, size, target }: GivenEntry): Uint8Array | undefined {
    if (kind === 'symlink') return Buffer.from(target ?? '');
    if (at === undefined) return undefined;
    const content = Buffer.alloc(size);
    for (let done = 0; done < size; ) {
      const read = readSync(this.#file, content, done, size - done, at + done);
      if (read === 0) return undefined;
      done += read;
    }
    return content;
  }

  /** Replaces the index on disk. */
  save(): void {
    const entries = [...this.entries].map(([path, one]) => {
      const { kind, mode, size, source, stat, copy, target = null, at = null } = one;
      return [path, kind, mode, size, source, stat, copy, target, at];
    });
    const written = join(this.directory, 'index.new');
    const saved = { version: VERSION, entries, own: [...this.own], mounts: [...this.mounts] };
    writeFileSync(written, JSON.stringify(saved), { mode: 0o600 });
    renameSync(written, join(this.directory, 'index'));
  }

  close(): void {
    if (this.#contents !== undefined) closeSync(this.#contents);
    this.#contents = undefined;
  }

  get #file(): number {
    if (this.#contents === undefined) throw new Error('The index is closed');
    return this.#contents;
  }
}
