import type { EntryKind } from '@scratchfs/core';
import { constants } from '../constants.js';

const {
  UV_DIRENT_BLOCK,
  UV_DIRENT_CHAR,
  UV_DIRENT_DIR,
  UV_DIRENT_FIFO,
  UV_DIRENT_FILE,
  UV_DIRENT_LINK,
  UV_DIRENT_SOCKET,
} = constants;

const TYPES = { file: UV_DIRENT_FILE, directory: UV_DIRENT_DIR, symlink: UV_DIRENT_LINK } as const;
const TYPE = Symbol('type');

/** An entry of a directory. */
export class Dirent<Name extends string | Uint8Array = string> {
  /** Path of the entry's directory. It can be bytes if the caller gave bytes, which Node's types omit too. */
  parentPath: string;
  /** The same directory, under the older name that Node has for this property. */
  path: string;
  readonly [TYPE]: number;
  constructor(
    public name: Name,
    type: number,
    path: string,
  ) {
    this.parentPath = path;
    this.path = path;
    this[TYPE] = type;
  }
  isDirectory(): boolean {
    return this[TYPE] === UV_DIRENT_DIR;
  }
  isFile(): boolean {
    return this[TYPE] === UV_DIRENT_FILE;
  }
  isBlockDevice(): boolean {
    return this[TYPE] === UV_DIRENT_BLOCK;
  }
  isCharacterDevice(): boolean {
    return this[TYPE] === UV_DIRENT_CHAR;
  }
  isSymbolicLink(): boolean {
    return this[TYPE] === UV_DIRENT_LINK;
  }
  isFIFO(): boolean {
    return this[TYPE] === UV_DIRENT_FIFO;
  }
  isSocket(): boolean {
    return this[TYPE] === UV_DIRENT_SOCKET;
  }
}

export function toDirent<Name extends string | Uint8Array>(
  name: Name,
  kind: EntryKind,
  parent: string | Uint8Array,
): Dirent<Name> {
  return new Dirent(name, TYPES[kind], parent as string);
}
