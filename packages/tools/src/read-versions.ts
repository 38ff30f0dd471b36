import { type FileSystem, isFsError, isWithin, quote, type Stats, type VersionOptions } from '@scratchfs/core';
import type { FileSandbox, FileSystemSandbox } from '@scratchfs/sandbox';
import { entryAt } from './in-transaction.js';
import { InputError } from './input.js';
import type { ToolCallOptions } from './tool.js';
import { hasFileSystem, shownPath } from './tool-sandbox.js';

/** Maximum number of files whose versions are remembered. The one read or written longest ago is forgotten first. */
const MAX_FILES = 10_000;

/**
 * Maximum number of files of a model that shares its reads: what it forgets is usually still known to `SharedReads`.
 */
const MAX_SHARING_FILES = 500;

/** Remembered in place of a version for a state that the model has not seen, so that the model cannot change it. */
const UNSEEN = 'unseen';

/**
 * The first version of each file that any of several models has read, for file tools that are created with
 * `sharedReads`. A model without a known read of a file can change the file only in that version. This also covers a
 * model whose own reads were forgotten.
 */
export class SharedReads {
  /** By the name of the files and the path. The one read longest ago comes first. */
  readonly #first = new Map<string, string>();

  /** @param maxFiles maximum number of files. The one read longest ago is forgotten first. Default 10,000 */
  constructor(readonly maxFiles = MAX_FILES) {}

  /** Remembers that a version was read, unless an earlier one is known. `files`: the name that the paths belong to. */
  add(files: string, path: string, version: string): void {
    const key = `${files}\0${path}`;
    remember(this.#first, key, this.#first.get(key) ?? version, this.maxFiles);
  }

  /** Returns the first version of a file that was read; undefined if none was. */
  get(files: string, path: string): string | undefined {
    return this.#first.get(`${files}\0${path}`);
  }

  /** Returns paths with the first versions that were read. */
  of(files: string): (readonly [path: string, version: string])[] {
    const start = `${files}\0`;
    return [...this.#first].flatMap(([key, version]) =>
      key.startsWith(start) ? [[key.slice(start.length), version] as const] : [],
    );
  }
}

/** Reads that are shared with other models, and the name under which all of them know the files. */
export interface ReadsOfFiles {
  readonly reads: SharedReads;
  readonly files: string;
}

interface Place {
  readonly sandbox: FileSystemSandbox;
  /** Resolved path in the filesystem. */
  readonly path: string;
}

/** Throws an InputError if a file is not as the model has read it. For use in the transaction of the change. */
export type VersionCheck = (fileSystem: FileSystem) => Promise<void>;

/**
 * The versions of the files that a model has read, so that it does not overwrite what other clients have written since.
 * A file that the model has not read, or that is forgotten, can be changed in any version, or only in the first one that
 * `SharedReads` knows. A sandbox without a filesystem has no versions.
 */
export class ReadVersions {
  /** By resolved path. The one read or written longest ago comes first. */
  readonly #known = new Map<string, string>();
  /** The last of the calls queued for each resolved path. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(
    readonly sandbox: FileSandbox,
    /** Names of the tools that the model has. */
    readonly offered: ReadonlySet<string>,
    readonly shared?: ReadsOfFiles,
    readonly maxFiles = shared === undefined ? MAX_FILES : MAX_SHARING_FILES,
  ) {}

  /**
   * Reads a file for the model, and remembers its version from before the read: if it changes during the read, a later
   * change by the model may be refused needlessly, but does not overwrite what the model has not seen. `isRest`: the
   * model reads on in a file, so that it keeps the version that it began with.
   */
  async reading<T>(path: string, call: ToolCallOptions, read: () => Promise<T>, isRest = false): Promise<T> {
    return this.#inTurn([path], true, call, async ([place]) => {
      const version = place && (await versionAt(place, call));
      const result = await read();
      if (place !== undefined && version !== undefined) {
        this.#remember(place.path, isRest ? (this.#known.get(place.path) ?? version) : version);
        this.shared?.reads.add(this.shared.files, place.path, version);
      }
      return result;
    });
  }

  /**
   * Changes the content of a file, under the condition that it is as the model has read it. If the model has not read
   * it, the condition is the version that `SharedReads` knows, if any. `change` returns the new content of the file;
   * undefined if it has written nothing, or if the model does not know all of the content. `given`, here and below: the
   * path as the model wrote it.
   * @throws InputError if the file has changed since, or was moved or deleted
   */
  async writing(
    path: string,
    call: ToolCallOptions,
    change: (condition: VersionOptions) => Promise<string | undefined>,
    given = path,
  ): Promise<void> {
    await this.#inTurn([path], true, call, async ([place]) => {
      const content = await this.#checked(given, place, await this.#knownAt(place), change);
      // The call has succeeded: what follows must not fail because it is aborted.
      if (place !== undefined && content !== undefined) await this.#learn(place, content);
    });
  }

  /**
   * Removes an entry (a link, not its target) under the condition of `writing`. `check` concerns the files under a
   * directory; undefined if no read of them is known.
   * @throws InputError if the entry has changed since, or was moved or deleted
   */
  async removing(
    path: string,
    call: ToolCallOptions,
    remove: (condition: VersionOptions, check: VersionCheck | undefined) => Promise<void>,
    given = path,
  ): Promise<void> {
    await this.#inTurn([path], false, call, async ([place]) => {
      const isIn = (file: string): boolean => place !== undefined && file !== place.path && isWithin(file, place.path);
      const check = place && this.#checkOf(place.sandbox, isIn, call, given === path ? undefined : given);
      const known = await this.#knownAt(place);
      await this.#checked(given, place, known, (condition) => remove(condition, check));
      if (place !== undefined) this.#forgetUnder(place.path);
    });
  }

  /**
   * Moves an entry (a link, not its target) under the condition of `writing`. `check` concerns the file that it
   * replaces; undefined if no read of that file is known.
   * @throws InputError if the entry has changed since, or was moved or deleted
   */
  async moving<T>(
    from: string,
    to: string,
    call: ToolCallOptions,
    move: (condition: VersionOptions, check: VersionCheck | undefined) => Promise<T>,
    given = from,
  ): Promise<T> {
    return this.#inTurn([from, to], false, call, async ([source, target]) => {
      const known = await this.#knownAt(source);
      const before = source && (await statsAt(source, call));
      const isReplacing = target !== undefined && target.path !== source?.path;
      const check = isReplacing ? this.#checkOf(target.sandbox, (file) => file === target.path, call) : undefined;
      const result = await this.#checked(given, source, known, (condition) => move(condition, check));
      if (source === undefined || target === undefined || source.path === target.path) return result;
      this.#forgetUnder(target.path);
      const moved = [...this.#known].filter(([path]) => path !== source.path && isWithin(path, source.path));
      this.#forgetUnder(source.path);
      // The rename of a directory keeps the versions under it; the rename of a file may change its own.
      for (const [path, version] of moved) this.#remember(target.path + path.slice(source.path.length), version);
      const after = known === undefined ? undefined : await statsAt(target, {});
      if (after !== undefined) this.#remember(target.path, isSameContent(before, after) ? after.version : UNSEEN);
      return result;
    });
  }

  /** Returns the version that a file must still have; undefined for any. */
  async #knownAt(place: Place | undefined): Promise<string | undefined> {
    if (place === undefined) return undefined;
    const own = this.#known.get(place.path);
    if (own !== undefined || this.shared === undefined) return own;
    const first = this.shared.reads.get(this.shared.files, place.path);
    // A file that is created anew replaces nothing.
    return first === undefined || (await versionAt(place, {})) === undefined ? undefined : first;
  }

  async #checked<R>(
    path: string,
    place: Place | undefined,
    known: string | undefined,
    change: (condition: VersionOptions) => Promise<R>,
  ): Promise<R> {
    if (place === undefined || known === undefined) return change({});
    try {
      return await change({ ifVersion: known });
    } catch (error) {
      if (isFsError(error, 'ECHANGED')) throw this.#changed(path);
      // The file is gone, so there is nothing left to protect.
      if (isFsError(error, 'ENOENT') && (await statsAt(place, {})) === undefined) {
        this.#known.delete(place.path);
        throw new InputError(
          `${quote(path)} was moved or deleted since you read it, so nothing was done. To create it anew, try again.`,
        );
      }
      throw error;
    }
  }

  /**
   * Returns a check of those files of which a read is known; undefined if there are none. `named`: their name in
   * errors.
   */
  #checkOf(
    sandbox: FileSystemSandbox,
    isChecked: (path: string) => boolean,
    call: ToolCallOptions,
    named?: string,
  ): VersionCheck | undefined {
    const first = this.shared?.reads.of(this.shared.files) ?? [];
    const versions = [...new Map([...first, ...this.#known])].filter(([path]) => isChecked(path));
    if (versions.length === 0) return undefined;
    return async (fileSystem) => {
      for (const [path, version] of versions) {
        const stats = await entryAt(fileSystem, path, call);
        // A file that is gone needs no protection.
        if (stats !== undefined && stats.version !== version)
          throw this.#changed(named ?? shownPath(sandbox, path) ?? path);
      }
    };
  }

  #changed(path: string): InputError {
    const again = this.offered.has('read_file') ? 'Call read_file, then decide again.' : 'Read it again first.';
    return new InputError(`${quote(path)} has changed since you read it, so nothing was done. ${again}`);
  }

  /** Remembers the version of a file that was just written, if it still holds what was written. */
  async #learn(place: Place, content: string): Promise<void> {
    const version = await versionAt(place, {});
    if (version === undefined) return;
    const text = await place.sandbox.fileSystem.readText(place.path).catch(() => undefined);
    this.#remember(place.path, text === content.toWellFormed() ? version : UNSEEN);
  }

  #remember(path: string, version: string): void {
    remember(this.#known, path, version, this.maxFiles);
  }

  #forgetUnder(path: string): void {
    for (const known of this.#known.keys()) if (isWithin(known, path)) this.#known.delete(known);
  }

  /** Returns the place of a path; undefined if the sandbox has no filesystem. */
  async #place(path: string, follow: boolean, call: ToolCallOptions): Promise<Place | undefined> {
    const { sandbox } = this;
    if (!hasFileSystem(sandbox)) return undefined;
    return { sandbox, path: await sandbox.resolve(path, { follow, ...call }) };
  }

  /**
   * Runs the calls for one file, or for a directory and what is under it, one after the other: a model may make several
   * concurrently, and none of them counts as a change by another client.
   */
  async #inTurn<T>(
    paths: readonly string[],
    follow: boolean,
    call: ToolCallOptions,
    work: (places: readonly (Place | undefined)[]) => Promise<T>,
  ): Promise<T> {
    // A path that cannot be resolved is left to the work, which reports it with a better message.
    const places = await Promise.all(paths.map((path) => this.#place(path, follow, call).catch(() => undefined)));
    call.signal?.throwIfAborted();
    const taken = places.flatMap((place) => place?.path ?? []);
    const isBefore = (path: string) => taken.some((own) => isWithin(path, own) || isWithin(own, path));
    const before = [...this.#turns].flatMap(([path, turn]) => (isBefore(path) ? [turn] : []));
    const turn = Promise.all(before).then(() => work(places));
    const settled = turn.catch(() => undefined);
    for (const path of taken) this.#turns.set(path, settled);
    try {
      return await turn;
    } finally {
      for (const path of taken) if (this.#turns.get(path) === settled) this.#turns.delete(path);
    }
  }
}

/** Sets an entry of a map as its newest, and deletes the oldest ones beyond `max`. */
function remember(known: Map<string, string>, key: string, version: string, max: number): void {
  known.delete(key);
  known.set(key, version);
  for (const oldest of known.keys()) {
    if (known.size <= max) break;
    known.delete(oldest);
  }
}

/** Returns the stats of an entry; undefined if they cannot be read. */
async function statsAt({ sandbox, path }: Place, call: ToolCallOptions): Promise<Stats | undefined> {
  return sandbox.fileSystem.lstat(path, call).catch(() => undefined);
}

/** Returns the version of a file; undefined for other entries, and for filesystems that have none. */
async function versionAt(place: Place, call: ToolCallOptions): Promise<string | undefined> {
  const stats = await statsAt(place, call);
  return stats?.isFile() === true && stats.version !== '' ? stats.version : undefined;
}

/** Reports whether a moved file looks unchanged, by its inode, size and mtime. */
function isSameContent(before: Stats | undefined, after: Stats): boolean {
  return before?.ino === after.ino && before.size === after.size && before.mtimeMs === after.mtimeMs;
}
