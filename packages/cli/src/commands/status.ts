import { type Conflict, WorkspaceError } from '@scratchfs/workspace';
import type { Call, Result } from '../table/command-spec.js';
import { escapeText } from '../terminal/escape.js';
import { ageText, count } from '../terminal/quantities.js';
import { attemptInfo, otherAttempts, parentText } from '../workspace/attempt-info.js';
import { conflictJson, conflictLines, pathJson, statLines, sumText } from '../workspace/diff-text.js';
import { withWorkspace } from '../workspace/open.js';
import { attemptJson } from '../workspace/operation-text.js';

export function run(call: Call): Promise<Result> {
  const { output, signal } = call;
  const { style } = output;
  return withWorkspace(call, async (workspace) => {
    const warnings: string[] = [];
    const orWarn = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof WorkspaceError)) throw error;
        warnings.push(error.message);
        return otherwise;
      }
    };
    const waiting = (await orWarn(() => workspace.approvals.list({ state: 'pending', signal }), [])).length;
    const info = await attemptInfo(call, workspace);
    if (info === undefined) {
      const lines = ['No attempt yet: the first change of an agent or of `scratchfs fs` makes one.'];
      return {
        lines: [style.dim(escapeText(workspace.directory)), ...lines, ...(await otherAttempts(call, workspace))],
        json: { directory: workspace.directory, attempt: null, paths: [], conflicts: [], approvals: waiting, warnings },
      };
    }
    const attempt = await workspace.attempt(info.name, { signal });
    const { paths } = await attempt.diff({ signal });
    const conflicts =
      paths.length === 0 ? [] : await orWarn<readonly Conflict[]>(() => attempt.conflicts({ signal }), []);
    const now = Date.now();
    const parent = parentText(info);
    const from = parent === undefined ? '' : `, forked ${parent}`;
    const lines = [
      style.dim(escapeText(workspace.directory)),
      `Attempt ${style.name(info.name)}: ${count(info.head, 'operation')}, last ${ageText(info.changedAt, now)}${from}`,
      '',
      ...(paths.length === 0
        ? ['No path differs from the disk.']
        : [...statLines(paths, output), '', style.dim(sumText(paths))]),
      ...(conflicts.length === 0 ? [] : ['', ...conflictLines(conflicts, output)]),
      ...(warnings.length === 0 ? [] : ['', ...warnings.map((text) => style.warning(`warning: ${escapeText(text)}`))]),
      ...(waiting === 0
        ? []
        : ['', `${count(waiting, 'request waits', 'requests wait')} for you: scratchfs approvals`]),
      ...(paths.length === 0 || output.isQuiet
        ? []
        : ['', style.dim('diff shows the lines, accept writes them, undo takes back the last step.')]),
    ];
    return {
      lines,
      json: {
        directory: workspace.directory,
        attempt: attemptJson(info),
        paths: paths.map(pathJson),
        conflicts: conflicts.map(conflictJson),
        approvals: waiting,
        warnings,
      },
    };
  });
}
