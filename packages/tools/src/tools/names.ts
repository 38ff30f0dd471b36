import { type FileSystem, FsError, isFsError, type Stats, type VersionOptions } from '@scratchfs/core';
import { entryAt, inTransaction } from '../in-transaction.js';
import type { VersionCheck } from '../read-versions.js';
import { counted, type Definition, inWordsOf, path, quote, yes } from './define.js';

const RECURSIVE_HINT = 'Set recursive to true to delete a directory with all that is in it';

interface DeleteInput {
  readonly path: string;
  readonly recursive: boolean;
}

export const deleteFile: Definition<'delete_file'> = {
  name: 'delete_file',
  rule: 'sandbox.write',
  description: 'Deletes a file or a link, or with recursive a directory with all that is in it.',
  properties: {
    path: path('What to delete.'),
    recursive: yes('Delete a directory with all that is in it. Default false.'),
  },
  required: ['path'],
  async run(authorizer, { path: name, recursive }: DeleteInput, call) {
    const use = { path: name, access: 'write', follow: false } as const;
    await authorizer.permit(
      {
        tool: 'delete_file',
        rule: 'sandbox.write',
        uses: recursive ? [use, { ...use, isTree: true }] : [use],
        summary: `Delete ${quote(name)}${recursive ? ' with all that is in it' : ''}`,
      },
      call,
    );
    const { sandbox } = authorizer;
    const remove = async (fileSystem: FileSystem, condition: VersionOptions): Promise<void> => {
      const place = sandbox.locate(name);
      try {
        await fileSystem.rm(place, { recursive, ...condition, ...call });
      } catch (error) {
        if (!isFsError(error, 'EISDIR')) throw error;
        throw new FsError('EISDIR', { syscall: 'rm', path: place, hint: RECURSIVE_HINT });
      }
    };
    const removing = (condition: VersionOptions, check: VersionCheck | undefined): Promise<void> => {
      if (check === undefined) return remove(sandbox.fileSystem, condition);
      const work = (branch: FileSystem) => check(branch).then(() => remove(branch, condition));
      return inTransaction(sandbox.fileSystem, work, call);
    };
    await inWordsOf(authorizer, () => authorizer.versions.removing(name, call, removing), name);
    return { text: `Deleted ${quote(name)}.`, structured: { path: name } };
  },
};

interface MoveInput {
  readonly from: string;
  readonly to: string;
}

export const moveFile: Definition<'move_file'> = {
  name: 'move_file',
  rule: 'sandbox.write',
  description:
    'Moves or renames a file or a directory. A file that has the new name already is replaced; the result then says so.',
  properties: { from: path('What to move.'), to: path('Its new path, with its new name.') },
  required: ['from', 'to'],
  async run(authorizer, { from, to }: MoveInput, call) {
    await authorizer.permit(
      {
        tool: 'move_file',
        rule: 'sandbox.write',
        uses: [
          { path: from, access: 'write', follow: false },
          { path: from, access: 'write', follow: false, isTree: true },
          { path: to, access: 'write', follow: false },
        ],
        summary: `Move ${quote(from)} to ${quote(to)}`,
      },
      call,
    );
    const { sandbox } = authorizer;
    const move = async (
      fileSystem: FileSystem,
      condition: VersionOptions,
      check: VersionCheck | undefined,
    ): Promise<Stats | undefined> => {
      await check?.(fileSystem);
      const [source, target] = [sandbox.locate(from), sandbox.locate(to)];
      const before = await entryAt(fileSystem, target, call);
      const moved = before && (await entryAt(fileSystem, source, call));
      await fileSystem.rename(source, target, { ...condition, ...call });
      return before === undefined || isSame(before, moved) ? undefined : before;
    };
    const moving = (condition: VersionOptions, check: VersionCheck | undefined): Promise<Stats | undefined> =>
      inTransaction(sandbox.fileSystem, (branch) => move(branch, condition, check), call);
    const replaced = await inWordsOf(authorizer, () => authorizer.versions.moving(from, to, call, moving), from, to);
    const replacing = replaced === undefined ? '' : `, replacing ${described(replaced)} that was there`;
    return {
      text: `Moved ${quote(from)} to ${quote(to)}${replacing}.`,
      structured: { from, to, ...(replaced && { replaced: replaced.kind }) },
      links: [to],
    };
  },
};

function described({ kind, size }: Stats): string {
  if (kind === 'symlink') return 'the link';
  return kind === 'directory' ? 'the empty directory' : `the file of ${counted(size, 'byte')}`;
}

/** Reports whether two names belong to one file. Moving one to the other replaces nothing. */
function isSame(a: Stats, b: Stats | undefined): boolean {
  return a.ino === b?.ino && a.dev === b.dev;
}
