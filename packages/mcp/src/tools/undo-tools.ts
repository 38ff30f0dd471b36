import { InputError } from '@scratchfs/tools';
import type { Operation } from '@scratchfs/workspace';
import { operationText } from './format.js';
import { type ServerTool, workspaceTool } from './server-tool.js';

const done = (verb: string, operation: Operation) => ({
  text: `${verb}:\n${operationText(operation)}`,
  operations: [operation],
});

export const undo: ServerTool = workspaceTool<{ operation?: number; to?: number; path?: string }>({
  name: 'undo',
  description:
    'Takes back the last operation; again, the one before it. With to, brings back the state after that operation, of everything or of one path.',
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
  effect: 'attempt',
  async run({ operation: expect, to, path }, { attempt, actor, signal }) {
    if (to === undefined) {
      if (path !== undefined) throw new InputError('path needs to: the operation whose state of the path you want.');
      return done('Took back', await attempt.undo({ expect, actor, signal }));
    }
    if (expect !== undefined) throw new InputError('operation and to exclude each other.');
    const made = await attempt.restore(to, { path, actor, signal });
    return made === undefined ? 'Nothing differs from that state.' : done('Restored', made);
  },
});

export const redo: ServerTool = workspaceTool<object>({
  name: 'redo',
  description: 'Makes the operation again that undo took back last.',
  properties: {},
  effect: 'attempt',
  run: async (_, { attempt, actor, signal }) => done('Made again', await attempt.redo({ actor, signal })),
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
  async run({ before, path, limit }, { attempt, signal }) {
    const { operations, next } = await attempt.log({ before, path, limit, signal });
    if (operations.length === 0) return 'There are no operations.';
    const end = next === undefined ? [] : [`[There are older ones: continue with before: ${next}.]`];
    return [...operations.map(operationText), ...end].join('\n');
  },
});
