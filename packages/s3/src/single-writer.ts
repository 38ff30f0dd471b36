import { StorageError } from '@scratchfs/core';

/** The head, undefined where there is none. */
type Seen = { readonly tag: string; readonly bytes: Uint8Array } | undefined;

/** Heads without an answer that are remembered: an older one that comes all the same is taken for another writer's. */
const MAX_UNCONFIRMED_HEADS = 64;

/**
 * Watches that nobody else writes where the store cannot see to it. It sees a head that is not ours with the next read and stops
 * all writes then; what was written in between may have overwritten the other's.
 */
export class SingleWriter {
  #tag: string | undefined;
  /** Heads without an answer, the oldest first. */
  #sent: readonly Uint8Array[] = [];
  #isFirst = true;
  #isForeign = false;
  /** Heads of our own that are known to be there. */
  #own = 0;

  /** Before the head is read: answers what is to be told of it. A head of before our last one says nothing of others. */
  willRead(): (head: Seen) => void {
    const own = this.#own;
    return (head) => {
      if (own === this.#own) this.#sawHead(head);
    };
  }

  willWrite(bytes: Uint8Array): void {
    this.#sent = [...this.#sent, bytes].slice(-MAX_UNCONFIRMED_HEADS);
  }

  /** The store has refused what was sent last: it will never come. */
  wasRefused(bytes: Uint8Array): void {
    const refused = this.#sent.lastIndexOf(bytes);
    this.#sent = this.#sent.filter((_, i) => i !== refused);
  }

  hasWritten(tag: string): void {
    this.#setOwn(tag);
    this.#sent = [];
  }

  #setOwn(tag: string): void {
    this.#tag = tag;
    this.#own += 1;
    this.#isFirst = false;
  }

  #sawHead(head: Seen): void {
    if (this.#isFirst) this.#tag = head?.tag;
    this.#isFirst = false;
    if (head?.tag === this.#tag) return;
    // An answer may have been lost.
    const sent = head === undefined ? -1 : this.#sent.findLastIndex((bytes) => isSame(bytes, head.bytes));
    if (head === undefined || sent < 0) {
      this.#isForeign = true;
      return;
    }
    this.#setOwn(head.tag);
    this.#sent = this.#sent.slice(sent + 1);
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
