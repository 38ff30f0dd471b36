import { type AttemptInfo, mainChanges, type Operation } from '@scratchfs/workspace';
import { cutTo, widthOf } from '../terminal/columns.js';
import { escapeText } from '../terminal/escape.js';
import type { Output } from '../terminal/output.js';
import { count, timeText } from '../terminal/quantities.js';

/** Returns a path of an attempt relative to the top of the workspace, escaped for a terminal. */
export function pathText(path: string): string {
  return path === '/' ? '.' : escapeText(path.slice(1));
}

/** Returns operations as aligned lines: number, time, actor, tool, summary. */
export function operationLines(operations: readonly Operation[], output: Output, now: number): string[] {
  const cells = operations.map(({ id, at, actor, tool }) => [
    String(id),
    timeText(at, now),
    escapeText(actor),
    escapeText(tool),
  ]);
  const widths = [0, 1, 2, 3].map((index) => Math.max(0, ...cells.map((row) => widthOf(row[index] ?? ''))));
  const { style } = output;
  return operations.map((operation, row) => {
    const [id = '', time = '', actor = '', tool = ''] = (cells[row] ?? []).map((cell, index) => {
      const gap = ' '.repeat((widths[index] ?? 0) - widthOf(cell));
      return index === 0 ? gap + cell : cell + gap;
    });
    const mark = operation.ok ? '' : 'failed: ';
    const taken = widths.reduce((sum, width) => sum + width + 2, 0) + mark.length;
    const summary = escapeText(operation.summary);
    const shown = output.isTerminal ? cutTo(summary, Math.max(8, output.columns - taken)) : summary;
    return `${style.name(id)}  ${style.dim(time)}  ${actor}  ${style.dim(tool)}  ${style.error(mark)}${shown}`.trimEnd();
  });
}

/**
 * Returns one operation on a line: `12: Replace 1 occurrence in /src/a.ts (1 path)`.
 * @param place where it has changed the paths, if not only in the attempt
 */
export function operationText(operation: Operation, output: Output, place?: string): string {
  const { style } = output;
  const paths = [count(mainChanges(operation.changes).length, 'path'), ...(place === undefined ? [] : [place])].join(
    ' ',
  );
  return `${style.name(String(operation.id))}: ${escapeText(operation.summary)} ${style.dim(`(${paths})`)}`;
}

/** Returns an operation as `--json` shows it. */
export function operationJson(operation: Operation): Record<string, unknown> {
  const { id, attempt, at, actor, tool, summary, ok, ms, changes, as, target } = operation;
  return {
    id,
    attempt,
    at,
    actor,
    tool,
    summary,
    ok,
    ms,
    changes: changes.map(({ path, from, before, after, files }) => ({
      path,
      ...(from === undefined ? {} : { from }),
      before,
      after,
      ...(files === undefined ? {} : { files }),
    })),
    ...(as === undefined ? {} : { as }),
    ...(target === undefined ? {} : { target }),
  };
}

export function attemptJson(info: AttemptInfo): Record<string, unknown> {
  const { name, state, createdAt, changedAt, head, changedPaths, parent, current } = info;
  return {
    name,
    state,
    createdAt,
    changedAt,
    head,
    changedPaths,
    current,
    ...(parent === undefined ? {} : { parent }),
  };
}
