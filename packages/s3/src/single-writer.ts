import { StorageError } from '@scratchfs/core';

/** The head that a read found; undefined if there was none. */
type Seen = { readonly tag: string; readonly bytes: Uint8Array } | undefined;

/**
 * Number of sent heads without a response that are remembered. If an older one arrives late, it counts as another
 * writer's.
 */
const MAX_UNCONFIRMED_HEADS = 64;

/**
 * Detects other writers on a store that does not honour conditional writes. Once a read has found another writer's
 * head, `check` throws. Commits before that read may have overwritten the other writer's.
 */
export class SingleWriter {
  #tag: string | undefined;
  /** Heads without a response, oldest first. */
  #sent: readonly Uint8Array[] = [];
  #isFirst = true;
  #isForeign = false;
  /** Number of own heads that are known to have been stored. */
  #own = 0;

  /**
   * Must be called before reading the head. Returns the function to call with the head. A read that was started before
   * this client's last confirmed write shows nothing about other writers.
   */
  willRead(): (head: Seen) => void {
    const own = this.#own;
    return (head) => {
      if (own === this.#own) this.#sawHead(head);
    };
  }

  willWrite(bytes: Uint8Array): void {
    this.#sent = [...this.#sent, bytes].slice(-MAX_UNCONFIRMED_HEADS);
  }

  /** Records that the store has refused this head, so it cannot arrive later. */
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
    // The head may be one of this client's whose response was lost.
    const sent = head === undefined ? -1 : this.#sent.findLastIndex((bytes) => isSame(bytes, head.bytes));
    if (head === undefined || sent < 0) {
      this.#isForeign = true;
      return;
    }
    this.#setOwn(head.tag);
    this.#sent = this.#sent.slice(sent + 1);
  }

  /** @throws StorageError `lost` once a read has shown the head of another writer */
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
