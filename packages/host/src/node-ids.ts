import type { BigIntStats } from 'node:fs';
import type { NodeId } from '@scratchfs/core';

/** Names given by clients that are remembered. */
const MAX_NAMES = 100_000;

/** The identities of what lies on the host: by device and inode, or what a client called it when it made it. */
export class NodeIds {
  readonly #given = new Map<string, NodeId>();
  #renewed = 0;

  of(stat: BigIntStats): NodeId {
    const key = `${stat.dev}:${stat.ino}`;
    return this.#given.get(key) ?? key;
  }

  give(stat: BigIntStats, id: NodeId): void {
    const key = `${stat.dev}:${stat.ino}`;
    if (key === id) return;
    this.#given.delete(key);
    this.#given.set(key, id);
    for (const oldest of this.#given.keys()) {
      if (this.#given.size <= MAX_NAMES) break;
      this.#given.delete(oldest);
    }
  }

  /** Gives a file another identity: the one that it had goes to the file that has taken one of its names. */
  renew(stat: BigIntStats): void {
    this.give(stat, `${stat.dev}:${stat.ino}:${++this.#renewed}`);
  }

  forget(stat: BigIntStats): void {
    this.#given.delete(`${stat.dev}:${stat.ino}`);
  }
}
