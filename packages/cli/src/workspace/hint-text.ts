import { realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { shellCommand } from '@scratchfs/core/internal';
import type { Conflict } from '@scratchfs/workspace';
import type { Call } from '../table/command-spec.js';
import { escapeText } from '../terminal/escape.js';
import { workspaceDirectory } from './open.js';

/** Maximum number of conflicts whose paths a hint names. */
const MAX_PATHS = 3;

/**
 * Returns a command line that can be typed where the call was: with its `-C` and `--store`, and with the attempt.
 * @param attempt default: the one that `--attempt` names; null if the words name it
 */
export function commandLine(
  { options }: Pick<Call, 'options'>,
  words: readonly string[],
  attempt: string | null | undefined = options.text('attempt'),
): string {
  const given = [
    ['-C', options.text('directory')],
    ['--store', options.text('store')],
    ['-a', attempt ?? undefined],
  ].flatMap(([name = '', value]) => (value === undefined ? [] : [name, value]));
  return escapeText(shellCommand(['scratchfs', ...words, ...given]));
}

/** Returns the command line that takes back an accept, which is the last operation of its attempt. */
export function undoAccept(call: Call, attempt: string | undefined): string {
  return commandLine(call, ['undo', ...(call.output.isInteractive ? [] : ['--yes'])], attempt);
}

/**
 * Returns the command line that takes the disk's version of the paths in conflict. If there are many, `PATH` stands for
 * them.
 */
export function takeYours(call: Call, conflicts: readonly Conflict[], attempt?: string): string {
  // A path under another one comes with it.
  const paths = conflicts.map(({ path }) => path);
  const tops = paths.filter((path) => !paths.some((above) => path.startsWith(`${above}/`)));
  const words = tops.length > MAX_PATHS ? ['PATH'] : tops.map((path) => typedPath(call, path));
  return commandLine(call, ['restore', 'disk', ...words], attempt);
}

/** Returns a path of the attempt as an argument names it where the call was. */
function typedPath({ directory }: Call, path: string): string {
  const typed = relative(realpathSync(directory), join(workspaceDirectory(directory), path));
  return typed.startsWith('-') ? `./${typed}` : typed;
}
