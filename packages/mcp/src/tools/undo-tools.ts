import { InputError } from '@scratchfs/tools';
import type { Operation, RefreshedOperation } from '@scratchfs/workspace';
import { pathLines, sharedDiff } from './accept-plan.js';
import { changeLines, conflictLines, counted, mergedLines, nameOf, operationText } from './format.js';
import { type Plan, type ServerTool, workspaceTool } from './server-tool.js';
import { type Caller, hiddenLines, isVisible, visibleOnly, visibleOperation } from './visible.js';

async function done(what: string, made: RefreshedOperation, open: Caller, signal: AbortSignal) {
  const operation = await visibleOperation(made, open, signal);
  const { merged, conflicts } = made.refreshed;
  const { shown } = await visibleOnly(conflicts, open, signal);
  const taken = await visibleOnly(
    merged.map((path) => ({ path })),
    open,
    signal,
  );
  const lines = [...mergedLines({ merged: taken.shown.map(({ path }) => path) }), ...conflictLines(shown)];
  return { text: [what, ...changeLines(operation), ...lines].join('\n'), operations: [operation], conflicts };
}

/** Names the operation that an undo or redo was about. `target` is undefined for a call without a plan. */
async function doneTo(verb: string, made: Operation, target: Operation | undefined, open: Caller, signal: AbortSignal) {
  if (target === undefined) return `${verb} operation ${made.target}:`;
  const { id, tool, summary } = await visibleOperation(target, open, signal);
  return `${verb} operation ${id} (${nameOf(tool)}): ${nameOf(summary)}`;
}

/**
 * Plans an undo or redo. For an accept it writes to the disk or to git, for an operation of a live attempt to the disk.
 */
async function planOf(tool: 'undo' | 'redo', open: Caller, signal: AbortSignal): Promise<Plan> {
  const { attempt, asksForDisk } = open;
  const target = await attempt.next(tool, { signal });
  const head = await attempt.head({ signal });
  // A merge cannot be taken back, so a person is not asked: the call fails and says why.
  const isAccept = target?.tool === 'accept' && target.as !== 'merge';
  if (target === undefined || !(isAccept || asksForDisk)) return { head, isOutside: false, shown: '', target };
  const { paths } = await attempt.diff({ operation: target.id, isReversed: tool === 'undo', hunks: true, signal });
  const { shown, hidden } = await visibleOnly(paths, open, signal);
  const text = operationText({ ...(await visibleOperation(target, open, signal)), changes: [] });
  const verb = tool === 'undo' ? 'Take back' : 'Make again';
  const place = target.as === 'branch' ? 'in git' : 'on your disk';
  const lines = [`${verb} ${place}: ${text}`, ...cutLines([...pathLines(shown), ...hiddenLines(hidden)])];
  return { head, isOutside: true, shown: lines.join('\n'), diff: sharedDiff(shown), target };
}

/** Plans a return to the state after an operation. In a live attempt that writes to the disk. */
async function planOfState(to: number, path: string | undefined, open: Caller, signal: AbortSignal): Promise<Plan> {
  const { attempt, asksForDisk } = open;
  const head = await attempt.head({ signal });
  if (!asksForDisk) return { head, isOutside: false, shown: '' };
  const paths = path === undefined ? undefined : [path];
  const { shown, hidden } = await visibleOnly((await attempt.diff({ from: to, paths, signal })).paths, open, signal);
  const lines = cutLines([...pathLines(shown), ...hiddenLines(hidden)]);
  const title = `Take back on your disk what operations after ${to} changed:`;
  return { head, isOutside: true, shown: [title, ...lines].join('\n') };
}

/** Maximum length of the paths that a form shows, in UTF-16 units. */
const MAX_SHOWN_LENGTH = 7_000;

function cutLines(lines: readonly string[]): string[] {
  let room = MAX_SHOWN_LENGTH;
  const end = lines.findIndex((line) => {
    room -= line.length + 1;
    return room < 0;
  });
  return end < 0 ? [...lines] : [...lines.slice(0, end), `and ${counted(lines.length - end, 'more line')}`];
}

export const undo: ServerTool = workspaceTool<{ operation?: number; to?: number; path?: string }>({
  name: 'undo',
  description:
    'Takes back the last operation; again, the one before it. If that is an accept, the user is asked. With to, brings back the state after that operation, of everything or of one path.',
  properties: {
    operation: {
      type: 'integer',
      description: 'The operation meant: fails if another one has come since.',
      minimum: 1,
    },
    to: { type: 'integer', description: 'Number of an operation; 0 for the start.', minimum: 0 },
    path: { type: 'string', description: 'Only with to.' },
  },
  paths: ['path'],
  effect: 'outside',
  plan: ({ to, path }, open, signal) =>
    to === undefined
      ? planOf('undo', open, signal)
      : planOfState(to as number, path as string | undefined, open, signal),
  async run({ operation: expect, to, path }, context) {
    const { attempt, actor, plan, signal } = context;
    if (to === undefined) {
      if (path !== undefined) throw new InputError('path needs to: the operation whose state of the path you want.');
      const undone = await attempt.undo({ expect: expect ?? plan?.target?.id, actor, signal });
      return done(await doneTo('Took back', undone, plan?.target, context, signal), undone, context, signal);
    }
    if (expect !== undefined) throw new InputError('operation and to exclude each other.');
    if (path !== undefined && !(await isVisible(path, context, signal)))
      throw new InputError(`There is no path ${nameOf(path)} to bring back.`);
    const expectHead = plan?.isOutside === true ? plan.head : undefined;
    const made = await attempt.restore(to, { path, expect: expectHead, actor, signal });
    if (made === undefined) return 'Nothing differs from that state.';
    return done(`Restored the state after operation ${to}:`, made, context, signal);
  },
});

export const redo: ServerTool = workspaceTool<object>({
  name: 'redo',
  description: 'Makes the operation again that undo took back last. If that is an accept, the user is asked.',
  properties: {},
  effect: 'outside',
  plan: (_, open, signal) => planOf('redo', open, signal),
  async run(_, context) {
    const { attempt, actor, plan, signal } = context;
    const redone = await attempt.redo({ expect: plan?.target?.id, actor, signal });
    return done(await doneTo('Made again', redone, plan?.target, context, signal), redone, context, signal);
  },
});

export const checkpoint: ServerTool = workspaceTool<object>({
  name: 'checkpoint',
  description: 'Returns the number of the last operation, for undo (to), diff (from) and fork (at). Costs nothing.',
  properties: {},
  effect: 'none',
  async run(_, { attempt, signal }) {
    const head = await attempt.head({ signal });
    return `${head}: undo with to: ${head} comes back to this state.`;
  },
});

export const log: ServerTool = workspaceTool<{ before?: number; path?: string; limit: number }>({
  name: 'log',
  description: 'Lists operations, newest first: number, time, who, tool, what, paths.',
  properties: {
    before: { type: 'integer', description: 'Only older ones.', minimum: 1 },
    path: { type: 'string', description: 'Only those that changed it.' },
    limit: { type: 'integer', description: 'Default 20.', minimum: 1, maximum: 200, default: 20 },
  },
  paths: ['path'],
  effect: 'none',
  async run({ before, path, limit }, context) {
    const { attempt, signal } = context;
    if (path !== undefined && !(await isVisible(path, context, signal))) return 'There are no operations.';
    const { operations, next } = await attempt.log({ before, path, limit, signal });
    if (operations.length === 0) return 'There are no operations.';
    const end = next === undefined ? [] : [`[There are older ones: continue with before: ${next}.]`];
    const shown: Operation[] = [];
    for (const operation of operations) shown.push(await visibleOperation(operation, context, signal));
    return [...shown.map(operationText), ...end].join('\n');
  },
});
