import type { BigIntStats } from 'node:fs';
import type { ObjectId, TreeMode } from '@scratchfs/history';

/** A file, link or nested repository of a work tree. */
export interface WorktreeFile {
  readonly path: string;
  readonly mode: TreeMode;
  /** Blob id, if the cache has it. */
  readonly known: ObjectId | undefined;
  /** Content, if the cache does not have it. Undefined for a nested repository. */
  readonly body: Uint8Array | undefined;
  readonly stat: BigIntStats;
}
