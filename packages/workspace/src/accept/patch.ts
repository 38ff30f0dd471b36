import { pathSegments } from '@scratchfs/core';
import {
  type AddedOrRemovedPath,
  type ChangedPath,
  checkEntryName,
  History,
  MemoryRepository,
  type NamedObject,
  type ObjectFormat,
  type RenamedPath,
  type TreeMode,
  type VersionEntry,
} from '@scratchfs/history';
import { nodePrimitives } from '@scratchfs/host';
import type { EntryState } from '../operation.js';
import { type Contents, contentOf } from './attempt-change.js';
import type { SelectedChange } from './select.js';

/**
 * Returns selected changes as a patch that `git apply` accepts: text, binary contents, links, modes as git has them
 * (executable or not) and renames. Directories are left out, because git does not record them.
 * @param format hash algorithm of the repository that the patch is for: patches of binary contents have full object ids
 * @throws HistoryError `hostile` for a name that git refuses
 */
export async function patchOf(
  changes: readonly SelectedChange[],
  contents: Contents,
  {
    format = 'sha1',
    signal,
  }: { readonly format?: ObjectFormat | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<Uint8Array> {
  const repository = new MemoryRepository(format);
  const history = new History({ repository, primitives: nodePrimitives });
  const objects = new Map<string, NamedObject>();
  const entryOf = async (state: EntryState | null, content?: Uint8Array): Promise<VersionEntry | undefined> => {
    if (state === null || state.kind === 'directory') return undefined;
    const body =
      state.kind === 'symlink'
        ? Buffer.from(state.target ?? '')
        : (content ?? (await contentOf(state, contents, signal)));
    const id = history.blobId(body);
    objects.set(id, { type: 'blob', body, id });
    return { id, mode: gitMode(state) };
  };
  const diff = {
    added: [] as AddedOrRemovedPath[],
    removed: [] as AddedOrRemovedPath[],
    changed: [] as ChangedPath[],
    renamed: [] as RenamedPath[],
  };
  const moved = new Set(changes.flatMap(({ from }) => (from === undefined ? [] : [from])));
  for (const change of changes) {
    if (moved.has(change.path)) continue;
    const path = nameOf(change.path);
    const [before, after] = [await entryOf(change.before), await entryOf(change.target, change.content)];
    if (before === undefined) {
      if (after !== undefined) diff.added.push({ path, ...after });
    } else if (after === undefined) diff.removed.push({ path, ...before });
    else if (change.from !== undefined)
      diff.renamed.push({
        path,
        oldPath: nameOf(change.from),
        before,
        after,
        similarity: before.id === after.id ? 100 : 0,
      });
    else if (before.id !== after.id || before.mode !== after.mode) diff.changed.push({ path, before, after });
  }
  await repository.write([...objects.values()]);
  return Buffer.from(await history.formatDiff(diff, { binary: true, signal }));
}

/** Returns a path without the leading slash. @throws HistoryError for a name that git refuses */
function nameOf(path: string): string {
  for (const name of pathSegments(path)) checkEntryName(name);
  return path.slice(1);
}

function gitMode({ kind, mode }: EntryState): TreeMode {
  return kind === 'symlink' ? '120000' : (mode & 0o100) === 0 ? '100644' : '100755';
}
