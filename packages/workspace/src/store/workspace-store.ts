import { realpathSync, statSync } from 'node:fs';
import { type FileSystem, fileSystemOn, isStorageError, quote, systemClock } from '@scratchfs/core';
import { checkFileSystem, withoutPassword } from '@scratchfs/core/internal';
import { DiskStorage } from '@scratchfs/disk';
import { createFileSystem, openStorage } from 'scratchfs';
import { WorkspaceError } from '../errors.js';
import type { WorkspaceOptions } from '../workspace-types.js';
import { type DirectoryIdentity, identityOf, isSameDirectory } from './identity.js';
import { exists, locationOfUrl, overlaps, storeLocation } from './location.js';
import { createRecord, encodeRecord, readRecord } from './records.js';
import { unborn } from './unborn.js';

const RECORD = '/workspace';

/** Location of a store that the caller has opened. */
const GIVEN = 'a filesystem';

/** Record of the directory that a store belongs to. */
interface WorkspaceRecord extends DirectoryIdentity {
  /** Real path of the directory. */
  readonly directory: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

export type StoreOptions = Pick<WorkspaceOptions, 'store' | 'durability' | 'adopt' | 'clock'>;

/**
 * The store of a directory, and the check that both belong together. Opening it does not create a store on the disk:
 * {@link WorkspaceStore.claim} does, before the first write.
 */
export class WorkspaceStore {
  /** Real path of the directory. */
  readonly directory: string;
  /**
   * Files of the store. A store on the disk that does not exist yet is empty and read-only until `claim` is called, or
   * another process creates it.
   */
  readonly fileSystem: FileSystem;
  /** Path or URL for a message. */
  readonly location: string;
  readonly #identity: DirectoryIdentity;
  readonly #clock: () => number;
  readonly #opened: Opened;
  #claimed: Promise<void> | undefined;

  private constructor(directory: string, identity: DirectoryIdentity, opened: Opened, clock: () => number) {
    this.directory = directory;
    this.fileSystem = opened.fileSystem;
    this.location = opened.location;
    this.#identity = identity;
    this.#opened = opened;
    this.#clock = clock;
  }

  /**
   * Opens the store of a directory.
   * @throws WorkspaceError `refused` if the directory cannot be opened, or the store would lie in it or it in the
   *   store; `foreign-store`, `replaced`; TypeError for wrong arguments; StorageError
   */
  static async open(directory: string, options: StoreOptions = {}): Promise<WorkspaceStore> {
    const { path, identity } = realDirectory(directory);
    const opened = await openedStore(path, options);
    const store = new WorkspaceStore(path, identity, opened, options.clock ?? systemClock);
    try {
      await store.#verify(options.adopt === true);
      return store;
    } catch (error) {
      await store.close();
      throw foreign(error, opened.location);
    }
  }

  /**
   * Checks that the directory is still the one that was opened. Costs one `stat`.
   * @throws WorkspaceError `replaced`
   */
  check(): void {
    const now = identityOf(this.directory);
    if (now !== undefined && isSameDirectory(now, this.#identity)) return;
    const what =
      now === undefined ? 'no longer exists' : 'is another directory than the one that was opened: it was replaced';
    throw new WorkspaceError(
      'replaced',
      `${quote(this.directory)} ${what}. Nothing was changed, and what the attempts have changed is kept in the store. ` +
        'Put the directory back, or open the workspace again',
    );
  }

  /**
   * Records which directory the store belongs to, unless that is recorded already. Must be called before the first
   * write.
   */
  claim(): Promise<void> {
    this.#claimed ??= this.#claim().catch((error: unknown) => {
      this.#claimed = undefined;
      throw foreign(error, this.location);
    });
    return this.#claimed;
  }

  /** Closes the store, unless the caller has given it as a filesystem. */
  close(): Promise<void> {
    return this.#opened.close();
  }

  async #claim(): Promise<void> {
    this.check();
    this.#opened.create?.();
    // Another process may have been faster: then its record has to be of the same directory.
    if (!(await createRecord(this.fileSystem, RECORD, this.#record(this.#clock())))) await this.#verify(false);
  }

  async #verify(adopt: boolean): Promise<void> {
    const record = await readRecord<WorkspaceRecord>(this.fileSystem, RECORD);
    if (record === undefined) return;
    if (record.directory !== this.directory) {
      throw new WorkspaceError(
        'foreign-store',
        `The store ${this.location === GIVEN ? 'that was given' : quote(this.location)} belongs to the workspace ${quote(record.directory)}, not to ` +
          `${quote(this.directory)}: give each workspace a store of its own`,
      );
    }
    if (isSameDirectory(record, this.#identity)) return;
    if (!adopt) {
      throw new WorkspaceError(
        'replaced',
        `Another directory lies at ${quote(this.directory)} than the one that its store belongs to: it was created ` +
          'again, restored from a backup or cloned. If it is the same project, say so with: scratchfs doctor --adopt. ' +
          `If not, use another store, or move this one away: ${quote(this.location)}`,
      );
    }
    await this.fileSystem.writeFile(RECORD, encodeRecord(this.#record(record.createdAt)));
  }

  #record(createdAt: number): WorkspaceRecord {
    return { directory: this.directory, ...this.#identity, createdAt };
  }
}

interface Opened {
  readonly fileSystem: FileSystem;
  readonly location: string;
  /** Lets the next write create the store. */
  readonly create?: () => void;
  readonly close: () => Promise<void>;
}

function realDirectory(directory: string): { readonly path: string; readonly identity: DirectoryIdentity } {
  if (typeof directory !== 'string' || directory === '' || directory.includes('\0'))
    throw new TypeError('The directory of a workspace must be a path, not empty and without NUL');
  let path: string;
  try {
    path = realpathSync(directory);
    if (!statSync(path).isDirectory()) throw new Error('it is not a directory');
  } catch (cause) {
    throw new WorkspaceError(
      'refused',
      `${quote(directory)} cannot be opened as a workspace: it has to be an existing directory`,
      {
        cause,
      },
    );
  }
  const identity = identityOf(path);
  if (identity === undefined) throw new WorkspaceError('replaced', `${quote(path)} was removed while it was opened`);
  return { path, identity };
}

async function openedStore(directory: string, { store, durability }: StoreOptions): Promise<Opened> {
  if (durability !== undefined && durability !== 'process' && durability !== 'fsync')
    throw new TypeError(`durability must be "process" or "fsync", not ${quote(String(durability))}`);
  if (store !== undefined && typeof store !== 'string')
    return { fileSystem: checkFileSystem(store, 'store'), location: GIVEN, close: async () => {} };
  if (store === 'memory:') {
    const fileSystem = createFileSystem();
    return { fileSystem, location: store, close: () => fileSystem.close() };
  }
  const location = store === undefined ? storeLocation(directory) : locationOfUrl(store);
  if (location !== undefined) checkApart(directory, location.parent);
  const storage =
    store === undefined && location !== undefined
      ? new DiskStorage(location.parent, { name: location.id, durability: durability ?? 'process' })
      : await openStorage(store ?? '');
  const fileSystem = fileSystemOn(storage);
  let isClaimed = false;
  return {
    fileSystem:
      location === undefined || exists(location)
        ? fileSystem
        : unborn(fileSystem, await emptyFileSystem(), () => isClaimed || exists(location)),
    location: location?.path ?? withoutPassword(store ?? ''),
    create: () => {
      isClaimed = true;
    },
    close: async () => {
      await fileSystem.close();
      await storage.close();
    },
  };
}

async function emptyFileSystem(): Promise<FileSystem> {
  const { readonly } = await import('@scratchfs/core/layers');
  return readonly(createFileSystem());
}

/** Refuses a store that overlaps with the directory: the agent could change it, and attempts would show its files. */
function checkApart(directory: string, store: string): void {
  if (!overlaps(directory, store)) return;
  throw new WorkspaceError(
    'refused',
    `The store ${quote(store)} and the directory ${quote(directory)} must not lie in each other: open a directory of ` +
      'the project, or put the store elsewhere (the environment variable XDG_STATE_HOME, or the option store)',
  );
}

/** Turns the refusal of a storage, such as one of another user or version, into the error of a workspace. */
function foreign(error: unknown, location: string): unknown {
  if (!isStorageError(error) || (error.kind !== 'denied' && error.kind !== 'unsupported' && error.kind !== 'version'))
    return error;
  const next = error.kind === 'denied' ? '. Set XDG_STATE_HOME, or use another store' : '';
  return new WorkspaceError('foreign-store', `The store ${quote(location)} cannot be used: ${error.message}${next}`, {
    cause: error,
  });
}
