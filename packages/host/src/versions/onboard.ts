import { lstatSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAX_DEPTH, MAX_PATH_BYTES } from '@scratchfs/core';
import {
  checkEntryName,
  type EntryCount,
  HistoryError,
  type NamedObject,
  type ObjectId,
  type TreeMode,
} from '@scratchfs/history';
import { withoutDrivers } from '../git/drivers.js';
import { type Git, inList, nulEnded } from '../git/git.js';
import { GitObjects } from '../git/git-objects.js';
import type { GitRepository } from '../git/git-repository.js';
import { isCode } from '../host-error.js';
import type { Unrepresentable } from './read-worktree.js';

/** An entry of a version as git lists it. */
export interface ListedEntry {
  readonly path: string;
  readonly mode: TreeMode;
  readonly id: ObjectId;
}

export interface Listing {
  readonly entries: readonly ListedEntry[];
  /** Directories, the top one not included, with their names unchecked. */
  readonly trees: readonly Pick<ListedEntry, 'path' | 'id'>[];
  /** Entries that a scratchfs filesystem cannot represent. */
  readonly unrepresentable: readonly (Unrepresentable & { readonly record: Buffer })[];
}

/**
 * Returns all entries of a version of a repository on disk, with each name of an entry checked.
 * @throws HistoryError `too-large` if there are more than `count` allows
 */
export async function listVersion(
  git: Git,
  version: string,
  count: EntryCount,
  signal?: AbortSignal,
): Promise<Listing> {
  const entries: ListedEntry[] = [];
  const trees: Pick<ListedEntry, 'path' | 'id'>[] = [];
  const unrepresentable: (Unrepresentable & { record: Buffer })[] = [];
  const checked = new Map<string, string | undefined>();
  const take = (record: Buffer): void => {
    const tab = record.indexOf(9);
    const [mode, type, id] = record.toString('latin1', 0, tab).split(' ') as [TreeMode, string, ObjectId];
    const raw = record.subarray(tab + 1);
    count.add(1, raw.length);
    const path = raw.toString('utf8');
    if (type === 'tree') {
      trees.push({ path, id });
      return;
    }
    const reason =
      path.includes('\ufffd') && !Buffer.from(path).equals(raw) ? 'its name is not UTF-8' : against(path, checked);
    if (reason === undefined) entries.push({ path, mode, id });
    else unrepresentable.push({ path, reason, record });
  };
  // With `-t`, directories are printed too, so that they count: trees without files can describe any number of
  // directories.
  await git.eachItem(['ls-tree', '-r', '-t', '-z', '--full-tree', version], take, signal);
  return { entries, trees, unrepresentable };
}

function against(path: string, checked: Map<string, string | undefined>): string | undefined {
  const names = path.split('/');
  if (names.length > MAX_DEPTH) return `it lies more than ${MAX_DEPTH} directories deep`;
  if (Buffer.byteLength(path) >= MAX_PATH_BYTES) return `its path has more than ${MAX_PATH_BYTES} bytes`;
  for (const name of names) {
    if (!checked.has(name)) checked.set(name, reasonAgainst(name));
    const reason = checked.get(name);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function reasonAgainst(name: string): string | undefined {
  try {
    checkEntryName(name);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

export interface WorkingTree {
  /** Tree of the files in the work tree. */
  readonly tree: ObjectId;
  readonly listing: Listing;
  /** Objects that the repository itself does not have. */
  readonly objects: readonly NamedObject[];
  /** Paths of nested repositories that are not submodules and were left out. */
  readonly nested: readonly string[];
}

/**
 * Reads the files of a work tree as `git add` would record them, with an index and an object directory of its own, so
 * the repository stays untouched. Line ends are converted as the repository says; filters do not run.
 */
export async function readWorkingTree(
  repository: GitRepository,
  {
    includeIgnored = false,
    count,
    signal,
  }: {
    readonly includeIgnored?: boolean | undefined;
    readonly count: EntryCount;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<WorkingTree> {
  const scratch = await mkdtemp(join(tmpdir(), 'scratchfs-'));
  try {
    await mkdir(join(scratch, 'objects'));
    const plain = await withoutDrivers(repository.git, { filters: false });
    const git = plain.with({
      GIT_INDEX_FILE: join(scratch, 'index'),
      GIT_OBJECT_DIRECTORY: join(scratch, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: inList(repository.objectsDirectory),
    });
    await copyIndex(join(repository.gitDirectory, 'index'), join(scratch, 'index'));
    const listed = await plain.items(['ls-files', '-z', '--stage'], { signal }, 'latin1');
    const isSubmodule = (line: string): boolean => line.startsWith('160000 ');
    const pathOf = (line: string): string => line.slice(line.indexOf('\t') + 1);
    const tracked = listed.filter((line) => !isSubmodule(line)).map(pathOf);
    const rules = includeIgnored ? [] : ['--exclude-standard'];
    const others = await plain.items(['ls-files', '-z', '--others', ...rules], { signal }, 'latin1');
    const nested = others.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1));
    const paths = [...new Set(tracked), ...others.filter((path) => !path.endsWith('/'))];
    await lookAtAll(git, plain, signal);
    const update = ['update-index', '-z', '--add', '--remove', '--ignore-skip-worktree-entries', '--stdin'];
    await git.run(update, { input: nulEnded(paths, 'latin1'), signal });
    const tree = (await git.text(['write-tree'], { signal })) as ObjectId;
    const listing = await listVersion(git, tree, count, signal);
    return { tree, listing, objects: await newObjects(git, repository, signal), nested };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/**
 * Copies an index, so that files known to be unchanged are not read again. The copy gets the original's time, because
 * git rehashes files that are not older than the index.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  try {
    const seconds = Math.floor((await stat(from)).mtimeMs / 1_000);
    await copyFile(from, to);
    await utimes(to, seconds, seconds);
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
  }
}

/**
 * Clears the assume-unchanged flags, and the skip-worktree flags of all files but those that a sparse checkout leaves
 * out.
 */
async function lookAtAll(git: Git, plain: Git, signal?: AbortSignal): Promise<void> {
  const tagged = await plain.items(['ls-files', '-v', '-z'], { signal }, 'latin1');
  const withTag = (isTag: (tag: string) => boolean): string[] =>
    tagged.filter((item) => isTag(item[0] as string)).map((item) => item.slice(2));
  const top = Buffer.from(`${git.cwd}/`);
  const isLeftOut = (path: string): boolean => {
    try {
      return lstatSync(Buffer.concat([top, Buffer.from(path, 'latin1')]), { throwIfNoEntry: false }) === undefined;
    } catch (error) {
      // A file has replaced its directory: the path was deleted, not left out.
      if (isCode(error, 'ENOTDIR')) return false;
      throw error;
    }
  };
  const assumed = withTag((tag) => tag !== tag.toUpperCase());
  const skipped = withTag((tag) => tag.toUpperCase() === 'S').filter((path) => !isLeftOut(path));
  for (const [option, paths] of [
    ['--no-assume-unchanged', assumed],
    ['--no-skip-worktree', skipped],
  ] as const)
    if (paths.length > 0)
      await git.run(['update-index', '-z', option, '--stdin'], { input: nulEnded(paths, 'latin1'), signal });
}

async function newObjects(git: Git, { format }: GitRepository, signal?: AbortSignal): Promise<NamedObject[]> {
  const alone = git.with({ GIT_ALTERNATE_OBJECT_DIRECTORIES: '' });
  const ids = await alone.text(['cat-file', '--batch-all-objects', '--batch-check=%(objectname)'], { signal });
  const store = new GitObjects(alone, format);
  try {
    const wanted = (ids === '' ? [] : ids.split('\n')) as ObjectId[];
    return await Promise.all(
      wanted.map(async (id) => {
        const object = await store.read(id, { signal });
        if (object === undefined) throw new HistoryError('corrupt', `git has lost object ${id}`, { id });
        return { ...object, id };
      }),
    );
  } finally {
    store.close();
  }
}
