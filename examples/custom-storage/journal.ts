import { closeSync, constants, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { StorageError } from '@scratchfs/core';

const HEADER = 12;

/** A file that only grows: records, each behind its length, the same length inverted, and its CRC-32. */
export class Journal {
  readonly #file: number;
  #end = 0;

  constructor(path: string) {
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    // A new name is on the disk only when its directory is.
    const directory = openSync(dirname(path), 'r');
    fsyncSync(directory);
    closeSync(directory);
  }

  /**
   * The records, oldest first. A last one that is not whole was never acknowledged: it is cut off.
   * @throws StorageError `corrupt` for damage before that
   */
  *read(): Generator<Uint8Array> {
    const bytes = readFileSync(this.#file);
    while (this.#end + HEADER <= bytes.length) {
      const length = bytes.readUInt32LE(this.#end);
      const isLength = bytes.readUInt32LE(this.#end + 4) === ~length >>> 0;
      const next = this.#end + HEADER + length;
      const record = bytes.subarray(this.#end + HEADER, next);
      if (!isLength || next > bytes.length || bytes.readUInt32LE(this.#end + 8) !== crc32(record)) {
        const isTorn = isLength ? next >= bytes.length : bytes.subarray(this.#end).every((byte) => byte === 0);
        if (!isTorn) throw new StorageError('corrupt', `The journal is damaged at byte ${this.#end}`);
        break;
      }
      yield record;
      this.#end = next;
    }
    ftruncateSync(this.#file, this.#end);
  }

  /** Adds a record, and returns when it is on the disk. After an error the journal must be opened again. */
  append(record: Uint8Array): void {
    const bytes = Buffer.alloc(HEADER + record.length);
    bytes.writeUInt32LE(record.length);
    bytes.writeUInt32LE(~record.length >>> 0, 4);
    bytes.writeUInt32LE(crc32(record), 8);
    bytes.set(record, HEADER);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at, bytes.length - at, this.#end + at);
    fsyncSync(this.#file);
    this.#end += bytes.length;
  }

  close(): void {
    closeSync(this.#file);
  }
}
