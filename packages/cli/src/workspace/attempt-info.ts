import type { AttemptInfo, Workspace } from '@scratchfs/workspace';
import type { Call } from '../table/command-spec.js';

/** Returns information about the attempt that `--attempt` names, or the current one; undefined if none exists yet. */
export async function attemptInfo(call: Call, workspace: Workspace): Promise<AttemptInfo | undefined> {
  const name = call.options.text('attempt');
  const { signal } = call;
  const attempt = await workspace.attempt(name, { signal });
  return (await workspace.attempts({ name: attempt.name, signal }))[0];
}

/**
 * Returns the attempt and the operation that an attempt was forked from. Undefined if it is not a fork, or the fork of
 * an attempt without operations, which began from the disk as other attempts do.
 */
export function parentText({ parent }: Pick<AttemptInfo, 'parent'>): string | undefined {
  return parent === undefined || parent.operation === 0 ? undefined : `from ${parent.attempt} at ${parent.operation}`;
}

const MAX_NAMES = 3;

/** Returns a line that names open attempts besides the current one; no line if there are none or with `--quiet`. */
export async function otherAttempts({ output, signal }: Call, workspace: Workspace): Promise<string[]> {
  const open = (await workspace.attempts({ signal })).filter(({ state, current }) => state === 'open' && !current);
  if (open.length === 0 || output.isQuiet) return [];
  const names = open.slice(0, MAX_NAMES).map(({ name }) => name);
  return [
    `Other attempts: ${names.join(', ')}${open.length > MAX_NAMES ? ' …' : ''}; scratchfs switch NAME goes to one.`,
  ];
}
