import { createHash } from 'node:crypto';
import type { CallOptions, FileSystem, NodeId } from '@scratchfs/core';
import { encodeRecord, readRecord } from './records.js';

/** A directory of the disk. */
export interface DiskDirectory {
  readonly path: string;
  readonly id: NodeId;
}

/** Folder of the notes, one for each directory. */
export const MOVED = '/moved';

/**
 * Notes in the store about directories that accepts, their undo or redo have moved. The new path is a new directory of
 * the disk, so the disk does not show where the old one has gone.
 */
export class MovedDirectories {
  readonly #store: FileSystem;

  constructor(store: FileSystem) {
    this.#store = store;
  }

  async note(from: DiskDirectory, { path, id }: DiskDirectory): Promise<void> {
    await this.#store.mkdir(MOVED, { recursive: true });
    await this.#store.writeFile(noteOf(from), encodeRecord({ path, id }));
  }

  /** Returns the directory that another one was moved to; undefined if there is no note. */
  find(from: DiskDirectory, { signal }: CallOptions = {}): Promise<DiskDirectory | undefined> {
    return readRecord<DiskDirectory>(this.#store, noteOf(from), signal);
  }
}

function noteOf({ path, id }: DiskDirectory): string {
  return `${MOVED}/${createHash('sha256')
    .update(JSON.stringify([path, id]))
    .digest('hex')
    .slice(0, 32)}`;
}
