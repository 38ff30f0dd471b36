import type { Call, Result } from '../table/command-spec.js';
import { alignColumns } from '../terminal/columns.js';
import { escapeText } from '../terminal/escape.js';
import { ageText } from '../terminal/quantities.js';
import { withWorkspace } from '../workspace/open.js';
import { approvalJson, detailsText } from '../workspace/settle.js';

export function run(call: Call): Promise<Result> {
  const { options, output, signal } = call;
  const { style } = output;
  return withWorkspace(call, async (workspace) => {
    const approvals = await workspace.approvals.list({
      signal,
      ...(options.flag('all') ? {} : { state: 'pending' as const }),
    });
    const now = Date.now();
    const rows = approvals.map((approval) => {
      const { id, state, attempt, action, summary, createdAt } = approval;
      return [
        style.name(String(id)),
        state === 'pending' ? style.warning(state) : style.dim(state),
        style.name(escapeText(attempt)),
        escapeText(action),
        escapeText(summary),
        action === 'accept' ? detailsText(approval) : '',
        style.dim(ageText(createdAt, now)),
      ];
    });
    const lines = rows.length === 0 ? [style.dim('Nothing waits for you.')] : alignColumns(rows, { right: [0] });
    if (approvals.some(({ state }) => state === 'pending') && !output.isQuiet)
      lines.push('', style.dim('scratchfs approve N, or scratchfs deny N'));
    return { lines, json: { approvals: approvals.map(approvalJson) } };
  });
}
