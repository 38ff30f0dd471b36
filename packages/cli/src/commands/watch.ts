import type { WorkspaceEvent } from '@scratchfs/workspace';
import type { Call, Result } from '../table/command-spec.js';
import { escapeText } from '../terminal/escape.js';
import { timeText } from '../terminal/quantities.js';
import { withWorkspace } from '../workspace/open.js';
import { operationJson } from '../workspace/operation-text.js';
import { approvalJson } from '../workspace/settle.js';

/** Prints events until Ctrl-C. With `--json`, each is one JSON object on a line. */
export function run(call: Call): Promise<Result> {
  const { output, signal } = call;
  return withWorkspace(call, async (workspace) => {
    output.note(output.errorStyle.dim(`Watching ${escapeText(workspace.directory)}; Ctrl-C ends.`));
    try {
      for await (const event of workspace.events({ signal })) {
        if (output.isJson) output.line(JSON.stringify({ version: 1, command: 'watch', event: eventJson(event) }));
        else output.line(eventText(event, call));
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return {};
  });
}

function eventText(event: WorkspaceEvent, { output: { style } }: Call): string {
  if (event.type === 'operation') {
    const { attempt, id, at, actor, tool, summary, ok } = event.operation;
    const failed = ok ? '' : style.error('failed: ');
    return `${style.dim(timeText(at, Date.now()))}  ${style.name(attempt)} ${style.name(String(id))}  ${escapeText(actor)}  ${style.dim(escapeText(tool))}  ${failed}${escapeText(summary)}`;
  }
  const time = style.dim(timeText(Date.now(), Date.now()));
  if (event.type === 'attempt') return `${time}  ${style.name(event.attempt)}  ${event.change}`;
  const { id, state, attempt, summary } = event.approval;
  return `${time}  ${style.name(attempt)}  approval ${id} ${style.warning(state)}: ${escapeText(summary)}`;
}

function eventJson(event: WorkspaceEvent): Record<string, unknown> {
  if (event.type === 'operation') return { type: event.type, operation: operationJson(event.operation) };
  if (event.type === 'approval') return { type: event.type, approval: approvalJson(event.approval) };
  return { ...event };
}
