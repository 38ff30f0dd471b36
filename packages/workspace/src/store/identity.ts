import { statSync } from 'node:fs';

/** Identity of a directory, by which another one at its path is noticed later. */
export interface DirectoryIdentity {
  readonly dev: string;
  readonly ino: string;
  /** Time of birth in nanoseconds since the epoch; `0` if the disk does not keep it. */
  readonly birth: string;
}

/** Returns the identity of a directory; undefined if none is at the path. */
export function identityOf(path: string): DirectoryIdentity | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined || !stat.isDirectory()) return undefined;
  return { dev: String(stat.dev), ino: String(stat.ino), birth: String(stat.birthtimeNs) };
}

/**
 * Reports whether two identities are of one directory. A disk may reuse the inode number of a removed directory, so the
 * time of birth is compared too. A device may have another number after a restart, so the numbers of devices are
 * compared only if the disk does not keep times of birth.
 */
export function isSameDirectory(a: DirectoryIdentity, b: DirectoryIdentity): boolean {
  if (a.ino !== b.ino) return false;
  return a.birth === '0' || b.birth === '0' ? a.dev === b.dev : a.birth === b.birth;
}
