import { type CallOptions, type Limits, StorageError, systemClock } from '@scratchfs/core';
import { checkInteger, checkOptions } from '@scratchfs/core/internal';
import { hasJournal, hostReadBackend } from '@scratchfs/host/internal-read';
import { PendingAccepts } from './accept/pending-accept.js';
import { StoredApprovals } from './approvals.js';
import { WorkspaceAttempt } from './attempt.js';
import type { Attempt, AttemptInfo } from './attempt-types.js';
import { AttemptIndex, type AttemptRecord, type AttemptStart } from './attempts/attempt-index.js';
import { checkAttemptName } from './attempts/names.js';
import { Lower } from './backend/lower.js';
import { checkBranch, currentHead, gitDirectoryAround } from './branch.js';
import { type CommandVisibility, commandVisibility } from './commands/command-visibility.js';
import { removeCopies, removeIdleCopies } from './commands/copies.js';
import { countChanges } from './delta/changed-paths.js';
import { emptyHead, type Head } from './delta/delta-node.js';
import { WorkspaceError } from './errors.js';
import { WorkspaceEvents } from './events.js';
import { collectGarbage, DEFAULT_GRACE_MS } from './garbage.js';
import { Contents } from './log/contents.js';
import { OperationLog } from './log/operation-log.js';
import { MovedDirectories } from './store/moved-directories.js';
import { WorkspaceStore } from './store/workspace-store.js';
import { HiddenPaths } from './visibility/hidden-paths.js';
import { IgnoredPaths } from './visibility/ignored-paths.js';
import { VisibleBackend } from './visibility/visible-backend.js';
import type { Approvals, GarbageResult, Workspace, WorkspaceEvent, WorkspaceOptions } from './workspace-types.js';

const OPTIONS = ['store', 'durability', 'deny', 'allowSecrets', 'limits', 'live', 'adopt', 'clock'] as const;

/**
 * Opens a directory as a workspace. Attempts hold changes to its files without writing to them (unless `live` is true),
 * steps can be undone, and a person accepts the changes that they want. An attempt shows what the person changes on the
 * disk at paths that it has not changed itself. With `store: 'memory:'` attempts end with `close`.
 * @throws WorkspaceError `refused` if the directory cannot be opened, or if it lies in the store or the store in it;
 *   `foreign-store`, `replaced`; TypeError or RangeError for wrong options; StorageError
 */
export async function openWorkspace(directory: string, options: WorkspaceOptions = {}): Promise<Workspace> {
  const given = checkOptions(options, OPTIONS, 'openWorkspace', false);
  if (given.live !== undefined && typeof given.live !== 'boolean') throw new TypeError('live must be true or false');
  const { store: where, durability, adopt, clock } = given;
  const store = await WorkspaceStore.open(directory, { store: where, durability, adopt, clock });
  try {
    const hidden = new HiddenPaths(given);
    const disk = new VisibleBackend(hostReadBackend(store.directory), hidden);
    // Writes of a killed accept are undone or completed before the directory is read.
    const settle = async (): Promise<void> => {
      if (!hasJournal(store.directory)) return;
      const { recoverDirectory } = await import('@scratchfs/host');
      await recoverDirectory(store.directory);
    };
    return new DirectoryWorkspace(store, new Lower(disk, settle), hidden, given);
  } catch (error) {
    await store.close();
    throw error;
  }
}

class DirectoryWorkspace implements Workspace {
  readonly directory: string;
  readonly isRepository: boolean;
  readonly approvals: Approvals;
  readonly #events: WorkspaceEvents;
  readonly #store: WorkspaceStore;
  readonly #index: AttemptIndex;
  readonly #lower: Lower;
  readonly #hidden: HiddenPaths;
  readonly #readOnly: IgnoredPaths;
  readonly #contents: Contents;
  readonly #clock: () => number;
  readonly #limits: Limits | undefined;
  readonly #commands: CommandVisibility;
  readonly #isInMemory: boolean;
  readonly #isLive: boolean;
  readonly #attempts = new Map<string, Promise<WorkspaceAttempt>>();
  /** Logs of the attempts that were opened. */
  readonly #logs = new Map<string, OperationLog>();
  #isClosed = false;

  constructor(store: WorkspaceStore, lower: Lower, hidden: HiddenPaths, options: WorkspaceOptions) {
    this.directory = store.directory;
    this.isRepository = gitDirectoryAround(this.directory) !== undefined;
    this.#store = store;
    this.#lower = lower;
    this.#hidden = hidden;
    this.#readOnly = new IgnoredPaths(this.directory);
    this.#contents = new Contents(store.fileSystem);
    this.#clock = options.clock ?? systemClock;
    this.#index = new AttemptIndex(store.fileSystem, this.#clock);
    const settled = (): void => this.#events.wake();
    this.approvals = new StoredApprovals(store.fileSystem, this.#clock, () => this.#beforeChange(), settled);
    this.#events = new WorkspaceEvents(store.fileSystem, this.#index, this.approvals);
    this.#limits = options.limits;
    this.#commands = commandVisibility(hidden, options.deny, this.#readOnly);
    this.#isInMemory = options.store === 'memory:';
    this.#isLive = options.live === true;
  }

  async attempts(options: CallOptions & { readonly name?: string | undefined } = {}): Promise<readonly AttemptInfo[]> {
    this.#enter();
    const { name: only, signal } = checkOptions(options, ['name'], 'attempts');
    const current = (await this.#index.current(signal))?.name;
    const infos: AttemptInfo[] = [];
    const found = only === undefined ? await this.#index.list(signal) : [await this.#index.find(only, signal)];
    const records = found.filter((record) => record !== undefined);
    for (const record of records) {
      const { name, state, createdAt, parent, live } = record;
      infos.push({
        name,
        state,
        createdAt,
        ...(await this.#progressOf(record, signal)),
        ...(parent && { parent }),
        ...(live && { live }),
        current: name === current,
      });
    }
    return infos;
  }

  async #progressOf(
    { name, state, createdAt }: AttemptRecord,
    signal: AbortSignal | undefined,
  ): Promise<Pick<AttemptInfo, 'changedAt' | 'head' | 'changedPaths'>> {
    try {
      const opened = this.#logs.get(name);
      const log =
        opened ?? (await OperationLog.open(this.#store.fileSystem, folderOf(name), name, await this.#emptyHead()));
      const { head, last } = opened === undefined ? log.state : await opened.catchUp({ signal });
      const changedAt = last === 0 ? createdAt : (await log.record(last)).operation.at;
      return { changedAt, head: last, changedPaths: countChanges(head) };
    } catch (error) {
      // Garbage collection may have deleted a part of the log.
      const isIncomplete =
        (error instanceof StorageError && error.kind === 'corrupt') ||
        (error instanceof WorkspaceError && error.code === 'not-found');
      if (state === 'discarded' && isIncomplete) return { changedAt: createdAt, head: 0, changedPaths: 0 };
      throw error;
    }
  }

  async createAttempt(name?: string, options: CallOptions = {}): Promise<Attempt> {
    this.#enter();
    checkOptions(options, [], 'createAttempt');
    return this.#create(await this.#emptyHead(), undefined, name, options);
  }

  async #create(
    head: Head,
    parent: AttemptStart['parent'],
    name: string | undefined,
    { signal }: CallOptions = {},
  ): Promise<WorkspaceAttempt> {
    if (name !== undefined) checkAttemptName(name);
    await this.#beforeChange();
    // A fork is never live.
    const isLive = this.#isLive && parent === undefined;
    const start: AttemptStart = { parent, head: currentHead(this.directory), ...(isLive && { live: true }) };
    const created = await this.#index.create(name, start, signal, (target, chosen) =>
      OperationLog.begin(target, folderOf(chosen), head),
    );
    // A fork becomes the current attempt only by switchTo().
    if (parent === undefined && !isLive) await this.#index.offer(created.name, signal);
    this.#events.wake();
    return this.#open(created.name, start);
  }

  async attempt(name?: string, options: CallOptions = {}): Promise<Attempt> {
    this.#enter();
    checkOptions(options, [], 'attempt');
    const { signal } = options;
    if (name === undefined && this.#isLive) return this.#live(signal);
    const found = name === undefined ? await this.#index.current(signal) : await this.#index.get(name, signal);
    if (found !== undefined) return this.#open(found.name, found);
    const next = await this.#index.nextName(this.directory, signal);
    return this.#open(next, undefined);
  }

  /**
   * Returns the attempt called `live`, or `live-2` … if that was discarded or is not a live one. It need not exist yet.
   */
  async #live(signal: AbortSignal | undefined): Promise<Attempt> {
    for (let count = 1; ; count++) {
      const name = count === 1 ? 'live' : `live-${count}`;
      const found = await this.#index.find(name, signal);
      if (found === undefined) return this.#open(name, undefined);
      if (found.state === 'open' && found.live === true) return this.#open(name, found);
    }
  }

  async switchTo(name: string, options: CallOptions = {}): Promise<void> {
    this.#enter();
    checkOptions(options, [], 'switchTo');
    await this.#events.begun();
    await this.#index.switchTo(name, options.signal);
    this.#events.wake();
  }

  events(options: CallOptions = {}): AsyncIterable<WorkspaceEvent> {
    this.#enter();
    return this.#events.listen(checkOptions(options, [], 'events').signal);
  }

  async gc(given: CallOptions & { readonly graceMs?: number | undefined } = {}): Promise<GarbageResult> {
    this.#enter();
    const { graceMs = DEFAULT_GRACE_MS, signal } = checkOptions(given, ['graceMs'], 'gc');
    checkInteger(graceMs, 'graceMs', 0);
    // The workspace's clock does not set the times of files in the store.
    const now = systemClock();
    await removeIdleCopies(this.directory, now);
    const options = { now, approvalsNow: this.#clock(), graceMs, signal };
    return collectGarbage(this.#store.fileSystem, this.#index, options);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#events.close();
    for (const attempt of this.#attempts.values()) await attempt.then((one) => one.close()).catch(() => undefined);
    // The attempts end with their store, so no command can use the copies again.
    if (this.#isInMemory) for (const name of this.#attempts.keys()) await removeCopies(this.directory, name);
    await this.#store.close();
    await this.#lower.backend.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Prepares a change that may create the store. */
  async #beforeChange(): Promise<void> {
    this.#enter();
    await this.#events.begun();
    await this.#store.claim();
  }

  #enter(): void {
    if (this.#isClosed) throw new WorkspaceError('closed', 'The workspace is closed');
  }

  /** @param start what the attempt began with; undefined if it is created at its first change */
  #open(name: string, start: AttemptStart | undefined): Promise<WorkspaceAttempt> {
    const known = this.#attempts.get(name);
    if (known !== undefined) return known;
    const opened = this.#opened(name, start);
    this.#attempts.set(name, opened);
    opened.catch(() => this.#attempts.delete(name));
    return opened;
  }

  async #opened(name: string, given: AttemptStart | undefined): Promise<WorkspaceAttempt> {
    const empty = await this.#emptyHead();
    const log = await OperationLog.open(this.#store.fileSystem, folderOf(name), name, empty, () => this.#events.wake());
    this.#logs.set(name, log);
    let start = given;
    const isLive = given === undefined ? this.#isLive : given.live === true;
    const checkStarted = async ({
      signal,
      isGuarded = false,
    }: CallOptions & { readonly isGuarded?: boolean }): Promise<void> => {
      if (start === undefined) return;
      if (!isGuarded && (await this.#index.isDiscarded(name, signal)))
        throw new WorkspaceError('closed', `The attempt ${name} was discarded. Work in another one, or start one`);
      // A live attempt has no changes of its own that belong to a branch.
      if (isLive) return;
      try {
        checkBranch(name, start.head, this.directory);
      } catch {
        // Another process may have assigned the attempt to another branch.
        start = await this.#index.get(name, signal);
        checkBranch(name, start.head, this.directory);
      }
    };
    return new WorkspaceAttempt({
      name,
      lower: this.#lower,
      contents: this.#contents,
      log,
      clock: this.#clock,
      hidden: this.#hidden,
      readOnly: this.#readOnly,
      directory: this.directory,
      isLive,
      checkLive: () => {
        if (!isLive || this.#isLive) return;
        throw new WorkspaceError(
          'refused',
          `The attempt ${name} writes to the disk at once, and this workspace was opened without live: true. Work in ` +
            'another attempt, or fork it',
        );
      },
      pending: new PendingAccepts(this.#store.fileSystem, `${folderOf(name)}/accept`, this.directory),
      moves: new MovedDirectories(this.#store.fileSystem),
      limits: this.#limits,
      discarded: AttemptIndex.discardedPath(name),
      checkOpen: async ({ signal, isGuarded = false }) => {
        this.#enter();
        this.#store.check();
        await this.#events.begun();
        if (start === undefined) {
          const begun: AttemptStart = { head: currentHead(this.directory), ...(isLive && { live: true }) };
          await this.#beforeChange();
          await this.#index.ensure(name, begun, signal, (target) => OperationLog.begin(target, folderOf(name), empty));
          start = await this.#index.get(name, signal);
          if (isLive !== (start.live === true))
            throw new WorkspaceError('moved', `Another process has created an attempt ${name}: open it again`);
        }
        await checkStarted({ signal, isGuarded });
      },
      checkStarted,
      fork: (head, parent, chosen) => this.#create(head, parent, chosen),
      discard: async ({ signal }) => {
        if (start === undefined) return;
        await this.#events.begun();
        await this.#index.discard(name, signal);
        this.#events.wake();
        await removeCopies(this.directory, name);
      },
      takeAlong: async ({ signal }) => {
        if (start === undefined) return;
        this.#store.check();
        start = { parent: start.parent, head: currentHead(this.directory) };
        await this.#index.update(name, start, signal);
      },
      commands: this.#commands,
    });
  }

  async #emptyHead(): Promise<Head> {
    const [records] = await this.#lower.paths(['/']);
    const root = records?.[0];
    if (!root) throw new WorkspaceError('replaced', `The directory ${this.directory} is gone`);
    return emptyHead(root);
  }
}

const folderOf = AttemptIndex.directoryOf;
