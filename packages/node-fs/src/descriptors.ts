import { FsError } from '@scratchfs/core';
import type { OpenFile } from './door.js';

/** An open file under its number. */
export interface Descriptor {
  readonly file: OpenFile;
  readonly canRead: boolean;
  readonly canWrite: boolean;
}

/** The first number that a process gets: 0, 1 and 2 are its standard streams. */
const FIRST = 3;

/** The open files of one object: each has the lowest number that is free, as POSIX has it. */
export class Descriptors {
  readonly #open: (Descriptor | undefined)[] = [];
  #free = 0;

  add(descriptor: Descriptor): number {
    while (this.#open[this.#free] !== undefined) this.#free += 1;
    this.#open[this.#free] = descriptor;
    return this.#free + FIRST;
  }

  /** @throws FsError EBADF where nothing is open under the number */
  get(fd: number, syscall: string): Descriptor {
    const descriptor = this.#open[fd - FIRST];
    if (descriptor === undefined) throw new FsError('EBADF', { syscall });
    return descriptor;
  }

  /** Takes an open file out of the table. */
  remove(fd: number): Descriptor {
    const descriptor = this.get(fd, 'close');
    this.#open[fd - FIRST] = undefined;
    this.#free = Math.min(this.#free, fd - FIRST);
    return descriptor;
  }
}
