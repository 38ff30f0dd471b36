import { randomBytes } from 'node:crypto';
import { linkSync, lstatSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isCode } from '../host-error.js';
import { isAlive, startOf } from '../process-start.js';
import { writeDurably } from './durable.js';
import { isBeforeBoot, isFresh, keyOf, mtimeOf, placeNow } from './place.js';

/** A process that another one can tell from a later one of the same number. */
interface Owner {
  readonly pid: number;
  readonly started: string;
  readonly place: string;
}

/** What a claim says. */
interface Claim extends Owner {
  /** The directory that it was made for: one of a copy is none of it. Older ones do not say so. */
  readonly directory?: string;
}

const CLAIM = 'claim-';

/** In bytes. Longer is no claim of ours. */
const LONGEST = 256;

/**
 * Claims what lies in a directory for a call. Claims are files with the numbers 0, 1, 2 …: the last one counts as long as its
 * process runs, and of those who come after one of a process that is gone only one can make the next. They are named by the plan
 * too, since another one may lie there by the time.
 * @returns the name of the claim's file, which is removed when the call ends; undefined where another call has it, of this process or
 * of another one, and where the directory is gone
 */
export async function claim(directory: string, id: string): Promise<string | undefined> {
  try {
    const number = numberFor(directory, id);
    if (number === undefined) return undefined;
    const name = nameOf(id, number);
    // Whole from the first moment.
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

/** Whether whose claim it is may be at work; of another place that is so for some minutes. */
function counts({ pid, started, place, directory }: Claim, path: string): boolean {
  const here = placeNow();
  // There devices and processes have other numbers.
  if (place !== keyOf(here)) return isFresh(path);
  if (directory !== undefined && directory !== keyOfDirectory(dirname(path))) return false;
  // The place tells one boot from another, where the system does.
  return isAlive(pid, started) && (here.boot !== '' || !isBeforeBoot(mtimeOf(path)));
}

/** The number of the next claim; undefined where the last one counts. */
function numberFor(directory: string, id: string): number | undefined {
  for (;;) {
    const last = Math.max(-1, ...numbersIn(directory, id));
    if (last < 0) return 0;
    const path = join(directory, nameOf(id, last));
    const text = textOf(path);
    const found = claimIn(text);
    if (found !== undefined && counts(found, path)) return undefined;
    // One that was given up meanwhile is no end of the row: another call may have made it again. That of a process that is gone stays.
    if (text !== undefined && textOf(path) === text) return last + 1;
  }
}

/** The same after it was renamed, and another one for each copy. */
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

/** Undefined where it is gone; no more of it than a call can have written. */
function textOf(path: string): string | undefined {
  try {
    return lstatSync(path).size > LONGEST ? '' : readFileSync(path, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Nobody where no call can have written it. */
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
