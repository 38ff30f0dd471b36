import { openWorkspace, type WorkspaceOptions } from '@scratchfs/workspace';
import { approveInTerminal, pendingApproval } from './approve.js';
import type { ExitCode } from './exit-code.js';

export interface SettleOptions {
  readonly command: 'approve' | 'deny';
  readonly id: number;
  readonly directory: string;
  readonly workspace: WorkspaceOptions;
}

/**
 * Settles an approval. `approve` shows the action and reads the yes from the terminal itself, not from stdin, which an
 * agent could write to. @throws WorkspaceError `not-found`, `settled`; for `approve` also `moved`, `closed`, `refused`;
 * and what opening the workspace throws
 */
export async function settle({ command, id, directory, workspace: options }: SettleOptions): Promise<ExitCode> {
  const workspace = await openWorkspace(directory, options);
  try {
    if (command === 'deny') {
      await workspace.approvals.deny(id);
      process.stdout.write(`Denied ${id}.\n`);
      return 0;
    }
    const pending = await pendingApproval(workspace, id);
    if ((await approveInTerminal(workspace, pending)) === undefined) {
      process.stdout.write('Nothing was approved: only yes, typed in full, approves.\n');
      return 4;
    }
    process.stdout.write(`Approved ${id}. Tell the agent to go on.\n`);
    return 0;
  } finally {
    await workspace.close();
  }
}
