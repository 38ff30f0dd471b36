import { isWithin } from '@scratchfs/core';
import type { PathDiff } from '@scratchfs/workspace';
import { CliError, ExitCode } from '../errors.js';
import type { Call } from '../table/command-spec.js';
import { askKey } from '../terminal/ask.js';
import { escapeContent } from '../terminal/escape.js';
import { hunkLines, patchLines, statLines } from './diff-text.js';

/** Ids of the hunks that a person has chosen, and chosen paths that have no hunks, such as binary files. */
export interface Picked {
  readonly hunks: readonly string[];
  readonly paths: readonly string[];
}

const KEYS = {
  y: 'accept this one',
  n: 'leave this one',
  a: 'accept this one and the rest of the file',
  d: 'leave this one and the rest of the file',
  q: 'leave this one and everything after it, and accept what was chosen',
} as const;

/** Shows each hunk and asks about it, as `git add -p` does. @throws CliError if nothing was chosen, or after Ctrl-C */
export async function pickHunks(paths: readonly PathDiff[], call: Pick<Call, 'output' | 'signal'>): Promise<Picked> {
  const { output } = call;
  const hunks: string[] = [];
  const whole: string[] = [];
  let isDone = false;
  for (const path of paths) {
    if (isDone) break;
    // If the removal of a directory was chosen, everything in it is chosen too.
    if (path.type === 'removed' && whole.some((one) => path.path.startsWith(`${one}/`))) continue;
    if (path.hunks.length === 0) {
      const shown = paths.filter((one) => one === path || (path.files !== undefined && isWithin(one.path, path.path)));
      for (const line of statLines(shown, output)) output.line(line);
      const key = await askKey('Accept it?', { y: KEYS.y, n: KEYS.n, q: KEYS.q }, call);
      if (key === 'y') whole.push(path.path);
      isDone = key === 'q';
      continue;
    }
    for (const line of patchLines({ ...path, hunks: [] }, output)) output.line(line);
    let rest: boolean | undefined;
    for (const [index, hunk] of path.hunks.entries()) {
      if (rest === undefined) {
        output.line('');
        for (const line of hunkLines(hunk, output.style, escapeContent)) output.line(line);
        const key = await askKey(`Accept this hunk (${index + 1} of ${path.hunks.length})?`, KEYS, call);
        if (key === 'a') rest = true;
        if (key === 'd' || key === 'q') rest = false;
        isDone = key === 'q';
        if (key === 'y') hunks.push(hunk.id);
      }
      if (rest === true) hunks.push(hunk.id);
    }
  }
  if (hunks.length + whole.length === 0)
    throw new CliError(ExitCode.refused, 'Nothing was chosen, and nothing accepted.');
  return { hunks, paths: whole };
}
