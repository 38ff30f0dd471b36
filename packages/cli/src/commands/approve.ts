import { approveInTerminal, pendingApproval } from '@scratchfs/mcp';
import type { Approval } from '@scratchfs/workspace';
import { CliError, ExitCode } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { withWorkspace } from '../workspace/open.js';
import { approvalNumbers, settled } from '../workspace/settle.js';

/** Shows each request, and approves it if the user types a yes in the terminal. */
export function run(call: Call): Promise<Result> {
  const ids = approvalNumbers(call);
  return withWorkspace(call, async (workspace) => {
    // All requests must be pending before the first is settled.
    const pending = [];
    for (const id of ids) pending.push(await pendingApproval(workspace, id));
    const approved: Approval[] = [];
    for (const one of pending) {
      const approval = await approveInTerminal(workspace, one);
      if (approval !== undefined) approved.push(approval);
    }
    if (approved.length === 0)
      throw new CliError(ExitCode.refused, 'Nothing was approved: only yes, typed in full, approves.');
    const code = approved.length < ids.length ? ExitCode.refused : ExitCode.ok;
    return { ...settled(call, 'Approved', approved), code };
  });
}
