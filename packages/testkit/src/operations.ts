import type { OpenFlag } from '@scratchfs/core';
import type { Data } from './data.js';

/**
 * The arguments of each operation of a {@link Step}. Times are epoch milliseconds; `slot` identifies an open handle.
 */
export interface OperationArgs {
  exists: { path: string };
  isFile: { path: string };
  isDirectory: { path: string };
  access: { path: string; mode: number };
  realpath: { path: string };
  stat: { path: string };
  lstat: { path: string };
  getEntry: { path: string };
  readlink: { path: string };
  readdir: { path: string };
  entries: { path: string };
  walk: { path: string };
  readFile: { path: string };
  readText: { path: string };
  readLines: { path: string };

  writeFile: { path: string; data: Data; flag: 'w' | 'wx' | 'r+' | 'a' | 'ax'; mode: number };
  writeLines: { path: string; lines: readonly string[] };
  appendFile: { path: string; data: Data };
  editFile: { path: string; search: string; replacement: string; all: boolean };
  truncate: { path: string; length: number };

  mkdir: { path: string; recursive: boolean; mode: number };
  rm: { path: string; recursive: boolean; force: boolean };
  unlink: { path: string };
  rmdir: { path: string };
  cp: { from: string; to: string; recursive: boolean; force: boolean; errorOnExist: boolean };
  copyFile: { from: string; to: string; exclusive: boolean };
  rename: { from: string; to: string };
  /** `target` is stored byte for byte. */
  symlink: { target: string; path: string };
  /** `to` becomes another name of `from`. */
  link: { from: string; to: string };
  chmod: { path: string; mode: number };
  chown: { path: string; uid: number; gid: number };
  lchown: { path: string; uid: number; gid: number };
  utimes: { path: string; atime: number; mtime: number };
  lutimes: { path: string; atime: number; mtime: number };

  /** Opens into a slot; a handle in it is closed first. */
  open: { slot: number; path: string; flags: OpenFlag; mode: number };
  /** For `position` null the operation continues after the last read or write of the handle. */
  read: { slot: number; length: number; position: number | null };
  write: { slot: number; data: Data; position: number | null };
  handleReadFile: { slot: number };
  handleWriteFile: { slot: number; data: Data };
  handleTruncate: { slot: number; length: number };
  handleStat: { slot: number };
  handleChmod: { slot: number; mode: number };
  handleUtimes: { slot: number; atime: number; mtime: number };
  close: { slot: number };

  /** Operations without a counterpart on a disk: generators emit them only on request. */
  stats: { root?: never };
  checkpoint: { name: string };
  rollback: { name: string };
  drop: { name: string };
}

export type OperationName = keyof OperationArgs;

/** A kind of entry, or of name, that the generator can aim a path at. */
export type TargetKind = (typeof TARGET_KINDS)[number];

export const TARGET_KINDS = [
  'file',
  'empty-file',
  'large-file',
  'hard-link',
  'executable',
  'open-file',
  'empty-directory',
  'full-directory',
  'deep-directory',
  'root',
  'link-to-file',
  'link-to-directory',
  'link-to-link',
  'dangling-link',
  'link-loop',
  'long-link-chain',
  'missing',
  'missing-parent',
  'through-file',
  'through-link',
  'through-dangling',
  'through-loop',
  'hostile-name',
  'long-name',
  'too-long-name',
  'own-ancestor',
  'own-descendant',
  'same',
] as const;

/** One operation as plain data, to be printed, stored as JSON and played again. */
export type Step = {
  readonly [K in OperationName]: {
    readonly op: K;
    readonly args: Readonly<OperationArgs[K]>;
    readonly target?: TargetKind;
    readonly target2?: TargetKind;
  };
}[OperationName];

/** Operations with a counterpart in `node:fs`, sometimes of two calls. */
export const DISK_OPERATIONS: readonly OperationName[] = [
  'exists',
  'isFile',
  'isDirectory',
  'access',
  'realpath',
  'stat',
  'lstat',
  'getEntry',
  'readlink',
  'readdir',
  'entries',
  'walk',
  'readFile',
  'readText',
  'readLines',
  'writeFile',
  'writeLines',
  'appendFile',
  'editFile',
  'truncate',
  'mkdir',
  'rm',
  'unlink',
  'rmdir',
  'cp',
  'copyFile',
  'rename',
  'symlink',
  'link',
  'chmod',
  'chown',
  'lchown',
  'utimes',
  'lutimes',
  'open',
  'read',
  'write',
  'handleReadFile',
  'handleWriteFile',
  'handleTruncate',
  'handleStat',
  'handleChmod',
  'handleUtimes',
  'close',
];

/** All operations, including those without a counterpart on a disk. */
export const ALL_OPERATIONS: readonly OperationName[] = [...DISK_OPERATIONS, 'stats', 'checkpoint', 'rollback', 'drop'];

/** The maximum number of open handles of a sequence, in slots 0 … `SLOTS - 1`. */
export const SLOTS = 4;

export interface StepsOptions {
  /** Operations to generate. Default {@link DISK_OPERATIONS}. Preparing steps may be any of `DISK_OPERATIONS`. */
  readonly operations?: readonly OperationName[] | undefined;
  /** Allows links to absolute paths. Default true. */
  readonly absoluteLinks?: boolean | undefined;
  /**
   * The probability of an equivalent spelling of a path: `//`, `./`, `x/../`, a trailing `/`, `\`, no leading `/`.
   * Default 0.03.
   */
  readonly dressing?: number | undefined;
  /** Bytes of a large file. Default 70,000, more than one chunk of 64 KiB. */
  readonly largeSize?: number | undefined;
  /** The number of names above which the generator removes some. Default 80. */
  readonly maxNodes?: number | undefined;
}
