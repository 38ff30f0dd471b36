import type { Call, Result } from '../table/command-spec.js';
import { settle } from '../workspace/settle.js';

export function run(call: Call): Promise<Result> {
  return settle(call, 'Approved', (workspace, id) => workspace.approvals.approve(id, { signal: call.signal }));
}
