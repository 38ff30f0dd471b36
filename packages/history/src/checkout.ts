import { type EntryKind, type FileSystem, FsError, isFsError } from '@scratchfs/core';
import { HistoryError } from './errors.js';
import type { ObjectId } from './object-id.js';
import type { ObjectReader } from './object-reader.js';
import type { TreeEntry } from './objects/tree.js';
import type { RepositoryCall } from './repository.js';
import { directoriesAbove, directoryOf } from './tree-path.js';
import { changesBetween, type EntryChange, listTree, type PathEntry } from './tree-walk.js';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const NOTHING = new Uint8Array();

/** Contents to read concurrently. */
const BATCH_CONTENTS = 64;

/**
 * Changes a filesystem from the tree `from` to the tree `to`. Equal directories are skipped. Directories that were
 * empty before are removed only if they are in the way.
 */
export async function applyTree(
  fileSystem: FileSystem,
  reader: ObjectReader,
  from: ObjectId,
  to: ObjectId,
  call?: RepositoryCall,
): Promise<void> {
  const removed: string[] = [];
  const written: EntryChange[] = [];
  const onEntries = roomIn(fileSystem);
  for await (const change of changesBetween(reader, from, to, { ...call, onEntries })) {
    if (change.after === undefined) removed.push(change.path);
    if (change.after !== undefined) written.push(change);
  }
  for (const path of removed) await fileSystem.rm(`/${path}`, { recursive: true, force: true });
  await removeEmptied(fileSystem, removed);
  await write(fileSystem, reader, written, call);
}

/**
 * Returns a function that adds up the entries of a version and throws as soon as they are more than `maxNodeCount`,
 * before all of them are listed. Undefined if that limit is not set.
 */
function roomIn({ limits: { maxNodeCount: allowed } }: FileSystem): ((entries: number) => void) | undefined {
  if (allowed === undefined) return undefined;
  let requested = 0;
  return (entries) => {
    requested += entries;
    if (requested <= allowed) return;
    const limit = 'maxNodeCount';
    const hint = `The limit ${limit} is ${allowed} entries; the version has more than that`;
    throw new FsError('ENOSPC', { syscall: 'checkout', path: '/', limit, requested, allowed, hint });
  };
}

async function write(
  fileSystem: FileSystem,
  reader: ObjectReader,
  written: readonly EntryChange[],
  call?: RepositoryCall,
): Promise<void> {
  await makeDirectories(
    fileSystem,
    written.map(({ path }) => path),
  );
  for (const batch of batches(written)) {
    const bodies = await Promise.all(
      batch.map(({ after }) => (after?.mode === '160000' ? NOTHING : reader.blob((after as TreeEntry).id, call))),
    );
    for (const [i, change] of batch.entries()) await put(fileSystem, change, bodies[i] as Uint8Array);
    call?.signal?.throwIfAborted();
  }
}

/**
 * Replaces what is at a path by an entry of a version, with everything in it. A file or link in place of a parent
 * directory is removed.
 */
export async function restoreEntry(
  fileSystem: FileSystem,
  reader: ObjectReader,
  entry: PathEntry,
  call?: RepositoryCall,
): Promise<void> {
  const written: EntryChange[] = [];
  if (entry.mode !== '40000') written.push({ path: entry.path, before: undefined, after: entry });
  else {
    for await (const file of listTree(reader, entry.id, { ...call, onEntries: roomIn(fileSystem) }))
      written.push({ path: `${entry.path}/${file.path}`, before: undefined, after: file });
  }
  await makeDirectories(fileSystem, [entry.path]);
  await fileSystem.rm(`/${entry.path}`, { recursive: true, force: true });
  await write(fileSystem, reader, written, call);
}

function* batches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += BATCH_CONTENTS) yield items.slice(at, at + BATCH_CONTENTS);
}

/**
 * Creates an entry: a file or link, or the directory of a submodule. An existing file is removed first, because writing
 * into it would also change it under its other names.
 */
async function put(fileSystem: FileSystem, { path, after }: EntryChange, body: Uint8Array): Promise<void> {
  const { mode } = after as TreeEntry;
  const full = `/${path}`;
  if (mode === '160000') {
    await makeDirectories(fileSystem, [`${path}/`]);
    return;
  }
  await fileSystem.rm(full, { recursive: true, force: true });
  if (mode === '120000') await fileSystem.symlink(linkTarget(body, path), full);
  else await fileSystem.writeFile(full, body, { mode: mode === '100755' ? 0o755 : 0o644 });
}

function linkTarget(body: Uint8Array, path: string): string {
  try {
    const target = decoder.decode(body);
    if (target !== '' && !target.includes('\0')) return target;
  } catch {
    // Thrown below, like the other invalid targets.
  }
  throw new HistoryError('hostile', `The symbolic link ${JSON.stringify(path.slice(0, 80))} has an invalid target`, {
    path,
  });
}

/** Removes directories that became empty, because git does not store empty directories. */
async function removeEmptied(fileSystem: FileSystem, removed: readonly string[]): Promise<void> {
  const parents = new Set<string>();
  for (const path of removed) for (const directory of directoriesAbove(path)) parents.add(directory);
  for (const path of [...parents].sort((a, b) => b.length - a.length)) {
    if ((await fileSystem.isDirectory(`/${path}`)) && (await fileSystem.readdir(`/${path}`)).length === 0)
      await fileSystem.rmdir(`/${path}`);
  }
}

/**
 * Creates the parent directories of paths. A file or link with the name of a directory is removed, so nothing is
 * written through a link.
 */
async function makeDirectories(fileSystem: FileSystem, paths: readonly string[]): Promise<void> {
  const made = new Set<string>();
  const make = async (path: string): Promise<void> => {
    if (path === '' || made.has(path)) return;
    await make(directoryOf(path));
    made.add(path);
    const kind = await kindAt(fileSystem, `/${path}`);
    if (kind === 'directory') return;
    if (kind !== undefined) await fileSystem.unlink(`/${path}`);
    await fileSystem.mkdir(`/${path}`);
  };
  for (const path of paths) await make(directoryOf(path));
}

async function kindAt(fileSystem: FileSystem, path: string): Promise<EntryKind | undefined> {
  try {
    return (await fileSystem.lstat(path)).kind;
  } catch (error) {
    if (isFsError(error, 'ENOENT')) return undefined;
    throw error;
  }
}
