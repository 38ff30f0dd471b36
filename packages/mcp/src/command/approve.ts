import { type Approval, type Attempt, type Workspace, WorkspaceError } from '@scratchfs/workspace';
import { diffText, nameOf, printable } from '../tools/format.js';
import { isConfirmed } from './terminal.js';

/** A pending approval, with its attempt. */
export interface PendingApproval {
  readonly approval: Approval;
  readonly attempt: Attempt;
}

/**
 * Returns an approval that is still pending.
 * @throws WorkspaceError `not-found`; `settled`; `moved` if the attempt has changed since; `closed` if it was discarded
 */
export async function pendingApproval(workspace: Workspace, id: number): Promise<PendingApproval> {
  const approval = await workspace.approvals.get(id);
  if (approval.state !== 'pending') throw new WorkspaceError('settled', `Approval ${id} is ${approval.state}`);
  const attempt = await workspace.attempt(approval.attempt);
  checkHead(approval, await attempt.head());
  return { approval, attempt };
}

/**
 * Shows the action, reads the yes from the terminal itself and approves. Returns undefined without a yes.
 * @throws WorkspaceError, such as `refused` without a terminal; `settled`; `moved` if the attempt has changed since
 */
export async function approveInTerminal(
  workspace: Workspace,
  { approval, attempt }: PendingApproval,
): Promise<Approval | undefined> {
  const { id } = approval;
  if (!(await isConfirmed(`Approve ${id}? Type yes: `, await shown(approval, attempt)))) return undefined;
  checkHead(approval, await attempt.head());
  return workspace.approvals.approve(id);
}

async function shown(approval: Approval, attempt: Attempt): Promise<string> {
  const { action, summary, head, details } = approval;
  const lines = [printable(summary), `Attempt ${nameOf(attempt.name)}, operation ${head}, ${nameOf(action)}`];
  if (details !== undefined) lines.push(printable(JSON.stringify(details, undefined, 2)));
  if (action === 'accept') {
    const { paths } = (details ?? {}) as { readonly paths?: readonly string[] };
    const diff = await attempt.diff({ paths, hunks: true });
    checkHead(approval, diff.head);
    lines.push('', printable(diffText(diff.paths)));
  }
  return lines.join('\n');
}

function checkHead({ id, head }: Approval, now: number): void {
  if (now !== head)
    throw new WorkspaceError(
      'moved',
      `The attempt has changed since approval ${id} was asked for (operation ${now}, not ${head}): let the agent ask again`,
    );
}
