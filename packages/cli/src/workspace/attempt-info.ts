import type { AttemptInfo, Workspace } from '@scratchfs/workspace';
import type { Call } from '../table/command-spec.js';

/** Returns facts about the attempt that `--attempt` names, or the current one; undefined if none exists yet. */
export async function attemptInfo(call: Call, workspace: Workspace): Promise<AttemptInfo | undefined> {
  const name = call.options.text('attempt');
  const infos = await workspace.attempts({ signal: call.signal });
  return infos.find((info) => (name === undefined ? info.current : info.name === name));
}
