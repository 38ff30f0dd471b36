import type { ModelStat } from './model-entry.js';
import type { ModelNode } from './model-node.js';
import { ModelError } from './model-path.js';

/** The filesystem methods that a handle uses. */
interface Owner {
  now(): number;
  guard(change: () => void): void;
  stat(node: ModelNode): ModelStat;
  isCurrent(): boolean;
}

/** An open file of the model. It keeps the node itself, so that renames and unlinks do not affect it. */
export class ModelHandle {
  #position = 0;
  #isOpen = true;
  readonly #readable: boolean;
  readonly #writable: boolean;
  readonly #appends: boolean;

  constructor(
    readonly node: ModelNode,
    readonly path: string,
    flags: string,
    private readonly owner: Owner,
  ) {
    this.#readable = flags[0] === 'r' || flags.includes('+');
    this.#writable = flags !== 'r';
    this.#appends = flags[0] === 'a';
  }

  read(into: Uint8Array, position: number | null = null): number {
    this.#check(this.#readable);
    if (this.node.kind === 'directory') throw new ModelError('EISDIR');
    const start = position ?? this.#position;
    const bytes = this.node.bytes.slice(start, start + into.length);
    into.set(bytes);
    if (position === null) this.#position += bytes.length;
    return bytes.length;
  }
  write(data: Uint8Array | string, position: number | null = null): number {
    this.#check(this.#writable);
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
    const start = this.#appends ? this.node.bytes.length : (position ?? this.#position);
    if (bytes.length > 0) {
      this.owner.guard(() => {
        const grown = new Uint8Array(Math.max(this.node.bytes.length, start + bytes.length));
        grown.set(this.node.bytes);
        grown.set(bytes, start);
        this.node.bytes = grown;
        this.#touch();
      });
    }
    if (position === null) this.#position = start + bytes.length;
    return bytes.length;
  }
  readFile(): Uint8Array<ArrayBuffer> {
    this.#check(this.#readable);
    if (this.node.kind === 'directory') throw new ModelError('EISDIR');
    const bytes = this.node.bytes.slice(this.#position);
    this.#position += bytes.length;
    return bytes;
  }
  writeFile(data: Uint8Array | string): void {
    this.write(data, null);
  }
  truncate(length = 0): void {
    this.#check(true);
    if (!this.#writable) throw new ModelError('EINVAL');
    this.owner.guard(() => {
      const cut = new Uint8Array(length);
      cut.set(this.node.bytes.subarray(0, length));
      this.node.bytes = cut;
      this.#touch();
    });
  }
  stat(): ModelStat {
    this.#check(true);
    return this.owner.stat(this.node);
  }
  chmod(mode: number): void {
    this.#check(true);
    this.node.mode = mode & 0o7777;
    this.node.ctime = this.owner.now();
  }
  utimes(atime: number | Date, mtime: number | Date): void {
    this.#check(true);
    this.node.atime = typeof atime === 'number' ? atime * 1000 : atime.getTime();
    this.node.mtime = typeof mtime === 'number' ? mtime * 1000 : mtime.getTime();
    this.node.ctime = this.owner.now();
  }
  close(): void {
    this.#isOpen = false;
  }

  #check(allowed: boolean): void {
    if (!this.#isOpen || !this.owner.isCurrent() || !allowed) throw new ModelError('EBADF');
  }
  #touch(): void {
    this.node.mtime = this.node.ctime = this.owner.now();
  }
}
