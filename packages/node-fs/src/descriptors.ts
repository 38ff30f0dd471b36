import { type Content, FsError } from '@scratchfs/core';
import type { Eventual, OpenFile } from './door.js';

/** An open file as its open flags allow to use it. */
export class Descriptor {
  constructor(
    readonly file: OpenFile,
    readonly canRead: boolean,
    readonly canWrite: boolean,
  ) {}

  /** `position` null: where the last call ended. */
  read(into: Uint8Array, position: number | null): Eventual<number> {
    if (!this.canRead) throw new FsError('EBADF', { syscall: 'read' });
    return this.file.read(into, position);
  }

  write(data: Content, position: number | null): Eventual<number> {
    if (!this.canWrite) throw new FsError('EBADF', { syscall: 'write' });
    return this.file.write(data, position);
  }

  /** Everything from where the last call ended. */
  readFile(): Eventual<Uint8Array<ArrayBuffer>> {
    if (!this.canRead) throw new FsError('EBADF', { syscall: 'read' });
    return this.file.readFile();
  }

  truncate(length: number): Eventual<void> {
    // ftruncate(2) says EINVAL where write(2) says EBADF.
    if (!this.canWrite) throw new FsError('EINVAL', { syscall: 'ftruncate' });
    return this.file.truncate(length);
  }
}

/** The first number that a process gets: 0, 1 and 2 are its standard streams. */
const FIRST_DESCRIPTOR = 3;

/** The open files of one object: each has the lowest number that is free, as POSIX has it. */
export class Descriptors {
  readonly #open: (Descriptor | undefined)[] = [];
  #free = 0;

  add(descriptor: Descriptor): number {
    while (this.#open[this.#free] !== undefined) this.#free += 1;
    this.#open[this.#free] = descriptor;
    return this.#free + FIRST_DESCRIPTOR;
  }

  /** @throws FsError EBADF where nothing is open under the number */
  get(fd: number, syscall: string): Descriptor {
    const descriptor = this.#open[fd - FIRST_DESCRIPTOR];
    if (descriptor === undefined) throw new FsError('EBADF', { syscall });
    return descriptor;
  }

  /** Takes an open file out of the table. */
  remove(fd: number): Descriptor {
    const descriptor = this.get(fd, 'close');
    this.#open[fd - FIRST_DESCRIPTOR] = undefined;
    this.#free = Math.min(this.#free, fd - FIRST_DESCRIPTOR);
    return descriptor;
  }
}
