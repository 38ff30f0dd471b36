import { type BackendCall, type LoadRequest, type NodeRecord, StorageError, systemClock } from '@scratchfs/core';
import { keyOf, type Lower, nodeAt } from '../backend/lower.js';
import type { Base, ContentRef } from '../delta/delta-node.js';
import type { Contents } from '../log/contents.js';
import type { EntryState } from '../operation.js';

/** Maximum number of reads of a lower file that another process keeps changing. */
const MAX_READS = 16;

/** A lower node with its content. */
export interface Captured {
  readonly record: NodeRecord;
  /** Defined for a file. */
  readonly content: ContentRef | undefined;
  readonly base: Base;
}

/** Reads lower nodes, files with their contents, and remembers the contents that have to be stored. */
export class Captures {
  /** Hashes of the contents that were read or added. */
  readonly hashes = new Set<string>();

  constructor(
    readonly lower: Lower,
    readonly contents: Contents,
    readonly call: BackendCall | undefined,
  ) {}

  add(bytes: Uint8Array): ContentRef {
    return this.contents.add(bytes, this.hashes);
  }

  /** Returns a lower node, or undefined if it does not exist. */
  async capture(path: string): Promise<Captured | undefined> {
    const request: LoadRequest = { kind: 'path', path, content: Number.MAX_SAFE_INTEGER };
    for (let reads = 0; reads < MAX_READS; reads++) {
      const at = systemClock();
      const [result] = await this.lower.load([request], this.call);
      if (result?.kind !== 'path') return undefined;
      const record = nodeAt(path, result.nodes);
      if (record === undefined) return undefined;
      if (record.kind === 'file' && result.content === undefined) continue;
      const content = result.content === undefined ? undefined : this.add(result.content);
      const base = { path, key: keyOf(record), state: stateOfRecord(record, content), at };
      return { record, content, base };
    }
    throw new StorageError('conflict', 'Another process keeps changing a file while it is read');
  }

  /** Returns the base of a lower path as the disk is now. */
  async baseOf(path: string): Promise<Base> {
    return (await this.capture(path))?.base ?? missingBase(path);
  }
}

/** Returns the base of a lower path that does not exist. */
export function missingBase(path: string): Base {
  return { path, key: undefined, state: null, at: systemClock() };
}

export function stateOfRecord({ kind, meta, size, target }: NodeRecord, content?: ContentRef): EntryState {
  const state = { kind, mode: meta.mode };
  if (kind === 'directory') return { ...state, size: 0 };
  if (kind === 'symlink') return { ...state, size, target };
  return { ...state, size, ...(content && { hash: content.hash }) };
}
