import { randomBytes } from 'node:crypto';
import { constants, copyFileSync, linkSync, lstatSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isCode } from '../host-error.js';
import { inodeKey } from '../node-ids.js';
import { isAlive, startOf } from '../process-start.js';
import { writeDurably } from './durable.js';
import { currentHost, hostKeyOf, isBeforeBoot, isFresh, mtimeOf } from './host-identity.js';
import { NO_LINK } from './kept-files.js';

/** Identity of a process that distinguishes it from a later process with the same number. */
interface Owner {
  readonly pid: number;
  readonly started: string;
  readonly place: string;
}

/** Content of a lock file. */
interface ProcessLock extends Owner {
  /**
   * Key of the directory that the lock was made for; in a copy of that directory the lock is void. Missing in locks
   * of older versions.
   */
  readonly directory?: string;
}

const LOCK_PREFIX = 'claim-';

/** Maximum bytes of a lock file; a longer file is not a lock. */
const MAX_LOCK_BYTES = 256;

/**
 * Takes the lock of a directory for a call. Locks are files numbered 0, 1, 2 …: the last one is valid as long as its
 * process may run, and of the processes that follow a lock of a dead process only one can create the next number. `id`
 * is part of the name, because the path may have another directory with another id by then.
 * @returns the name of the lock file, which the caller removes at its end; undefined if another call, of this or
 *   another process, has the lock, or if the directory is gone
 */
export async function acquireProcessLock(directory: string, id: string): Promise<string | undefined> {
  try {
    const number = numberFor(directory, id);
    if (number === undefined) return undefined;
    const name = nameOf(id, number);
    // Written under another name and then linked, so the lock is complete from the first moment.
    const written = join(directory, `${name}.${randomBytes(6).toString('hex')}`);
    await writeDurably(written, JSON.stringify({ ...ownerNow(), directory: keyOfDirectory(directory) }));
    try {
      give(written, join(directory, name));
    } finally {
      rmSync(written, { force: true });
    }
    return name;
  } catch (error) {
    if (isCode(error, 'EEXIST', 'ENOENT')) return undefined;
    throw error;
  }
}

/** Gives a lock its name. @throws EEXIST if another call has taken the name */
function give(written: string, place: string): void {
  try {
    linkSync(written, place);
  } catch (error) {
    if (!isCode(error, ...NO_LINK)) throw error;
    // On a disk without hard links the lock is empty for a moment.
    copyFileSync(written, place, constants.COPYFILE_EXCL);
  }
}

export function ownerNow(): Owner {
  return { pid: process.pid, started: startOf(process.pid) as string, place: hostKeyOf(currentHost()) };
}

/** Reports whether the owner of a lock may be at work. A lock of another host counts for some minutes. */
function counts({ pid, started, place, directory }: ProcessLock, path: string): boolean {
  const here = currentHost();
  // Another host has other device and process numbers.
  if (place !== hostKeyOf(here)) return isFresh(path);
  if (directory !== undefined && directory !== keyOfDirectory(dirname(path))) return false;
  // The host identity distinguishes boots, if the system tells them.
  return isAlive(pid, started) && (here.boot !== '' || !isBeforeBoot(mtimeOf(path)));
}

/** Returns the number of the next lock; undefined if the last one is valid. */
function numberFor(directory: string, id: string): number | undefined {
  for (;;) {
    const last = Math.max(-1, ...numbersIn(directory, id));
    if (last < 0) return 0;
    const path = join(directory, nameOf(id, last));
    const text = textOf(path);
    const found = processLockIn(text);
    if (found !== undefined && counts(found, path)) return undefined;
    // Another call is writing it.
    if (text === '' && isFresh(path)) return undefined;
    // A lock that was released concurrently does not end the sequence, because another call may have created it again.
    // The lock of a process that no longer runs stays.
    if (text !== undefined && textOf(path) === text) return last + 1;
  }
}

/** Returns a key that survives a rename of the directory and differs for each copy. */
function keyOfDirectory(path: string): string {
  return inodeKey(statSync(path, { bigint: true }));
}

export function isProcessLock(name: string): boolean {
  return name.startsWith(LOCK_PREFIX);
}

function nameOf(id: string, number: number): string {
  return `${LOCK_PREFIX}${id}.${number}`;
}

function numbersIn(directory: string, id: string): number[] {
  const start = nameOf(id, 0).slice(0, -1);
  return readdirSync(directory)
    .filter((name) => name.startsWith(start) && /^\d{1,9}$/.test(name.slice(start.length)))
    .map((name) => Number(name.slice(start.length)));
}

/** Returns the text of a lock; undefined if the file is gone, the text `null` if it is longer than any lock. */
function textOf(path: string): string | undefined {
  try {
    return lstatSync(path).size > MAX_LOCK_BYTES ? 'null' : readFileSync(path, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Parses a lock; undefined if no call can have written this text. */
function processLockIn(text = ''): ProcessLock | undefined {
  try {
    const { pid, started, place, directory } = Object(JSON.parse(text)) as Partial<Record<keyof ProcessLock, unknown>>;
    if (Number.isInteger(pid) && (pid as number) > 0 && typeof started === 'string' && typeof place === 'string')
      return { pid: pid as number, started, place, ...(typeof directory === 'string' && { directory }) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return undefined;
}
