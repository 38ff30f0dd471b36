import { StorageError } from '@scratchfs/core';

/**
 * Watches that nobody else writes where the store cannot see to it. It sees a head that is not ours with the next read and stops
 * all writes then; what was written in between may have overwritten the other's.
 */
export class SingleWriter {
  #tag: string | undefined;
  #sent: Uint8Array | undefined;
  #isFirst = true;
  #isForeign = false;

  /** The head as it was read. */
  sawHead(head: { readonly tag: string; readonly bytes: Uint8Array } | undefined): void {
    if (this.#isFirst) this.#tag = head?.tag;
    else if (head?.tag !== this.#tag) {
      // An answer may have been lost: what was sent last is ours too.
      if (head !== undefined && this.#sent !== undefined && isSame(head.bytes, this.#sent)) this.#tag = head.tag;
      else this.#isForeign = true;
    }
    this.#isFirst = false;
  }

  willWrite(bytes: Uint8Array): void {
    this.#sent = bytes;
  }

  hasWritten(tag: string): void {
    this.#tag = tag;
    this.#isFirst = false;
  }

  /** @throws StorageError `lost` once somebody else has written */
  check(): void {
    if (!this.#isForeign) return;
    throw new StorageError(
      'lost',
      'Another writer has changed the filesystem, which was opened for a single one: nothing is written any more',
    );
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
