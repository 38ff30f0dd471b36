import { type BigIntStats, lstatSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { checkName, normalizePath, pathSegments } from '@scratchfs/core';
import { TEMPORARY } from '../confined-root.js';
import { PathHandle } from '../path-handle.js';

/** Name of the journal directory at the top of the root. Only one can exist. */
export const JOURNAL = `${TEMPORARY}journal`;

/** Directories in a journal directory: prepared entries, old entries, and new entries that were undone. */
const PARTS = ['new', 'old', 'undone'] as const;

/** File whose presence in a journal directory says that all its changes were made. */
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

/** Reports whether a directory has a journal of changes that are not finished. Costs one `lstat`. */
export function hasJournal(directory: string): boolean {
  return lstatSync(join(directory, JOURNAL), { throwIfNoEntry: false }) !== undefined;
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

/** A journal directory, held open with its parts. */
export class JournalDirectory implements Disposable {
  private constructor(
    readonly top: PathHandle,
    readonly parts: Readonly<Record<(typeof PARTS)[number], PathHandle>>,
  ) {}

  /** Creates a journal directory with its parts. */
  static async create(place: string): Promise<void> {
    await mkdir(place, { mode: 0o700 });
    for (const name of PARTS) await mkdir(join(place, name), { mode: 0o700 });
  }

  /**
   * Opens the parts of a journal directory. Closing the result closes `top` too. Undefined if `top` or a part is not a
   * directory.
   */
  static open(top: PathHandle): JournalDirectory | undefined {
    if (top.kind !== 'directory') return undefined;
    const opened: PathHandle[] = [];
    try {
      for (const name of PARTS) {
        const part = top.enter(name);
        if (part !== undefined) opened.push(part);
        if (part?.kind !== 'directory') break;
      }
      const [prepared, old, undone] = opened;
      if (undone?.kind === 'directory') return new JournalDirectory(top, { new: prepared, old, undone } as never);
    } catch (error) {
      for (const part of opened) part.close();
      throw error;
    }
    for (const part of opened) part.close();
    return undefined;
  }

  [Symbol.dispose](): void {
    for (const part of Object.values(this.parts)) part.close();
    this.top.close();
  }
}

/**
 * Opens the journal directory of a root. Undefined if there is none.
 * @throws Error if no `applyChanges` can have made it: an untrusted person may have prepared the directory. What the
 *   host throws
 */
export function openJournal(
  place: string,
): { readonly directory: JournalDirectory; readonly journal: Journal } | undefined {
  const top = PathHandle.find(place);
  if (top === undefined) return undefined;
  let directory: JournalDirectory | undefined;
  try {
    directory = JournalDirectory.open(top);
    const journal = directory && readJournal(top);
    if (directory !== undefined && journal !== undefined) return { directory, journal };
    throw new Error(`No call of applyChanges has left what lies in ${JOURNAL} at the top of the directory: remove it`);
  } catch (error) {
    // The process of this journal may have just removed it, and another process may have put its own journal there.
    const isSame = lstatSync(place, { bigint: true, throwIfNoEntry: false })?.ino === top.stat.ino;
    directory?.[Symbol.dispose]();
    top.close();
    if (!isSame) return openJournal(place);
    throw error;
  }
}

function readJournal(top: PathHandle): Journal | undefined {
  using file = top.enter(STEPS);
  const isFile = file?.kind === 'file' && file.stat.size <= BigInt(MAX_STEPS_BYTES);
  return isFile ? parsed(readFileSync(file.path, 'utf8')) : undefined;
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
