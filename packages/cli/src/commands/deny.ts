import { type Approval, WorkspaceError } from '@scratchfs/workspace';
import type { Call, Result } from '../table/command-spec.js';
import { withWorkspace } from '../workspace/open.js';
import { approvalNumbers, settled } from '../workspace/settle.js';

export function run(call: Call): Promise<Result> {
  const { signal } = call;
  const ids = approvalNumbers(call);
  return withWorkspace(call, async ({ approvals }) => {
    // All requests must be pending before the first is settled.
    for (const id of ids) {
      const { state } = await approvals.get(id, { signal });
      if (state !== 'pending') throw new WorkspaceError('settled', `Approval ${id} is ${state}`);
    }
    const denied: Approval[] = [];
    for (const id of ids) denied.push(await approvals.deny(id, { signal }));
    return settled(call, 'Denied', denied);
  });
}
