import { isFsError } from '@scratchfs/core';
import { diff as compare, formatDiff } from '@scratchfs/core/diff';
import type { Authorizer } from '../authorizer.js';
import { InputError } from '../input.js';
import { formatPage } from '../pages.js';
import { counted, type Definition, limit, offset, path, quote } from './define.js';

interface CheckpointInput {
  readonly name?: string;
}

export const checkpoint: Definition = {
  name: 'checkpoint',
  rule: 'sandbox.read',
  description: 'Remembers the files as they are now, at no cost. Make a checkpoint before a risky step.',
  seeAlso: { rollback: 'To go back to it use rollback.', diff: 'To see what has changed since use diff.' },
  properties: { name: path('A name to call it by. Default: one is made.') },
  required: [],
  async run(authorizer, { name }: CheckpointInput, call) {
    await authorizer.permit(
      { tool: 'checkpoint', rule: 'sandbox.read', uses: [], summary: 'Remember the files as they are' },
      call,
    );
    const made = await explained(authorizer, () => authorizer.sandbox.fileSystem.checkpoint(name, call), name ?? '');
    return `Made the checkpoint ${quote(made.name ?? made.id)}.`;
  },
};

interface RollbackInput {
  readonly checkpoint: string;
}

export const rollback: Definition = {
  name: 'rollback',
  rule: 'sandbox.write',
  description:
    'Makes all files what they were at a checkpoint. Everything that was done since is lost; the checkpoint stays.',
  properties: { checkpoint: path('Name of a checkpoint that was made with these tools.') },
  required: ['checkpoint'],
  async run(authorizer, { checkpoint: name }: RollbackInput, call) {
    await authorizer.permit(
      {
        tool: 'rollback',
        rule: 'sandbox.write',
        uses: [{ path: '.', access: 'write', isTree: true }],
        summary: `Make all files what they were at the checkpoint ${quote(name)}`,
      },
      call,
    );
    await explained(authorizer, () => authorizer.sandbox.fileSystem.rollback(name, call), name);
    return `The files are what they were at the checkpoint ${quote(name)}.`;
  },
};

/** Maximum length of a whole diff, in UTF-16 code units. Pages are taken from it. */
const MAX_DIFF_LENGTH = 2_000_000;
/** The last line of a diff that was cut. No other line of a diff starts with a bracket. */
const CUT = /^\[Cut after /;

interface DiffInput {
  readonly from: string;
  readonly to?: string;
  readonly offset: number;
  readonly limit: number;
}

export const diff: Definition = {
  name: 'diff',
  rule: 'sandbox.read',
  description: 'Shows what has changed since a checkpoint, or between two of them, as a unified diff.',
  properties: {
    from: path('The checkpoint to compare with.'),
    to: path('Another checkpoint. Default: the files as they are now.'),
    offset: offset('lines'),
    limit: limit('lines', 500, 2000),
  },
  required: ['from'],
  async run(authorizer, { from, to, offset: start, limit: count }: DiffInput, call) {
    await authorizer.permit(
      {
        tool: 'diff',
        rule: 'sandbox.read',
        uses: [{ path: '.', access: 'read', isTree: true }],
        summary: `Show what has changed since the checkpoint ${quote(from)}`,
      },
      call,
    );
    const { fileSystem } = authorizer.sandbox;
    const nameOf = (place: string): string => authorizer.sandbox.show(place) ?? place;
    const options = { nameOf, maxLength: MAX_DIFF_LENGTH, ...call };
    const text = await explained(authorizer, () => formatDiff(fileSystem, from, to, options), from);
    if (text !== '') {
      const lines = text.trimEnd().split('\n');
      const isCounted = !CUT.test(lines.at(-1) as string);
      const shown = lines.slice(start, start + count);
      return formatPage({ lines: shown, total: lines.length, isCounted }, start, 'lines', 'diff');
    }
    const { added, removed, changed } = await compare(fileSystem, from, to, call);
    const rest = added.length + removed.length + changed.length;
    return rest === 0 ? 'Nothing has changed.' : `No file has changed, but ${counted(rest, 'other entry')}.`;
  },
};

/** Turns a missing or duplicate checkpoint into an error for the model. */
async function explained<T>(authorizer: Authorizer, work: () => Promise<T>, name: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isFsError(error, 'ENOENT'))
      throw new InputError(
        `There is no checkpoint ${quote(name)}.${authorizer.offered.has('checkpoint') ? ' Make one with checkpoint.' : ''}`,
      );
    if (isFsError(error, 'EEXIST'))
      throw new InputError(`There is a checkpoint ${quote(name)} already: choose another name.`);
    throw error;
  }
}
