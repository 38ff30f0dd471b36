import { type BigIntStats, lstatSync, readFileSync } from 'node:fs';
import { checkName, normalizePath, pathSegments } from '@scratchfs/core';
import { TEMPORARY } from '../confined-root.js';
import { isCode } from '../host-error.js';
import { PathHandle } from '../path-handle.js';

/** Name of the journal directory at the top of the root. Only one can exist. */
export const JOURNAL = `${TEMPORARY}journal`;

/** File in a journal directory after which its changes count. */
export const DONE = 'done';

/** File in a journal directory that lists the steps. */
const STEPS = 'steps';

/** Maximum bytes of the list of steps. */
export const MAX_STEPS_BYTES = 100_000_000;

/** Identifies an entry and its content, as far as stats can. */
export interface Fingerprint {
  readonly ino: string;
  readonly size: string;
  readonly mtimeNs: string;
  readonly mode: string;
}

/**
 * One change on the disk. `take` moves an entry into the journal directory, to `old/<number>`; `put` gives
 * `new/<number>` a free name; `chmod` sets the mode of a directory. `is` is the new entry of a `put`, and otherwise the
 * entry before the step.
 */
export type Step =
  | { readonly kind: 'take'; readonly path: string; readonly number: number; readonly is: Fingerprint }
  | { readonly kind: 'put'; readonly path: string; readonly number: number; readonly is: Fingerprint }
  | { readonly kind: 'chmod'; readonly path: string; readonly mode: number; readonly is: Fingerprint };

/** Changes of a directory, written to the disk before the first one is made. */
export interface Journal {
  readonly id: string;
  readonly steps: readonly Step[];
}

export function fingerprintOf({ ino, size, mtimeNs, mode }: BigIntStats): Fingerprint {
  return { ino: String(ino), size: String(size), mtimeNs: String(mtimeNs), mode: String(mode) };
}

export function isSameEntry(a: Fingerprint, b: Fingerprint): boolean {
  return a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs && a.mode === b.mode;
}

export function journalFile({ id, steps }: Journal): { readonly name: string; readonly content: string } {
  return { name: STEPS, content: JSON.stringify({ id, steps }) };
}

/**
 * Opens the journal directory of a root. Undefined if there is none.
 * @throws Error if no `applyChanges` can have made it: an untrusted person may have prepared the directory
 */
export function openJournal(place: string): { readonly directory: PathHandle; readonly journal: Journal } | undefined {
  const directory = PathHandle.find(place);
  if (directory === undefined) return undefined;
  try {
    return { directory, journal: readJournal(directory) };
  } catch (error) {
    directory.close();
    if (isCode(error, 'ENOENT') && lstatSync(place, { throwIfNoEntry: false }) === undefined) return undefined;
    throw error;
  }
}

function readJournal(directory: PathHandle): Journal {
  if (directory.kind === 'directory') {
    using file = PathHandle.find(directory.child(STEPS));
    const isFile = file?.kind === 'file' && file.stat.size <= BigInt(MAX_STEPS_BYTES);
    const parts = ['new', 'old'].every((name) => directory.look(name)?.isDirectory() === true);
    const value = isFile && parts ? parsed(readFileSync(file.path, 'utf8')) : undefined;
    if (value !== undefined) return value;
  }
  throw new Error(`No call of applyChanges has left what lies in ${JOURNAL} at the top of the directory: remove it`);
}

function parsed(text: string): Journal | undefined {
  try {
    const { id, steps } = Object(JSON.parse(text)) as Partial<Record<keyof Journal, unknown>>;
    if (typeof id !== 'string' || !/^[\da-f]{24}$/.test(id) || !Array.isArray(steps)) return undefined;
    return steps.every(isStep) ? { id, steps } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isStep(value: unknown): value is Step {
  const { kind, path, number, mode, is } = Object(value) as Record<string, unknown>;
  if (typeof path !== 'string' || !isPlainPath(path)) return false;
  const { ino, size, mtimeNs, mode: ofEntry } = Object(is) as Record<string, unknown>;
  if (![ino, size, mtimeNs, ofEntry].every((text) => typeof text === 'string')) return false;
  if (kind === 'chmod') return Number.isSafeInteger(mode);
  return (kind === 'take' || kind === 'put') && Number.isSafeInteger(number) && (number as number) >= 0;
}

function isPlainPath(path: string): boolean {
  try {
    for (const name of pathSegments(path)) {
      checkName(name);
      if (name.startsWith(TEMPORARY)) return false;
    }
    return path !== '/' && normalizePath(path) === path;
  } catch {
    return false;
  }
}
