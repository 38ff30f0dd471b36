import type { AttemptInfo, Workspace } from '@scratchfs/workspace';
import type { Call } from '../table/command-spec.js';

/** Returns facts about the attempt that `--attempt` names, or the current one; undefined if none exists yet. */
export async function attemptInfo(call: Call, workspace: Workspace): Promise<AttemptInfo | undefined> {
  const name = call.options.text('attempt');
  const { signal } = call;
  const attempt = await workspace.attempt(name, { signal });
  return (await workspace.attempts({ name: attempt.name, signal }))[0];
}

/** Returns where an attempt was forked. A fork of what had no changes began from the disk, as every other attempt. */
export function parentText({ parent }: Pick<AttemptInfo, 'parent'>): string | undefined {
  return parent === undefined || parent.operation === 0 ? undefined : `from ${parent.attempt} at ${parent.operation}`;
}

const MAX_NAMES = 3;

/** Returns a line that names the attempts besides the current one, for a person who looks for their changes. */
export async function otherAttempts({ output, signal }: Call, workspace: Workspace): Promise<string[]> {
  const open = (await workspace.attempts({ signal })).filter(({ state, current }) => state === 'open' && !current);
  if (open.length === 0 || output.isQuiet) return [];
  const names = open.slice(0, MAX_NAMES).map(({ name }) => name);
  return [
    `Other attempts: ${names.join(', ')}${open.length > MAX_NAMES ? ' …' : ''}; scratchfs switch NAME goes to one.`,
  ];
}
