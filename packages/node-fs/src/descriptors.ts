import { type Content, FsError } from '@scratchfs/core';
import type { Eventual, OpenFile } from './fs-driver.js';

/** An open file with the access that its open flags allow. */
export class Descriptor {
  constructor(
    readonly file: OpenFile,
    readonly canRead: boolean,
    readonly canWrite: boolean,
  ) {}

  /** Reads; `position` null means the file's current position. */
  read(into: Uint8Array, position: number | null): Eventual<number> {
    if (!this.canRead) throw new FsError('EBADF', { syscall: 'read' });
    return this.file.read(into, position);
  }

  write(data: Content, position: number | null): Eventual<number> {
    if (!this.canWrite) throw new FsError('EBADF', { syscall: 'write' });
    return this.file.write(data, position);
  }

  /** Reads everything from the current position. */
  readFile(): Eventual<Uint8Array<ArrayBuffer>> {
    if (!this.canRead) throw new FsError('EBADF', { syscall: 'read' });
    return this.file.readFile();
  }

  truncate(length: number): Eventual<void> {
    // Linux returns EINVAL, not EBADF, from ftruncate(2) on a file that is not open for writing.
    if (!this.canWrite) throw new FsError('EINVAL', { syscall: 'ftruncate' });
    return this.file.truncate(length);
  }
}

/** Lowest descriptor of a file: 0, 1 and 2 are the standard streams of a process. */
const FIRST_DESCRIPTOR = 3;

/** The open files of one façade. Each gets the lowest free number, as in POSIX. */
export class Descriptors {
  readonly #open: (Descriptor | undefined)[] = [];
  #free = 0;

  add(descriptor: Descriptor): number {
    while (this.#open[this.#free] !== undefined) this.#free += 1;
    this.#open[this.#free] = descriptor;
    return this.#free + FIRST_DESCRIPTOR;
  }

  /** @throws FsError EBADF if nothing is open under the number */
  get(fd: number, syscall: string): Descriptor {
    const descriptor = this.#open[fd - FIRST_DESCRIPTOR];
    if (descriptor === undefined) throw new FsError('EBADF', { syscall });
    return descriptor;
  }

  /** Removes an open file from the table. */
  remove(fd: number): Descriptor {
    const descriptor = this.get(fd, 'close');
    this.#open[fd - FIRST_DESCRIPTOR] = undefined;
    this.#free = Math.min(this.#free, fd - FIRST_DESCRIPTOR);
    return descriptor;
  }
}
