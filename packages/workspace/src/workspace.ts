import { createHash } from 'node:crypto';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { type CallOptions, type FileSystem, isFsError, quote, systemClock } from '@scratchfs/core';
import { checkOptions } from '@scratchfs/core/internal';
import { DiskStorage } from '@scratchfs/disk';
import { hostReadBackend } from '@scratchfs/host/internal';
import { MemoryStorage } from '@scratchfs/memory';
import { createFileSystem } from 'scratchfs';
import { PendingAccepts } from './accept/pending-accept.js';
import { WorkspaceAttempt } from './attempt.js';
import type { Attempt, AttemptInfo } from './attempt-types.js';
import { checkAttemptName, randomAttemptName } from './attempts/names.js';
import { Lower } from './backend/lower.js';
import { changedPaths } from './delta/changed-paths.js';
import { emptyHead, type Head } from './delta/delta-node.js';
import { WorkspaceError } from './errors.js';
import { Contents } from './log/contents.js';
import { OperationLog } from './log/operation-log.js';
import { seal, unseal } from './log/operation-record.js';
import type { Approvals, GarbageResult, Workspace, WorkspaceEvent, WorkspaceOptions } from './workspace-types.js';

const OPTIONS = ['store', 'durability', 'deny', 'allowSecrets', 'limits', 'live', 'clock'] as const;

/**
 * Opens a directory as a workspace: attempts change it without touching it, each step can be undone, and a person
 * accepts what they like. What the person changes on the disk meanwhile is seen at once. With `store: 'memory:'` nothing
 * outlives the process.
 * @throws FsError ENOENT, ENOTDIR; WorkspaceError `foreign-store`; TypeError for unknown options
 */
export async function openWorkspace(directory: string, options: WorkspaceOptions = {}): Promise<Workspace> {
  const given = checkOptions(options, OPTIONS, 'openWorkspace', false);
  const lower = hostReadBackend(directory);
  try {
    const path = realpathSync(directory);
    const { store, close } = await openStore(path, given);
    return new DirectoryWorkspace(path, store, close, new Lower(lower), given);
  } catch (error) {
    await lower.close();
    throw error;
  }
}

/** Content of the file `attempt` of an attempt. */
interface AttemptFile {
  readonly createdAt: number;
  readonly parent?: { readonly attempt: string; readonly operation: number } | undefined;
  readonly state: 'open' | 'discarded';
}

class DirectoryWorkspace implements Workspace {
  readonly directory: string;
  readonly isRepository: boolean;
  readonly #store: FileSystem;
  readonly #closeStore: () => Promise<void>;
  readonly #lower: Lower;
  readonly #contents: Contents;
  readonly #clock: () => number;
  readonly #attempts = new Map<string, Promise<WorkspaceAttempt>>();
  #unborn: Promise<WorkspaceAttempt> | undefined;
  #isClosed = false;

  constructor(
    directory: string,
    store: FileSystem,
    closeStore: () => Promise<void>,
    lower: Lower,
    options: WorkspaceOptions,
  ) {
    this.directory = directory;
    this.isRepository = isInRepository(directory);
    this.#store = store;
    this.#closeStore = closeStore;
    this.#lower = lower;
    this.#contents = new Contents(store);
    this.#clock = options.clock ?? systemClock;
  }

  async attempts(options: CallOptions = {}): Promise<readonly AttemptInfo[]> {
    this.#enter();
    checkOptions(options, [], 'attempts');
    const names = await this.#store.readdir('/attempts', options).catch(unlessMissing<string[]>([]));
    const current = await this.#current(options);
    const infos: AttemptInfo[] = [];
    for (const name of names) {
      const file = await this.#file(name, options);
      if (file === undefined) continue;
      const log = await OperationLog.open(this.#store, folderOf(name), name, await this.#emptyHead());
      const { head, last } = log.state;
      infos.push({
        name,
        state: file.state,
        createdAt: file.createdAt,
        changedAt: last === 0 ? file.createdAt : await log.record(last).then(({ operation }) => operation.at),
        head: last,
        changedPaths: changedPaths(head).length,
        ...(file.parent && { parent: file.parent }),
        current: name === current,
      });
    }
    return infos;
  }

  async createAttempt(name?: string, options: CallOptions = {}): Promise<Attempt> {
    this.#enter();
    checkOptions(options, [], 'createAttempt');
    return this.#create(await this.#emptyHead(), undefined, name);
  }

  async #create(head: Head, parent: AttemptFile['parent'], name?: string): Promise<WorkspaceAttempt> {
    if (name !== undefined) checkAttemptName(name);
    for (;;) {
      const chosen = name ?? randomAttemptName();
      if (await this.#begin(chosen, head, parent)) return this.#open(chosen);
      if (name !== undefined)
        throw new WorkspaceError('exists', `There is an attempt ${quote(name)} already: choose another name`);
    }
  }

  /** Creates an attempt in the store. Returns false if the name is taken. */
  async #begin(name: string, head: Head, parent: AttemptFile['parent']): Promise<boolean> {
    const folder = folderOf(name);
    if (!(await OperationLog.begin(this.#store, folder, head))) return false;
    const file: AttemptFile = { createdAt: this.#clock(), parent, state: 'open' };
    await this.#store.writeFile(`${folder}/attempt`, seal(file), { flag: 'wx' });
    await this.#store.writeFile('/current', name, { flag: 'wx' }).catch((error: unknown) => {
      if (!isFsError(error, 'EEXIST')) throw error;
    });
    return true;
  }

  async attempt(name?: string, options: CallOptions = {}): Promise<Attempt> {
    this.#enter();
    checkOptions(options, [], 'attempt');
    const wanted = name ?? (await this.#current(options));
    if (wanted === undefined) {
      this.#unborn ??= this.#open(randomAttemptName(), true);
      return this.#unborn;
    }
    if ((await this.#file(checkAttemptName(wanted), options)) === undefined)
      throw new WorkspaceError('not-found', `There is no attempt ${quote(wanted)}`);
    return this.#open(wanted);
  }

  async switchTo(name: string, options: CallOptions = {}): Promise<void> {
    this.#enter();
    checkOptions(options, [], 'switchTo');
    await this.attempt(name, options);
    await this.#store.writeFile('/current', name, options);
  }

  get approvals(): Approvals {
    throw new WorkspaceError('refused', 'approvals are not there yet');
  }

  events(): AsyncIterable<WorkspaceEvent> {
    throw new WorkspaceError('refused', 'events are not there yet');
  }

  async gc(): Promise<GarbageResult> {
    throw new WorkspaceError('refused', 'gc is not there yet');
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const attempt of this.#attempts.values()) await attempt.then((one) => one.close()).catch(() => undefined);
    await this.#closeStore();
    await this.#lower.backend.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #enter(): void {
    if (this.#isClosed) throw new WorkspaceError('closed', 'The workspace is closed');
  }

  #open(name: string, isUnborn = false): Promise<WorkspaceAttempt> {
    const known = this.#attempts.get(name);
    if (known !== undefined) return known;
    const opened = this.#opened(name, isUnborn);
    this.#attempts.set(name, opened);
    opened.catch(() => this.#attempts.delete(name));
    return opened;
  }

  async #opened(name: string, isUnborn: boolean): Promise<WorkspaceAttempt> {
    const empty = await this.#emptyHead();
    const log = await OperationLog.open(this.#store, folderOf(name), name, empty);
    let isBorn = !isUnborn;
    return new WorkspaceAttempt({
      name,
      lower: this.#lower,
      contents: this.#contents,
      log,
      clock: this.#clock,
      directory: this.directory,
      pending: new PendingAccepts(this.#store, `${folderOf(name)}/accept`, this.directory),
      checkOpen: async (options) => {
        this.#enter();
        if (!isBorn) await this.#begin(name, empty, undefined);
        isBorn = true;
        if ((await this.#file(name, options))?.state === 'discarded')
          throw new WorkspaceError('closed', `The attempt ${name} was discarded`);
      },
      fork: (head, parent, chosen) => this.#create(head, parent, chosen),
      discard: (options) => this.#discard(name, options),
    });
  }

  async #discard(name: string, options: CallOptions): Promise<void> {
    const file = await this.#file(name, options);
    if (file === undefined) return;
    await this.#store.writeFile(`${folderOf(name)}/attempt`, seal({ ...file, state: 'discarded' }), options);
    if ((await this.#current(options)) === name) await this.#store.rm('/current', { ...options, force: true });
  }

  async #current(options: CallOptions): Promise<string | undefined> {
    return this.#store.readText('/current', options).catch(unlessMissing(undefined));
  }

  async #file(name: string, options: CallOptions): Promise<AttemptFile | undefined> {
    const text = await this.#store.readText(`${folderOf(name)}/attempt`, options).catch(unlessMissing(undefined));
    return text === undefined ? undefined : (unseal(text, `The attempt ${name}`) as unknown as AttemptFile);
  }

  async #emptyHead(): Promise<Head> {
    const [records] = await this.#lower.paths(['/']);
    const root = records?.[0];
    if (!root) throw new WorkspaceError('replaced', `The directory ${this.directory} is gone`);
    return emptyHead(root);
  }
}

async function openStore(
  directory: string,
  { store, durability = 'process' }: WorkspaceOptions,
): Promise<{ readonly store: FileSystem; readonly close: () => Promise<void> }> {
  if (typeof store === 'object') return { store, close: async () => undefined };
  if (store === 'memory:') return closing(createFileSystem({ storage: new MemoryStorage() }));
  if (typeof store === 'string') return closing(await createFileSystem({ storage: store }));
  const state = process.env['XDG_STATE_HOME'];
  const parent = join(state && isAbsolute(state) ? state : join(homedir(), '.local', 'state'), 'scratchfs');
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const id = createHash('sha256').update(directory).digest('hex').slice(0, 32);
  const storage = new DiskStorage(parent, { name: id, durability });
  return closing(await createFileSystem({ storage, closesStorage: true }));
}

function closing(store: FileSystem): { readonly store: FileSystem; readonly close: () => Promise<void> } {
  return { store, close: () => store.close() };
}

function folderOf(name: string): string {
  return `/attempts/${name}`;
}

function unlessMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (isFsError(error, 'ENOENT')) return value;
    throw error;
  };
}

function isInRepository(directory: string): boolean {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, '.git')) && statSync(join(at, '.git'), { throwIfNoEntry: false }) !== undefined)
      return true;
    if (dirname(at) === at) return false;
  }
}
