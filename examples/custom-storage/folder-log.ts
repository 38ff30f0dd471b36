import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { StorageError } from '@scratchfs/core';
import type { Log } from './log-backend.js';

const SEAL_BYTES = 4;
const UNFINISHED = '.new';

/** A log in a folder: one file per record, named by its number. Any number of processes may share it. */
export class FolderLog implements Log {
  readonly #folder: string;
  #position = 0;
  /** The checksum of all records so far. */
  #seal = 0;
  /** Number of records at the first listing. If one of these is missing later, the log is damaged, not at its end. */
  #least: number | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async next(): Promise<Uint8Array | undefined> {
    this.#least ??= await this.#count();
    const bytes = await readFile(this.#path).catch(unless('ENOENT'));
    if (bytes === undefined && this.#position >= this.#least) return undefined;
    const record = bytes?.subarray(SEAL_BYTES) ?? Buffer.alloc(0);
    const seal = crc32(record, this.#seal);
    if (bytes === undefined || bytes.length < SEAL_BYTES || bytes.readUInt32LE() !== seal) {
      throw new StorageError('corrupt', `Record ${this.#position} of the log is missing or damaged`);
    }
    this.#position += 1;
    this.#seal = seal;
    return record;
  }

  async append(record: Uint8Array): Promise<void> {
    const bytes = Buffer.alloc(SEAL_BYTES + record.length);
    bytes.writeUInt32LE(crc32(record, this.#seal));
    bytes.set(record, SEAL_BYTES);
    const temporary = join(this.#folder, randomUUID() + UNFINISHED);
    await sync(temporary, 'wx', bytes);
    // Unlike a rename, a link fails if the name is taken, so of several concurrent attempts one wins.
    await link(temporary, this.#path).catch(unless('EEXIST'));
    await unlink(temporary);
    // A new name is durable only after its folder was synced.
    await sync(this.#folder, 'r');
  }

  get #path(): string {
    return join(this.#folder, String(this.#position));
  }

  async #count(): Promise<number> {
    await mkdir(this.#folder, { recursive: true });
    const names = await readdir(this.#folder);
    return names.filter((name) => !name.endsWith(UNFINISHED)).length;
  }
}

/** Syncs a file with these bytes, or a folder, to the disk. */
async function sync(path: string, flags: string, bytes?: Uint8Array): Promise<void> {
  const file = await open(path, flags);
  try {
    if (bytes !== undefined) await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

function unless(code: string): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (error.code !== code) throw error;
  };
}
