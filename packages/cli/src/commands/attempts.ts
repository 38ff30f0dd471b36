import type { Call, Result } from '../table/command-spec.js';
import { alignColumns } from '../terminal/columns.js';
import { ageText, count } from '../terminal/quantities.js';
import { parentText } from '../workspace/attempt-info.js';
import { withWorkspace } from '../workspace/open.js';
import { attemptJson } from '../workspace/operation-text.js';

export function run(call: Call): Promise<Result> {
  const { options, output, signal } = call;
  const { style } = output;
  return withWorkspace(call, async (workspace) => {
    const all = await workspace.attempts({ signal });
    const infos = all
      .filter(({ state }) => options.flag('all') || state === 'open')
      .sort((a, b) => b.changedAt - a.changedAt);
    const json = { attempts: infos.map(attemptJson) };
    if (options.flag('names')) return { json, lines: infos.map(({ name }) => name) };
    if (infos.length === 0) return { json, lines: [style.dim('No attempts.')] };
    const now = Date.now();
    const rows = infos.map(({ name, state, current, head, changedPaths, changedAt, parent: from }) => [
      `${current ? '*' : ' '} ${style.name(name)}`,
      count(head, 'operation'),
      count(changedPaths, 'path'),
      style.dim(ageText(changedAt, now)),
      style.dim(
        [
          ...(state === 'discarded' ? ['discarded'] : []),
          ...[parentText({ parent: from })].filter((text) => text !== undefined),
        ].join(', '),
      ),
    ]);
    return { json, lines: alignColumns(rows, { right: [1, 2], fit: output.fit }) };
  });
}
