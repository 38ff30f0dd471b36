import { randomBytes } from 'node:crypto';
import { linkSync, lstatSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isCode } from '../host-error.js';
import { isAlive, startOf } from '../process-start.js';
import { writeDurably } from './durable.js';
import { isBeforeBoot, isFresh, keyOf, mtimeOf, placeNow } from './place.js';

/** Identity of a process that distinguishes it from a later process with the same number. */
interface Owner {
  readonly pid: number;
  readonly started: string;
  readonly place: string;
}

/** Content of a claim file. */
interface Claim extends Owner {
  /**
   * Key of the directory that the claim was made for; in a copy of that directory the claim is void. Missing in claims
   * of older versions.
   */
  readonly directory?: string;
}

const CLAIM = 'claim-';

/** Maximum bytes of a claim file; a longer file is not a claim. */
const LONGEST = 256;

/**
 * Claims a directory for a call. Claims are files numbered 0, 1, 2 …: the last one is valid as long as its process
 * runs, and of the processes that follow a claim of a dead process only one can create the next number. The plan's id
 * is part of the name, because another plan may lie there by then.
 * @returns the name of the claim file, which is removed when the call ends; undefined if another call, of this or
 *   another process, has the claim, or if the directory is gone
 */
export async function claim(directory: string, id: string): Promise<string | undefined> {
  try {
    const number = numberFor(directory, id);
    if (number === undefined) return undefined;
    const name = nameOf(id, number);
    // Written under another name and then linked, so the claim is complete from the first moment.
    const written = join(directory, `${name}.${randomBytes(6).toString('hex')}`);
    await writeDurably(written, JSON.stringify({ ...ownerNow(), directory: keyOfDirectory(directory) }));
    try {
      linkSync(written, join(directory, name));
    } finally {
      rmSync(written, { force: true });
    }
    return name;
  } catch (error) {
    if (isCode(error, 'EEXIST', 'ENOENT')) return undefined;
    throw error;
  }
}

export function ownerNow(): Owner {
  return { pid: process.pid, started: startOf(process.pid) as string, place: keyOf(placeNow()) };
}

/** Reports whether the owner of a claim may be at work. A claim of another host counts for some minutes. */
function counts({ pid, started, place, directory }: Claim, path: string): boolean {
  const here = placeNow();
  // Another host has other device and process numbers.
  if (place !== keyOf(here)) return isFresh(path);
  if (directory !== undefined && directory !== keyOfDirectory(dirname(path))) return false;
  // The host identity distinguishes boots, if the system tells them.
  return isAlive(pid, started) && (here.boot !== '' || !isBeforeBoot(mtimeOf(path)));
}

/** Returns the number of the next claim; undefined if the last one is valid. */
function numberFor(directory: string, id: string): number | undefined {
  for (;;) {
    const last = Math.max(-1, ...numbersIn(directory, id));
    if (last < 0) return 0;
    const path = join(directory, nameOf(id, last));
    const text = textOf(path);
    const found = claimIn(text);
    if (found !== undefined && counts(found, path)) return undefined;
    // A claim that was released concurrently does not end the sequence: another call may have created it again. The
    // claim of a dead process stays.
    if (text !== undefined && textOf(path) === text) return last + 1;
  }
}

/** Returns a key that survives a rename of the directory and differs for each copy. */
function keyOfDirectory(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}

export function isClaim(name: string): boolean {
  return name.startsWith(CLAIM);
}

function nameOf(id: string, number: number): string {
  return `${CLAIM}${id}.${number}`;
}

function numbersIn(directory: string, id: string): number[] {
  const start = nameOf(id, 0).slice(0, -1);
  return readdirSync(directory)
    .filter((name) => name.startsWith(start) && /^\d{1,9}$/.test(name.slice(start.length)))
    .map((name) => Number(name.slice(start.length)));
}

/** Returns the text of a claim; undefined if the file is gone, empty if it is longer than any claim. */
function textOf(path: string): string | undefined {
  try {
    return lstatSync(path).size > LONGEST ? '' : readFileSync(path, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Parses a claim; undefined if no call can have written this text. */
function claimIn(text = ''): Claim | undefined {
  try {
    const { pid, started, place, directory } = Object(JSON.parse(text)) as Partial<Record<keyof Claim, unknown>>;
    if (Number.isInteger(pid) && (pid as number) > 0 && typeof started === 'string' && typeof place === 'string')
      return { pid: pid as number, started, place, ...(typeof directory === 'string' && { directory }) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return undefined;
}
