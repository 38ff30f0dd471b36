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
 * Notes in the store about directories that accepts, their undo or redo have moved. These create directories anew, so
 * the disk does not show where one has gone, and other attempts may still show its files.
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
