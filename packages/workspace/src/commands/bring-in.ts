import { dirname } from 'node:path';
import { type FileSystem, isFsError, parentPath, type Stats } from '@scratchfs/core';
import { isBinary, mergeText } from '@scratchfs/history';
import {
  type CopyChange,
  type GivenEntry,
  INSIDE,
  type LeftEntry,
  statText,
  targetInCopy,
} from '@scratchfs/host/internal';
import { hashOf } from '../log/contents.js';
import type { Conflict, EntryState } from '../operation.js';

/** Result of bringing the changes of a command in. Paths are absolute in the attempt. */
export interface BroughtIn {
  /** Paths of files and links that have a new content or mode now. */
  readonly written: readonly string[];
  readonly conflicts: readonly Conflict[];
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

export interface BringInOptions {
  /** Real path of the user's directory. */
  readonly directory: string;
  /** Returns the content that the command was given; undefined if it was not kept. */
  readonly contentOf: (given: GivenEntry) => Uint8Array | undefined;
  /**
   * Reports whether a directory still holds exactly what the command was given, so that it can be removed in one step.
   * @param given entries that the command was given, at `path` and under it, by path
   */
  readonly isAsGiven: (path: string, given: ReadonlyMap<string, GivenEntry>) => Promise<boolean>;
}

/**
 * Merges the changes of a command three-way: what the command was given, what it left, and what the filesystem has now.
 * A file that another writer has changed since is merged by lines, or keeps its state and is a conflict.
 *
 * @param changes removed entries first, what is in a directory before it; then the others, parents first
 */
export async function bringIn(
  fileSystem: FileSystem,
  changes: readonly CopyChange[],
  options: BringInOptions,
): Promise<BroughtIn> {
  const run = new BringIn(fileSystem, options);
  const removed = new Set<string>();
  for (const [path, given] of removedDirectories(changes))
    if (await run.removeWhole(path, given)) for (const one of given.keys()) removed.add(one);
  for (const change of changes) if (change.after !== undefined || !removed.has(change.path)) await run.apply(change);
  return run;
}

/** Returns the outermost directories that a command removed, each with the entries at and under it, by path. */
function removedDirectories(changes: readonly CopyChange[]): Map<string, Map<string, GivenEntry>> {
  const directories = new Map<string, Map<string, GivenEntry>>();
  // In reverse order: parents first.
  for (const { path, before, after } of changes.filter((change) => change.after === undefined).reverse()) {
    if (before === undefined || after !== undefined) continue;
    let top = path.length;
    for (let end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1)) {
      if (!directories.has(path.slice(0, end))) continue;
      top = end;
      break;
    }
    const directory = path.slice(0, top);
    if (top < path.length) directories.get(directory)?.set(path, before);
    else if (before.kind === 'directory') directories.set(path, new Map([[path, before]]));
  }
  return directories;
}

/** Directories with fewer entries are removed entry by entry. */
const MIN_REMOVED_WHOLE = 8;

class BringIn implements BroughtIn {
  readonly written: string[] = [];
  readonly conflicts: Conflict[] = [];
  readonly refused: { path: string; reason: string }[] = [];
  readonly #reached = new Map<string, Promise<boolean>>();

  constructor(
    readonly fileSystem: FileSystem,
    readonly options: BringInOptions,
  ) {}

  /**
   * Removes a directory in one step. Returns false if it is small, is not as the command was given it, or cannot be
   * removed.
   */
  async removeWhole(path: string, given: ReadonlyMap<string, GivenEntry>): Promise<boolean> {
    const place = `/${path}`;
    if (given.size < MIN_REMOVED_WHOLE || !(await this.#isReached(parentPath(place)))) return false;
    if (!(await this.options.isAsGiven(path, given))) return false;
    try {
      await this.fileSystem.rm(place, { recursive: true });
      return true;
    } catch (error) {
      if (isFsError(error)) return false;
      throw error;
    }
  }

  async apply(change: CopyChange): Promise<void> {
    const path = `/${change.path}`;
    try {
      const now = await this.#now(path);
      const code = (await this.#isReached(parentPath(path)))
        ? await this.#step(path, change, now)
        : change.after === undefined
          ? undefined
          : ('kind' as const);
      if (code !== undefined) this.conflicts.push(await this.#conflict(path, code, change, now));
    } catch (error) {
      if (!isFsError(error) || error.code === 'ENOSPC' || error.code === 'EFBIG') throw error;
      this.refused.push({ path, reason: error.message });
    }
  }

  async #step(
    path: string,
    { before, after }: CopyChange,
    now: Stats | undefined,
  ): Promise<Conflict['code'] | undefined> {
    const { fileSystem } = this;
    if (after === undefined) {
      if (now === undefined) return undefined;
      if (!(await this.#isAsGiven(path, now, before))) return now.kind === before?.kind ? 'removed' : 'kind';
      await this.#remove(path, now);
      return undefined;
    }
    if (before === undefined) {
      if (now === undefined) await this.#create(path, after);
      else if (!(await this.#isAsLeft(path, now, after))) return 'exists';
      return undefined;
    }
    if (now === undefined) {
      if (after.kind !== 'directory') return 'removed';
      return undefined;
    }
    if (before.kind !== after.kind || now.kind !== after.kind) {
      if (await this.#isAsGiven(path, now, before)) {
        if (!(await this.#remove(path, now))) return 'kind';
        await this.#create(path, after);
      } else if (!(await this.#isAsLeft(path, now, after))) return 'kind';
      return undefined;
    }
    if (after.kind === 'symlink') {
      if (await this.#isAsGiven(path, now, before)) {
        await this.#remove(path, now);
        await this.#create(path, after);
      } else if (!(await this.#isAsLeft(path, now, after))) return 'content';
      return undefined;
    }
    const mode = mergeModes(before.mode, after.mode, now.mode & 0o777);
    if (mode === undefined) return 'mode';
    if (after.kind === 'file') {
      const content = await this.#mergeContents(path, now, before, after.body);
      if (typeof content === 'string') return content;
      if (content !== undefined) await fileSystem.writeFile(path, content);
      if (content !== undefined || mode !== (now.mode & 0o777)) this.written.push(path);
    }
    if (mode !== (now.mode & 0o777)) await fileSystem.chmod(path, mode);
    return undefined;
  }

  /** Returns the content to write, undefined if the file keeps the content that it has, or the code of a conflict. */
  async #mergeContents(
    path: string,
    now: Stats,
    before: GivenEntry,
    after: Uint8Array,
  ): Promise<Uint8Array | 'content' | 'binary' | undefined> {
    const base = this.options.contentOf(before);
    // The content is the one that the command was given.
    if (base !== undefined && isSame(base, after)) return undefined;
    if (isSameStat(now, before)) return after;
    const current = await this.fileSystem.readFile(path);
    if (isSame(current, after)) return undefined;
    if (base === undefined) return isSameVersion(now, before) ? after : 'binary';
    if (isSame(current, base)) return after;
    if ([current, after].some(isBinary)) return 'binary';
    const { bytes, conflicts } = mergeText(base, current, after);
    return conflicts > 0 ? 'content' : bytes;
  }

  async #isAsGiven(path: string, now: Stats, given: GivenEntry | undefined): Promise<boolean> {
    if (given === undefined || now.kind !== given.kind) return false;
    if (given.kind === 'directory' || isSameStat(now, given)) return true;
    if (given.kind === 'symlink')
      return targetInCopy(this.options.directory, await this.fileSystem.readlink(path)) === given.target;
    if ((now.mode & 0o777) !== given.mode || now.size !== given.size) return false;
    const base = this.options.contentOf(given);
    return base === undefined ? isSameVersion(now, given) : isSame(await this.fileSystem.readFile(path), base);
  }

  async #isAsLeft(path: string, now: Stats, left: LeftEntry): Promise<boolean> {
    if (now.kind !== left.kind) return false;
    if (left.kind === 'directory') return true;
    if (left.kind === 'symlink') return (await this.fileSystem.readlink(path)) === targetOf(path, left);
    return (
      (now.mode & 0o777) === left.mode &&
      now.size === left.body.length &&
      isSame(await this.fileSystem.readFile(path), left.body)
    );
  }

  /** Removes an entry. Returns false for a directory that is not empty, which then stays. */
  async #remove(path: string, now: Stats): Promise<boolean> {
    if (!now.isDirectory()) {
      await this.fileSystem.unlink(path);
      return true;
    }
    try {
      await this.fileSystem.rmdir(path);
      return true;
    } catch (error) {
      if (isFsError(error, 'ENOTEMPTY')) return false;
      throw error;
    }
  }

  async #create(path: string, left: LeftEntry): Promise<void> {
    const { fileSystem } = this;
    // Another writer may have removed the parent since.
    await fileSystem.mkdir(parentPath(path), { recursive: true });
    if (left.kind === 'directory') {
      await fileSystem.mkdir(path, { mode: left.mode });
      return;
    }
    if (left.kind === 'symlink') await fileSystem.symlink(targetOf(path, left), path);
    else await fileSystem.writeFile(path, left.body, { mode: left.mode, flag: 'wx' });
    this.written.push(path);
  }

  async #now(path: string): Promise<Stats | undefined> {
    try {
      return await this.fileSystem.lstat(path);
    } catch (error) {
      if (isFsError(error, 'ENOENT') || isFsError(error, 'ENOTDIR')) return undefined;
      throw error;
    }
  }

  /**
   * Reports whether a directory is reached without links: a link that has replaced a directory since is not followed.
   */
  #isReached(directory: string): Promise<boolean> {
    const known = this.#reached.get(directory);
    if (known !== undefined) return known;
    const found = this.fileSystem.realpath(directory).then(
      (real) => real === directory,
      (error: unknown) => {
        // For example, it was removed by an earlier step. The next step finds nothing there, or fails.
        if (isFsError(error)) return true;
        throw error;
      },
    );
    this.#reached.set(directory, found);
    return found;
  }

  async #conflict(
    path: string,
    code: Conflict['code'],
    { before, after }: CopyChange,
    now: Stats | undefined,
  ): Promise<Conflict> {
    const { contentOf } = this.options;
    return {
      path,
      code,
      base: before === undefined ? null : stateOf(before, contentOf(before), before.size),
      disk: after === undefined ? null : stateOf(after, after.body, after.body.length),
      attempt: now === undefined ? null : await this.#stateNow(path, now),
    };
  }

  async #stateNow(path: string, { kind, mode, size }: Stats): Promise<EntryState> {
    const body =
      kind === 'file'
        ? await this.fileSystem.readFile(path)
        : Buffer.from(kind === 'symlink' ? await this.fileSystem.readlink(path) : '');
    return stateOf({ kind, mode: mode & 0o7777 }, body, kind === 'directory' ? 0 : size);
  }
}

function stateOf(
  { kind, mode }: Pick<EntryState, 'kind' | 'mode'>,
  body: Uint8Array | undefined,
  size: number,
): EntryState {
  const state = { kind, mode, size };
  if (body === undefined || kind === 'directory') return state;
  if (kind === 'symlink') return { ...state, target: Buffer.from(body).toString('utf8') };
  return { ...state, hash: hashOf(body) };
}

/** Merges modes. Returns undefined if both sides changed the mode in different ways. */
function mergeModes(base: number, ours: number, theirs: number): number | undefined {
  if (ours === base || ours === theirs) return theirs;
  return theirs === base ? ours : undefined;
}

/**
 * Returns the target of a link that a command left. A target at or under {@link INSIDE}, where the command saw the files,
 * becomes relative to the link.
 */
function targetOf(path: string, { body }: LeftEntry): string {
  const target = Buffer.from(body).toString('utf8');
  if (target !== INSIDE && !target.startsWith(`${INSIDE}/`)) return target;
  const up = '../'.repeat(dirname(path).split('/').filter(Boolean).length);
  return `${up}${target.slice(INSIDE.length + 1)}` || '.';
}

/**
 * Reports whether stats prove that an entry is the one that was copied. False if they could be equal after a change.
 */
function isSameStat(now: Stats, given: GivenEntry): boolean {
  if (given.source === '' && given.at !== undefined) return false;
  return given.stat !== '' && statText(now) === given.stat;
}

function isSameVersion(now: Stats, { source }: GivenEntry): boolean {
  return now.version !== '' && source === `v ${now.version}`;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
