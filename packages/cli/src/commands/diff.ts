import type { Attempt, AttemptDiffOptions, Workspace } from '@scratchfs/workspace';
import type { Call, Result } from '../table/command-spec.js';
import { patchLines, pathJson, statLines, sumText } from '../workspace/diff-text.js';
import { isAttemptWord, knownPaths, withAttempt } from '../workspace/open.js';

export function run(call: Call): Promise<Result> {
  const { options, output, signal } = call;
  return withAttempt(call, async (current, workspace) => {
    const { attempt, from, to, index } = await sides(call, current, workspace);
    const states = [from, to].flatMap((side) => {
      if (side === undefined || side === 'disk') return [];
      return typeof side === 'object' && 'fileSystem' in side ? [side.fileSystem] : [attempt.at(side)];
    });
    const paths = await knownPaths(call, index, attempt, workspace, states);
    const isList = options.flag('stat') || options.flag('name-only');
    const diff = await output.progress('Comparing', () =>
      attempt.diff({ from, to, hunks: !isList, signal, ...(paths.length === 0 ? {} : { paths }) }),
    );
    const json = { attempt: attempt.name, head: diff.head, paths: diff.paths.map(pathJson) };
    if (options.flag('name-only')) return { json, lines: diff.paths.map(({ path }) => output.listed(path.slice(1))) };
    if (options.flag('stat')) {
      const lines = [
        ...statLines(diff.paths, output),
        ...(diff.paths.length === 0 ? [] : ['', output.style.dim(sumText(diff.paths))]),
      ];
      return { json, lines };
    }
    return { json, lines: diff.paths.flatMap((path) => patchLines(path, output)) };
  });
}

type Sides = Pick<AttemptDiffOptions, 'from' | 'to'> & {
  readonly attempt: Attempt;
  /** Index of the first argument that is a path. */
  readonly index: number;
};

/**
 * Finds out what the first two arguments name: one or two operations by number, or one or two attempts by name. All
 * others, and those after `--`, are paths.
 */
async function sides(call: Call, current: Attempt, workspace: Workspace): Promise<Sides> {
  const { args, plain } = call;
  const [a, b] = args.slice(0, plain);
  const isNumber = (text: string | undefined): text is string => text !== undefined && /^\d{1,15}$/.test(text);
  if (isNumber(a) && isNumber(b)) return { attempt: current, from: Number(a), to: Number(b), index: 2 };
  if (isNumber(a)) return { attempt: current, from: Number(a), to: undefined, index: 1 };
  if (a === undefined || !(await isAttemptWord(call, 0, current, workspace)))
    return { attempt: current, from: 'disk', to: undefined, index: 0 };
  const first = await workspace.attempt(a);
  if (b === undefined || !(await isAttemptWord(call, 1, current, workspace)))
    return { attempt: first, from: 'disk', to: undefined, index: 1 };
  return { attempt: first, from: await first.head(), to: await workspace.attempt(b), index: 2 };
}
