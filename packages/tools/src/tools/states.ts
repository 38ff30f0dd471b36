import { type FileSystem, isFsError } from '@scratchfs/core';
import { diff as compare, formatDiff } from '@scratchfs/core/diff';
import type { Authorizer } from '../authorizer.js';
import { InputError } from '../input.js';
import { formatPage } from '../pages.js';
import type { ToolCallOptions } from '../tool.js';
import { counted, type Definition, limit, offset, path, quote } from './define.js';

/**
 * Start of the names of all checkpoints that the model makes, goes back to or compares with. Checkpoints of the program
 * with other names are out of its reach.
 */
const PREFIX = 'tools:';

interface CheckpointInput {
  readonly name?: string;
}

export const checkpoint: Definition<'checkpoint'> = {
  name: 'checkpoint',
  rule: 'sandbox.read',
  needs: 'checkpoints',
  description: 'Remembers the files as they are now, at no cost. Make a checkpoint before a risky step.',
  seeAlso: { rollback: 'To go back to it use rollback.', diff: 'To see what has changed since use diff.' },
  properties: { name: path('A name to call it by. Default: one is made.') },
  required: [],
  async run(authorizer, { name }: CheckpointInput, call) {
    await authorizer.permit(
      { tool: 'checkpoint', rule: 'sandbox.read', uses: [], summary: 'Remember the files as they are' },
      call,
    );
    const { fileSystem } = authorizer.sandbox;
    const made = name ?? (await numbered(fileSystem, call));
    if (name !== undefined) await explained(authorizer, () => fileSystem.checkpoint(PREFIX + name, call), name);
    return { text: `Made the checkpoint ${quote(made)}.`, structured: { name: made } };
  },
};

interface RollbackInput {
  readonly checkpoint: string;
}

export const rollback: Definition<'rollback'> = {
  name: 'rollback',
  rule: 'sandbox.write',
  needs: 'rollback',
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
    await explained(authorizer, () => authorizer.sandbox.fileSystem.rollback(PREFIX + name, call), name);
    return {
      text: `The files are what they were at the checkpoint ${quote(name)}.`,
      structured: { checkpoint: name },
    };
  },
};

/** Maximum length of a whole diff, in UTF-16 code units. Pages are taken from it. */
const MAX_DIFF_LENGTH = 2_000_000;
/** The last line of a diff that `formatDiff` has cut. */
const CUT = /^\[Cut after /;

interface DiffInput {
  readonly from: string;
  readonly to?: string;
  readonly offset: number;
  readonly limit: number;
}

export const diff: Definition<'diff'> = {
  name: 'diff',
  rule: 'sandbox.read',
  needs: 'diff',
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
    const points = { from, ...(to !== undefined && { to }) };
    const [a, b] = [PREFIX + from, to === undefined ? undefined : PREFIX + to];
    const nameOf = (place: string): string => authorizer.sandbox.show(place) ?? place;
    const options = { nameOf, maxLength: MAX_DIFF_LENGTH, ...call };
    const text = await explained(authorizer, () => formatDiff(fileSystem, a, b, options), from);
    if (text !== '') {
      const lines = text.replace(/\n$/, '').split('\n');
      const isCounted = !CUT.test(lines.at(-1) as string);
      const shown = lines.slice(start, start + count);
      const page = formatPage({ lines: shown, total: lines.length, isCounted }, start, 'lines', 'diff');
      return { text: page.text, structured: { ...points, ...page.data } };
    }
    const { added, removed, changed } = await compare(fileSystem, a, b, call);
    const rest = added.length + removed.length + changed.length;
    return {
      text: rest === 0 ? 'Nothing has changed.' : `No file has changed, but ${counted(rest, 'other entry')}.`,
      structured: { ...points, total: 0 },
    };
  },
};

/** Makes a checkpoint under the first free number, and returns that name. */
async function numbered(fileSystem: FileSystem, call: ToolCallOptions): Promise<string> {
  const used = new Set((await fileSystem.checkpoints(call)).map(({ name }) => name));
  for (let number = 1; ; number++) {
    if (used.has(`${PREFIX}${number}`)) continue;
    try {
      await fileSystem.checkpoint(`${PREFIX}${number}`, call);
      return `${number}`;
    } catch (error) {
      // The name was taken since the list was read, or by a checkpoint that the list does not show.
      if (!isFsError(error, 'EEXIST')) throw error;
    }
  }
}

/** Converts errors about a checkpoint that is missing, and about a name that is taken or too long, for the model. */
async function explained<T>(authorizer: Authorizer, work: () => Promise<T>, name: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isFsError(error)) throw error;
    // The model does not know the prefix.
    const own = error.path?.startsWith(PREFIX) ? error.path.slice(PREFIX.length) : name;
    if (error.code === 'ENOENT') {
      const advice = authorizer.offered.has('checkpoint') ? ' Make one with checkpoint.' : '';
      throw new InputError(`There is no checkpoint ${quote(own)}.${advice}`);
    }
    if (error.code === 'EEXIST')
      throw new InputError(`There is a checkpoint ${quote(own)} already: choose another name.`);
    if (error.code === 'EINVAL' && error.syscall === 'checkpoint')
      throw new InputError(`${quote(own)} is too long for the name of a checkpoint.`);
    throw error;
  }
}
