import type { Stats as CoreStats } from '@scratchfs/core';
import { constants } from '../constants.js';

const { S_IFBLK, S_IFCHR, S_IFDIR, S_IFIFO, S_IFLNK, S_IFMT, S_IFREG, S_IFSOCK } = constants;
const BLOCK_BYTES = 512;
const NS_PER_MS = 1_000_000n;

abstract class StatsBase {
  abstract _checkModeProperty(kind: number): boolean;
  isDirectory(): boolean {
    return this._checkModeProperty(S_IFDIR);
  }
  isFile(): boolean {
    return this._checkModeProperty(S_IFREG);
  }
  isBlockDevice(): boolean {
    return this._checkModeProperty(S_IFBLK);
  }
  isCharacterDevice(): boolean {
    return this._checkModeProperty(S_IFCHR);
  }
  isSymbolicLink(): boolean {
    return this._checkModeProperty(S_IFLNK);
  }
  isFIFO(): boolean {
    return this._checkModeProperty(S_IFIFO);
  }
  isSocket(): boolean {
    return this._checkModeProperty(S_IFSOCK);
  }
}

/** Result of `stat`. Its dates are created on first access, as in Node 22. */
export class Stats extends StatsBase {
  declare atime: Date;
  declare mtime: Date;
  declare ctime: Date;
  declare birthtime: Date;
  constructor(
    public dev: number,
    public mode: number,
    public nlink: number,
    public uid: number,
    public gid: number,
    public rdev: number,
    public blksize: number,
    public ino: number,
    public size: number,
    public blocks: number,
    public atimeMs: number,
    public mtimeMs: number,
    public ctimeMs: number,
    public birthtimeMs: number,
  ) {
    super();
  }
  override _checkModeProperty(kind: number): boolean {
    return (this.mode & S_IFMT) === kind;
  }
}

/** Like `Stats`, in bigints, with nanoseconds. */
export class BigIntStats extends StatsBase {
  readonly atimeMs: bigint;
  readonly mtimeMs: bigint;
  readonly ctimeMs: bigint;
  readonly birthtimeMs: bigint;
  readonly atimeNs: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly birthtimeNs: bigint;
  declare atime: Date;
  declare mtime: Date;
  declare ctime: Date;
  declare birthtime: Date;
  constructor(
    public dev: bigint,
    public mode: bigint,
    public nlink: bigint,
    public uid: bigint,
    public gid: bigint,
    public rdev: bigint,
    public blksize: bigint,
    public ino: bigint,
    public size: bigint,
    public blocks: bigint,
    atimeNs: bigint,
    mtimeNs: bigint,
    ctimeNs: bigint,
    birthtimeNs: bigint,
  ) {
    super();
    this.atimeMs = atimeNs / NS_PER_MS;
    this.mtimeMs = mtimeNs / NS_PER_MS;
    this.ctimeMs = ctimeNs / NS_PER_MS;
    this.birthtimeMs = birthtimeNs / NS_PER_MS;
    this.atimeNs = atimeNs;
    this.mtimeNs = mtimeNs;
    this.ctimeNs = ctimeNs;
    this.birthtimeNs = birthtimeNs;
  }
  override _checkModeProperty(kind: number): boolean {
    return (Number(this.mode) & S_IFMT) === kind;
  }
}

/** The class as in Node 20, a function that can be called: `Stats.call(this, …)` is how older code extends it. */
export const CallableStats: typeof Stats = new Proxy(Stats, {
  apply: (_, target: object, given: ConstructorParameters<typeof Stats>) =>
    void Object.assign(target, new Stats(...given)),
});
Object.defineProperty(Stats.prototype, 'constructor', {
  value: CallableStats,
  writable: true,
  configurable: true,
});

for (const { prototype } of [Stats, BigIntStats]) {
  for (const name of ['atime', 'mtime', 'ctime', 'birthtime'] as const) {
    const set = (target: object, value: unknown): unknown =>
      Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
    Object.defineProperty(prototype, name, {
      enumerable: true,
      configurable: true,
      get(this: Stats): Date {
        const date = new Date(Math.round(Number(this[`${name}Ms`])));
        set(this, date);
        return date;
      },
      set(this: Stats, value: unknown) {
        set(this, value);
      },
    });
  }
}

export function toStats(from: CoreStats): Stats {
  const { size } = from;
  return new Stats(
    from.dev,
    from.mode,
    from.nlink,
    from.uid,
    from.gid,
    0,
    from.blksize,
    from.ino,
    size,
    Math.ceil(size / BLOCK_BYTES),
    from.atimeMs,
    from.mtimeMs,
    from.ctimeMs,
    from.birthtimeMs,
  );
}

export function toBigIntStats(from: CoreStats): BigIntStats {
  return new BigIntStats(
    BigInt(from.dev),
    BigInt(from.mode),
    BigInt(from.nlink),
    BigInt(from.uid),
    BigInt(from.gid),
    0n,
    BigInt(from.blksize),
    BigInt(from.ino),
    BigInt(from.size),
    BigInt(Math.ceil(from.size / BLOCK_BYTES)),
    nanoseconds(from.atimeMs),
    nanoseconds(from.mtimeMs),
    nanoseconds(from.ctimeMs),
    nanoseconds(from.birthtimeMs),
  );
}

/** Converts ms to ns. A double of current milliseconds holds microseconds and no more. */
function nanoseconds(ms: number): bigint {
  const whole = Math.floor(ms);
  return BigInt(whole) * NS_PER_MS + BigInt(Math.round((ms - whole) * 1e3)) * 1000n;
}
