import type { BigIntStats } from 'node:fs';
import type { NodeId } from '@scratchfs/core';

/** Maximum number of remembered ids that differ from device and inode. */
const MAX_GIVEN_IDS = 100_000;

/**
 * Ids of entries on the host: device and inode, unless another id was given, such as one that a client chose on
 * creation.
 */
export class NodeIds {
  readonly #given = new Map<string, NodeId>();
  #renewed = 0;

  of(stat: BigIntStats): NodeId {
    const key = inodeKey(stat);
    return this.#given.get(key) ?? key;
  }

  give(stat: BigIntStats, id: NodeId): void {
    const key = inodeKey(stat);
    this.#given.delete(key);
    if (key === id) return;
    this.#given.set(key, id);
    for (const oldest of this.#given.keys()) {
      if (this.#given.size <= MAX_GIVEN_IDS) break;
      this.#given.delete(oldest);
    }
  }

  /**
   * Gives a file a new id, so that its old id can pass to a file that takes one of its names. Needed even if the old file
   * is removed: the system may reuse its inode.
   */
  renew(stat: BigIntStats): void {
    this.give(stat, `${inodeKey(stat)}:${++this.#renewed}`);
  }

  /** Forgets the id of an entry that was removed. */
  forget(stat: BigIntStats): void {
    // Without a given id the inode would have its own one again, which may have passed to another file.
    if (this.#given.has(inodeKey(stat))) this.renew(stat);
  }
}

/**
 * Returns a key of device and inode, which no other existing file of the host has. The system may reuse it after a file
 * is removed.
 */
export function inodeKey({ dev, ino }: BigIntStats): string {
  return [dev, ino].join(':');
}
