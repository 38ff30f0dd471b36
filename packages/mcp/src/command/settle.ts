import { type Approval, openWorkspace, type Workspace, type WorkspaceOptions } from '@scratchfs/workspace';
import { diffText, nameOf, printable } from '../tools/format.js';
import type { ExitCode } from './exit-code.js';
import { isConfirmed } from './terminal.js';

export interface SettleOptions {
  readonly command: 'approve' | 'deny';
  readonly id: number;
  readonly directory: string;
  readonly workspace: WorkspaceOptions;
}

/**
 * Settles an approval. `approve` shows what is to be done and reads the yes from the terminal itself, not from stdin,
 * which an agent could feed. @throws WorkspaceError `not-found`, `settled`
 */
export async function settle({ command, id, directory, workspace: options }: SettleOptions): Promise<ExitCode> {
  const workspace = await openWorkspace(directory, options);
  try {
    const approval = await workspace.approvals.get(id);
    if (command === 'deny') {
      await workspace.approvals.deny(id);
      process.stdout.write(`Denied ${id}.\n`);
      return 0;
    }
    if (approval.state !== 'pending') throw new Error(`Approval ${id} is ${approval.state}`);
    process.stdout.write(`${await shown(workspace, approval)}\n\n`);
    if (!(await isConfirmed(`Approve ${id}? Type yes: `))) {
      process.stdout.write('Nothing was approved.\n');
      return 4;
    }
    await workspace.approvals.approve(id);
    process.stdout.write(`Approved ${id}. Tell the agent to go on.\n`);
    return 0;
  } finally {
    await workspace.close();
  }
}

async function shown(workspace: Workspace, approval: Approval): Promise<string> {
  const { action, summary, attempt: name, head, details } = approval;
  const lines = [printable(summary), `Attempt ${nameOf(name)}, operation ${head}, ${nameOf(action)}`];
  if (details !== undefined) lines.push(printable(JSON.stringify(details, undefined, 2)));
  const attempt = await workspace.attempt(name);
  const now = await attempt.head();
  if (now !== head) throw new Error(`The attempt has changed since (operation ${now}): let the agent ask again`);
  if (action === 'accept') {
    const { paths } = (details ?? {}) as { readonly paths?: readonly string[] };
    lines.push('', printable(diffText((await attempt.diff({ paths, hunks: true })).paths)));
  }
  return lines.join('\n');
}
