import type { Operation } from '@scratchfs/workspace';
import type { OpenAttempt } from '../server/shared-workspace.js';
import { counted } from './format.js';

interface Changed {
  readonly path: string;
  readonly from?: string | undefined;
}

/** An attempt, and the name of the client that asks. */
export interface Caller extends OpenAttempt {
  readonly actor: string;
}

type Visibility = Pick<OpenAttempt, 'attempt' | 'sandbox'>;

/** Reports whether the file tools show a path, or would if it existed. */
export async function isVisible(
  path: string,
  { attempt, sandbox }: Visibility,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  return !attempt.hides(path) && (await sandbox.canRead(path, { signal }));
}

/** Keeps the changes whose paths the file tools show, and counts the others. */
export async function visibleOnly<T extends Changed>(
  changes: readonly T[],
  open: Visibility,
  signal?: AbortSignal,
): Promise<{ readonly shown: T[]; readonly hidden: number }> {
  const shown: T[] = [];
  for (const change of changes) {
    const paths = change.from === undefined ? [change.path] : [change.path, change.from];
    let isShown = true;
    for (const path of paths) isShown &&= await isVisible(path, open, signal);
    if (isShown) shown.push(change);
  }
  return { shown, hidden: changes.length - shown.length };
}

/** Returns a line for the number of hidden paths; no line if there are none. */
export function hiddenLines(count: number): string[] {
  return count === 0 ? [] : [`[${counted(count, 'changed path')} hidden.]`];
}

/**
 * Patterns for pieces of a text that may be a path, with a function that returns the names to try in each: quoted texts
 * and parts of a list, because a name may have blanks, and the words between blanks. Shell syntax is not parsed.
 */
const PIECES: readonly (readonly [RegExp, (piece: string) => readonly string[]])[] = [
  [/'[^'\n]*'|"[^"\n]*"|`[^`\n]*`/g, (quoted) => [quoted.slice(1, -1).trim()]],
  [/(?:[^:,;'"`\s]|(?<!\.)[ \t](?=[^:,;'"`\s]))+/g, (part) => [part, part.replace(/\.$/, '')]],
  [
    /\S+/g,
    (chunk) => (chunk.match(/[\p{L}\p{M}\p{N}._~@%+\-/]+/gu) ?? []).flatMap((name) => [name, name.replace(/\.+$/, '')]),
  ],
];
/** Maximum number of names in a text that are looked up. */
const MAX_NAMES = 400;
const HIDDEN = '[hidden]';

/**
 * Replaces the parts of a text that name hidden paths, or paths under one; the whole text if it has too many names. Not
 * for command lines: a name in them may be relative to any directory.
 */
export async function withoutHidden(text: string, open: Visibility, signal: AbortSignal | undefined): Promise<string> {
  // Dots alone name a directory, not something in it.
  const known = new Map(['', '.', '..'].map((name) => [name, true]));
  let result = text;
  for (const [pattern, namesIn] of PIECES) {
    for (const name of new Set((result.match(pattern) ?? []).flatMap(namesIn))) {
      if (known.has(name)) continue;
      if (known.size > MAX_NAMES) return HIDDEN;
      known.set(name, await isVisible(name.startsWith('/') ? name : `/${name}`, open, signal));
    }
    result = result.replace(pattern, (piece) => (namesIn(piece).every((name) => known.get(name)) ? piece : HIDDEN));
  }
  return result;
}

/**
 * Returns an operation without hidden paths. The summary may name one: it is replaced whole if a change is hidden, and
 * for a command of another actor, an undo or a redo; otherwise only the hidden names in it are.
 */
export async function visibleOperation(operation: Operation, open: Caller, signal: AbortSignal): Promise<Operation> {
  const { shown, hidden } = await visibleOnly(operation.changes, open, signal);
  if (hidden > 0) return { ...operation, changes: shown, summary: `${counted(hidden, 'changed path')} hidden` };
  return { ...operation, summary: await withoutHidden(summaryFor(open.actor, operation), open, signal) };
}

function summaryFor(client: string, { actor, tool, summary, target }: Operation): string {
  if (tool === 'run' && actor !== client) return `a command of ${actor}`;
  // The summary repeats that of the target, which another actor may have made.
  if (target !== undefined) return `${tool === 'undo' ? 'Undo' : 'Redo'} operation ${target}`;
  return summary;
}
