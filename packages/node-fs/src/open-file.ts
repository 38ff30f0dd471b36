import { FsError, isFsError, type OpenFlag } from '@scratchfs/core';
import { constants } from './constants.js';
import { Descriptor } from './descriptors.js';
import { type Door, type OpenFile, type Steps, step } from './door.js';

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDWR, O_TRUNC, O_WRONLY } = constants;
const ACCESS = O_WRONLY | O_RDWR;
const EXCLUSIVE = O_CREAT | O_EXCL;

/** The flags that the filesystem knows by a name, as bits. */
const NAMED = new Map<number, OpenFlag>([
  [0, 'r'],
  [O_RDWR, 'r+'],
  [O_WRONLY | O_CREAT | O_TRUNC, 'w'],
  [O_WRONLY | O_CREAT | O_TRUNC | O_EXCL, 'wx'],
  [O_RDWR | O_CREAT | O_TRUNC, 'w+'],
  [O_RDWR | O_CREAT | O_TRUNC | O_EXCL, 'wx+'],
  [O_WRONLY | O_CREAT | O_APPEND, 'a'],
  [O_WRONLY | O_CREAT | O_APPEND | O_EXCL, 'ax'],
  [O_RDWR | O_CREAT | O_APPEND, 'a+'],
  [O_RDWR | O_CREAT | O_APPEND | O_EXCL, 'ax+'],
]);

/** The name of open flags; undefined where only several calls do what they say. */
export function flagName(flags: number): OpenFlag | undefined {
  if ((flags & (O_DIRECTORY | O_NOFOLLOW)) !== 0) return undefined;
  return NAMED.get(flags & (ACCESS | O_CREAT | O_EXCL | O_TRUNC | O_APPEND));
}

/** `open(2)`. Over a far storage, flags without a name are several calls, and others may come between. */
export function* openFile(door: Door, path: string, flags: number, mode: number): Steps<Descriptor> {
  const access = flags & ACCESS;
  if (access === ACCESS) throw new FsError('EINVAL', { syscall: 'open', path });
  // What is made anew follows no link anyway, and is in the way of nothing else.
  if ((flags & O_NOFOLLOW) !== 0 && (flags & EXCLUSIVE) !== EXCLUSIVE) yield* refuseLink(door, path, flags);
  // What is opened as a directory has to be one before anything else happens to it.
  if ((flags & O_DIRECTORY) !== 0) yield* requireDirectory(door, path);
  const name = flagName(flags & ~(O_DIRECTORY | O_NOFOLLOW));
  const file =
    name === undefined ? yield* openInSteps(door, path, flags, mode) : yield* step(door.open(path, name, { mode }));
  return new Descriptor(file, access !== O_WRONLY, access !== 0);
}

function* openInSteps(door: Door, path: string, flags: number, mode: number): Steps<OpenFile> {
  const canRead = (flags & ACCESS) !== O_WRONLY;
  const canWrite = (flags & ACCESS) !== 0;
  if ((flags & O_CREAT) !== 0) {
    const made = yield* step(door.open(path, (flags & O_EXCL) === 0 ? 'a' : 'ax', { mode }));
    yield* step(made.close());
  }
  // Appending makes what is missing: it has to be there already.
  const appends = canWrite && (flags & O_APPEND) !== 0;
  const file = yield* step(door.open(path, canWrite || (flags & O_TRUNC) !== 0 ? 'r+' : 'r'));
  if ((flags & O_TRUNC) !== 0) yield* step(file.truncate(0));
  if (!appends) return file;
  yield* step(file.close());
  return yield* step(door.open(path, canRead ? 'a+' : 'a'));
}

function* refuseLink(door: Door, path: string, flags: number): Steps<void> {
  try {
    if (!(yield* step(door.fs.lstat(path))).isSymbolicLink()) return;
  } catch (error) {
    if (isFsError(error)) return;
    throw error;
  }
  throw new FsError((flags & O_DIRECTORY) === 0 ? 'ELOOP' : 'ENOTDIR', { syscall: 'open', path });
}

function* requireDirectory(door: Door, path: string): Steps<void> {
  const file = yield* step(door.open(path, 'r'));
  const isDirectory = (yield* step(file.stat())).isDirectory();
  yield* step(file.close());
  if (!isDirectory) throw new FsError('ENOTDIR', { syscall: 'open', path });
}
