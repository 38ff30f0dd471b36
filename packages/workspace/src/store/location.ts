import { createHash } from 'node:crypto';
import { lstatSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Location of a store on the disk. */
export interface StoreLocation {
  /** Directory that holds stores, as `DiskStorage` takes it. */
  readonly parent: string;
  /** Name of the store in `parent`. */
  readonly id: string;
  readonly path: string;
}

/**
 * Returns where the store of a directory lies: in `$XDG_STATE_HOME/scratchfs`, else in `~/.local/state/scratchfs`. A
 * relative `XDG_STATE_HOME` does not count (XDG Base Directory Specification 0.8).
 * @param realPath real path of the directory
 */
export function storeLocation(
  realPath: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): StoreLocation {
  const given = env['XDG_STATE_HOME'];
  const state = given !== undefined && isAbsolute(given) ? given : join(homedir(), '.local', 'state');
  const parent = join(state, 'scratchfs');
  const id = createHash('sha256').update(realPath).digest('hex').slice(0, 32);
  return { parent, id, path: join(parent, id) };
}

/** Returns where the filesystem of a `file:` URL lies; undefined for other URLs. Must agree with `DiskStorage`. */
export function locationOfUrl(text: string): StoreLocation | undefined {
  if (!/^file:/i.test(text)) return undefined;
  const url = new URL(text);
  const parent = fileURLToPath(new URL(url.pathname, 'file:'));
  const id = url.searchParams.get('name') ?? 'default';
  return { parent, id, path: join(parent, id) };
}

/** Reports whether a store exists. Also true if that cannot be found out, for example without permission. */
export function exists({ path }: StoreLocation): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOTDIR';
  }
}

/** Reports whether two directories of the disk, which need not exist, are the same or one lies in the other. */
export function overlaps(a: string, b: string): boolean {
  const [first, second] = [realPathOf(a), realPathOf(b)];
  return lies(first, second) || lies(second, first);
}

/** Returns the real path of the part of a path that can be resolved, with the rest appended. */
function realPathOf(path: string): string {
  const full = resolve(path);
  try {
    return realpathSync(full);
  } catch {
    return dirname(full) === full ? full : join(realPathOf(dirname(full)), basename(full));
  }
}

function lies(inner: string, outer: string): boolean {
  const path = relative(outer, inner);
  return path === '' || (path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path));
}
