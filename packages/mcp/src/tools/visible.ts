import type { Operation } from '@scratchfs/workspace';
import type { OpenAttempt } from '../server/shared-workspace.js';
import { counted } from './format.js';

interface Changed {
  readonly path: string;
  readonly from?: string | undefined;
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

/** A line for the number of hidden paths. */
export function hiddenLines(count: number): string[] {
  return count === 0 ? [] : [`[${counted(count, 'changed path')} hidden.]`];
}

/** Quoted texts, and words. */
const WORDS = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s'",;()]+/g;
/** Maximum number of words of a text that are looked at. */
const MAX_WORDS = 200;
const HIDDEN = '[hidden]';

/** Replaces the words of a text that are hidden paths, or lie under one. What follows too many words is cut. */
export async function withoutHidden(text: string, open: Visibility, signal: AbortSignal | undefined): Promise<string> {
  const words = [...text.matchAll(WORDS)];
  let result = '';
  let end = 0;
  for (const { 0: word, index } of words.slice(0, MAX_WORDS)) {
    const name = /^['"]/.test(word) ? word.slice(1, -1) : word.replace(/[.:]+$/, '');
    const isShown = name === '' || (await isVisible(name.startsWith('/') ? name : `/${name}`, open, signal));
    result += text.slice(end, index) + (isShown ? word : HIDDEN);
    end = index + word.length;
  }
  return words.length > MAX_WORDS ? `${result}…` : result + text.slice(end);
}

/**
 * Returns an operation without what is hidden. Its summary may name a path, so it is left out if a change is hidden, and
 * without its hidden words otherwise: it may be the command of a person.
 */
export async function visibleOperation(
  operation: Operation,
  open: OpenAttempt,
  signal: AbortSignal,
): Promise<Operation> {
  const { shown, hidden } = await visibleOnly(operation.changes, open, signal);
  if (hidden === 0) return { ...operation, summary: await withoutHidden(operation.summary, open, signal) };
  return { ...operation, changes: shown, summary: `${counted(hidden, 'changed path')} hidden` };
}
