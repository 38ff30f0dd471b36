import { FsError, type OpenFlag, type OpenHow } from '@scratchfs/core';
import { constants } from './constants.js';
import { Descriptor } from './descriptors.js';
import type { Eventual, FsDriver } from './fs-driver.js';

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDWR, O_TRUNC, O_WRONLY } = constants;
const ACCESS = O_WRONLY | O_RDWR;

/** Open flags that the filesystem knows by name, as bits. */
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

/** Returns the name of open flags, or undefined if they have none. */
export function flagName(flags: number): OpenFlag | undefined {
  if ((flags & (O_DIRECTORY | O_NOFOLLOW)) !== 0) return undefined;
  return NAMED.get(flags & (ACCESS | O_CREAT | O_EXCL | O_TRUNC | O_APPEND));
}

/** Opens a file with the flag bits of open(2). */
export function openFile(driver: FsDriver, path: string, flags: number, mode: number): Eventual<Descriptor> {
  const access = flags & ACCESS;
  if (access === ACCESS) throw new FsError('EINVAL', { syscall: 'open', path });
  const opened = driver.open(path, flagName(flags) ?? howOf(flags), (flags & O_CREAT) === 0 ? undefined : { mode });
  return driver.map(opened, (file) => new Descriptor(file, access !== O_WRONLY, access !== 0));
}

function howOf(flags: number): OpenHow {
  const has = (bits: number): boolean => (flags & bits) === bits;
  return {
    read: (flags & ACCESS) !== O_WRONLY,
    write: (flags & ACCESS) !== 0,
    append: has(O_APPEND),
    create: has(O_CREAT),
    exclusive: has(O_CREAT | O_EXCL),
    truncate: has(O_TRUNC),
    noFollow: has(O_NOFOLLOW),
    directory: has(O_DIRECTORY),
  };
}
