import type { Approval, Workspace } from '@scratchfs/workspace';
import type { Call, Result } from '../table/command-spec.js';
import { escapeText } from '../terminal/escape.js';
import { parseNumber, withWorkspace } from './open.js';

/** Settles the approvals whose numbers are the arguments. */
export function settle(
  call: Call,
  verb: string,
  one: (workspace: Workspace, id: number) => Promise<Approval>,
): Promise<Result> {
  const { args, output } = call;
  const ids = args.map((text) => parseNumber(text, 'N'));
  return withWorkspace(call, async (workspace) => {
    const settled: Approval[] = [];
    for (const id of ids) settled.push(await one(workspace, id));
    const lines = settled.map(({ id, summary }) => `${verb} ${output.style.name(String(id))}: ${escapeText(summary)}`);
    return { lines: output.isQuiet ? [] : lines, json: { approvals: settled.map(approvalJson) } };
  });
}

/** Returns an approval as `--json` shows it. */
export function approvalJson(approval: Approval): Record<string, unknown> {
  const { id, state, attempt, head, action, summary, details, createdAt, expiresAt } = approval;
  return { id, state, attempt, head, action, summary, details: details ?? null, createdAt, expiresAt };
}
