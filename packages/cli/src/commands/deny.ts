import type { Call, Result } from '../table/command-spec.js';
import { settle } from '../workspace/settle.js';

export function run(call: Call): Promise<Result> {
  return settle(call, 'Denied', (workspace, id) => workspace.approvals.deny(id, { signal: call.signal }));
}
