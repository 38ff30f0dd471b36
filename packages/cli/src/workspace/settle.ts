import type { Approval } from '@scratchfs/workspace';
import type { Call, Result } from '../table/command-spec.js';
import { escapeText } from '../terminal/escape.js';
import { parseNumber } from './open.js';

/** Returns the numbers of approvals that the arguments name, each once. */
export function approvalNumbers({ args }: Call): number[] {
  return [...new Set(args.map((text) => parseNumber(text, 'N', 1, '`scratchfs approvals` lists the requests.')))];
}

/** Returns the result of approving or denying: a line for each approval. */
export function settled({ output }: Call, verb: string, approvals: readonly Approval[]): Result {
  const lines = approvals.map(({ id, summary }) => `${verb} ${output.style.name(String(id))}: ${escapeText(summary)}`);
  return { lines: output.isQuiet ? [] : lines, json: { approvals: approvals.map(approvalJson) } };
}

/** Returns the details of a request to accept: its form, branch and paths. Empty if a request has none. */
export function detailsText({ details }: Approval): string {
  if (typeof details !== 'object' || details === null) return '';
  const { as, branch, paths } = details as {
    readonly as?: unknown;
    readonly branch?: unknown;
    readonly paths?: unknown;
  };
  const parts = [
    ...(typeof as === 'string' ? [`as ${as}`] : []),
    ...(typeof branch === 'string' ? [`branch ${branch}`] : []),
    Array.isArray(paths) ? paths.map(String).join(' ') : 'all paths',
  ];
  return escapeText(parts.join(', '));
}

/** Returns an approval as `--json` shows it. */
export function approvalJson(approval: Approval): Record<string, unknown> {
  const { id, state, attempt, head, action, summary, details, createdAt, expiresAt } = approval;
  return { id, state, attempt, head, action, summary, details: details ?? null, createdAt, expiresAt };
}
