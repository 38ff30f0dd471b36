import type { Call, Result } from '../table/command-spec.js';
import { alignColumns, widthOf, wrapText } from '../terminal/columns.js';
import { escapeText } from '../terminal/escape.js';
import { ageText } from '../terminal/quantities.js';
import { withWorkspace } from '../workspace/open.js';
import { approvalJson, detailsText } from '../workspace/settle.js';

const MIN_TEXT_COLUMNS = 20;

export function run(call: Call): Promise<Result> {
  const { options, output, signal } = call;
  const { style } = output;
  return withWorkspace(call, async (workspace) => {
    const approvals = await workspace.approvals.list({
      signal,
      ...(options.flag('all') ? {} : { state: 'pending' as const }),
    });
    const now = Date.now();
    const cells = approvals.map(({ id, state, attempt, action, createdAt }) => [
      style.name(String(id)),
      state === 'pending' ? style.warning(state) : style.dim(state),
      style.dim(ageText(createdAt, now)),
      style.name(escapeText(attempt)),
      escapeText(action),
    ]);
    const widths = [0, 1, 2, 3, 4].map((index) => Math.max(0, ...cells.map((row) => widthOf(row[index] ?? ''))));
    const left = Math.max(MIN_TEXT_COLUMNS, output.columns - widths.reduce((sum, width) => sum + width + 2, 0));
    const rows = approvals.flatMap((approval, index) => {
      const details = approval.action === 'accept' ? detailsText(approval) : '';
      const text = escapeText(approval.summary) + (details === '' ? '' : ` (${details})`);
      const lines = output.isTerminal ? wrapText(text, left) : [text];
      return lines.map((line, row) => [...(row === 0 ? (cells[index] ?? []) : widths.map(() => '')), line]);
    });
    const lines = rows.length === 0 ? [style.dim('Nothing waits for you.')] : alignColumns(rows, { right: [0] });
    if (approvals.some(({ state }) => state === 'pending') && !output.isQuiet)
      lines.push('', style.dim('scratchfs approve N, or scratchfs deny N'));
    return { lines, json: { approvals: approvals.map(approvalJson) } };
  });
}
