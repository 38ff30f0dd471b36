import {
  asyncStorage,
  type CallOptions,
  compareNames,
  type FileSystem,
  fileSystemOn,
  isFsError,
  isWithin,
  joinPath,
  type Limits,
  normalizePath,
  parentPath,
  pathSegments,
  quote,
} from '@scratchfs/core';
import { checkInteger, checkOptions } from '@scratchfs/core/internal';
import { type AcceptParts, listOf } from './accept/accept-parts.js';
import { AcceptContents, type RemovedConflict, removedConflicts } from './accept/attempt-changes.js';
import { inverseChanges } from './accept/disk-changes.js';
import { followedHead } from './accept/followed-directories.js';
import { withLinkedNames } from './accept/linked-names.js';
import { mayConflict } from './accept/may-conflict.js';
import type { PendingAccepts } from './accept/pending-accept.js';
import type {
  AcceptOptions,
  AcceptResult,
  Attempt,
  AttemptDiff,
  AttemptDiffOptions,
  LabelledOptions,
  LabelledResult,
  LogOptions,
  LogPage,
  OperationRef,
  OperationResult,
  RefreshedOperation,
  RefreshOptions,
  RefreshResult,
  RunOptions,
  RunResult,
} from './attempt-types.js';
import { AttemptBackend } from './backend/attempt-backend.js';
import type { Lower } from './backend/lower.js';
import { type OperationContext, operationContext } from './backend/operation-context.js';
import { ViewBackend } from './backend/view-backend.js';
import type { CommandVisibility } from './commands/command-visibility.js';
import { copiesOf } from './commands/copies.js';
import { changedPaths } from './delta/changed-paths.js';
import { type Head, NO_NAMES } from './delta/delta-node.js';
import { applyChanges, changesBetween, type HeadChanges, inverse } from './delta/head-changes.js';
import { oldNamesUnder, restorablePath, restoredPath } from './delta/restored-path.js';
import { conflictsUnder, headWithHidden, isTold, settledHead } from './delta/settled.js';
import { attemptDiff } from './diff/attempt-diff.js';
import { diskDiffs, withText } from './diff/path-diffs.js';
import { WorkspaceError } from './errors.js';
import type { Contents } from './log/contents.js';
import { describeChanges } from './log/describe-changes.js';
import { effectOnDisk } from './log/effect-on-disk.js';
import { type NewOperation, type OperationLog, versionFor } from './log/operation-log.js';
import type { OperationRecord } from './log/operation-record.js';
import type { Conflict, EntryState, Operation, OperationLabel } from './operation.js';
import { isChangedAt, Refresher } from './refresh/refresher.js';
import type { MovedDirectories } from './store/moved-directories.js';
import type { HiddenPaths } from './visibility/hidden-paths.js';
import { type ReadOnlyPaths, VisibleBackend } from './visibility/visible-backend.js';

/**
 * Deadline of a call to the backend, in milliseconds: an hour. Work on a large directory takes long, and giving up
 * early gains nothing.
 */
const TIMEOUT_MS = 3_600_000;

/** Parts that a workspace gives to an attempt. */
export interface AttemptParts {
  readonly name: string;
  readonly lower: Lower;
  readonly contents: Contents;
  readonly log: OperationLog;
  readonly clock: () => number;
  readonly hidden: HiddenPaths;
  /** Directories that can only be read. */
  readonly readOnly: ReadOnlyPaths;
  /** Path of the directory on the disk. */
  readonly directory: string;
  readonly pending: PendingAccepts;
  readonly moves: MovedDirectories;
  /** True if each operation is written to the disk in the same call. */
  readonly isLive: boolean;
  /** Limits of what the attempt adds to the directory. */
  readonly limits?: Limits | undefined;
  /**
   * Creates the attempt if it does not exist yet. Throws if it cannot be changed now, for example because it was
   * discarded, HEAD names another branch or the directory was replaced. With `isGuarded` it may not notice a discard:
   * the caller then checks that {@link AttemptParts.discarded} does not exist in the step in which it stores something.
   */
  readonly checkOpen: (options: CallOptions & { readonly isGuarded?: boolean }) => Promise<void>;
  /** Path in the store that exists if the attempt was discarded. */
  readonly discarded: string;
  /** Throws if the attempt is live and the workspace was opened without `live: true`. */
  readonly checkLive: () => void;
  /**
   * Throws if the attempt was discarded or, unless it is live, HEAD names another branch. Does nothing if it does not
   * exist yet.
   */
  readonly checkStarted: (options: CallOptions) => Promise<void>;
  /** Creates an attempt that begins with a head. */
  readonly fork: (head: Head, parent: { attempt: string; operation: number }, name?: string) => Promise<Attempt>;
  readonly discard: (options: CallOptions) => Promise<void>;
  /** Assigns the attempt to the branch that HEAD names now. */
  readonly takeAlong: (options: CallOptions) => Promise<void>;
  readonly commands: CommandVisibility;
}

/**
 * Maximum number of earlier paths that are kept when others are told. A forgotten conflict must be told again before a
 * write settles it.
 */
const MAX_TOLD = 1_000;

const TEXTS = ['actor', 'tool', 'summary'] as const;

export class WorkspaceAttempt implements Attempt {
  readonly name: string;
  readonly fileSystem: FileSystem;
  readonly #parts: AttemptParts;
  readonly #backend: AttemptBackend;
  /**
   * The disk's state at each path of a conflict that the caller was told of. The map is replaced and not changed,
   * because running calls keep it.
   */
  #told: ReadonlyMap<string, EntryState | null> = new Map();
  readonly #isOfClient: boolean;

  /** @param shared object for the same attempt, whose backend and filesystem this one uses for another client */
  constructor(parts: AttemptParts, shared?: WorkspaceAttempt) {
    this.name = parts.name;
    this.#parts = parts;
    this.#isOfClient = shared !== undefined;
    if (shared !== undefined) {
      this.#backend = shared.#backend;
      this.fileSystem = shared.fileSystem;
      return;
    }
    const { lower, contents, log, name, clock } = parts;
    this.#backend = new AttemptBackend({
      lower,
      contents,
      log,
      name,
      clock,
      refresher: new Refresher(lower, contents),
      limits: parts.limits,
      follow: (head, options, isWanted) => followedHead(head, lower, parts.moves, options, isWanted),
      settle: async () => (await accepting()).settleAccepts(this.#acceptParts, headAfterMove),
      whileUnwritten: (reads, work, options) => parts.pending.whileUnwritten(reads, work, options),
      checkWritable: async (isGuarded) => {
        try {
          parts.checkLive();
          await parts.checkOpen({ isGuarded });
        } catch (error) {
          const context = operationContext.getStore();
          if (context !== undefined && error instanceof WorkspaceError) context.refusal = error;
          throw error;
        }
      },
      guards: this.#guards,
      ...(parts.isLive && {
        writeThrough: async (next, operation) => (await live()).writeThrough(this.#acceptParts, next, operation),
      }),
    });
    const visible = new VisibleBackend(this.#backend, parts.hidden, parts.readOnly);
    this.fileSystem = fileSystemOn(asyncStorage(visible, { timeoutMs: TIMEOUT_MS, retries: 0, clock }), {
      clock,
    });
  }

  async operation<T>(
    label: OperationLabel,
    work: (fileSystem: FileSystem) => Promise<T>,
    options: CallOptions = {},
  ): Promise<OperationResult<T>> {
    checkOptions(options, [], 'operation');
    const { value, context } = await this.#operation(this.#contextOf(label), work, options);
    return { value, operation: context.operations.at(-1), refreshed: this.#tell(context) };
  }

  async #operation<T>(
    context: OperationContext,
    work: (fileSystem: FileSystem) => Promise<T>,
    options: CallOptions,
  ): Promise<{ readonly value: T; readonly context: OperationContext }> {
    const value = await operationContext.run(context, () => this.fileSystem.transaction(work, options));
    return { value, context };
  }

  /**
   * Returns what a call's comparison with the disk found. Records its conflicts as told, unless this is the object of a
   * client.
   */
  #tell(context: OperationContext): RefreshResult {
    const refreshed = refreshedIn(context);
    this.#know(refreshed.conflicts);
    return refreshed;
  }

  #know(conflicts: readonly Conflict[]): void {
    if (!this.#isOfClient) this.markTold(conflicts);
  }

  markTold(conflicts: readonly Conflict[]): void {
    if (conflicts.length === 0) return;
    const told = new Map(conflicts.map(({ path, disk }) => [path, disk]));
    // A path that is told again moves to the end, because the oldest are forgotten.
    this.#told = new Map([...[...this.#told].filter(([path]) => !told.has(path)).slice(-MAX_TOLD), ...told]);
  }

  forClient(): Attempt {
    return new WorkspaceAttempt(this.#parts, this);
  }

  async labelled<T>(
    label: OperationLabel,
    work: () => Promise<T>,
    options: LabelledOptions = {},
  ): Promise<LabelledResult<T>> {
    const { isSingleCall = false, paths = [], signal } = checkOptions(options, ['isSingleCall', 'paths'], 'labelled');
    const touched = paths.map((path) => normalizePath(path));
    const context = { ...this.#contextOf(label), ...(isSingleCall && { looked: new Set<object>() }) };
    const value = await operationContext.run(context, async () => {
      if (touched.length > 0) await this.#refreshedBefore(touched, { signal });
      return work();
    });
    if (context.refusal !== undefined && context.operations.length === 0) throw context.refusal;
    return { value, operations: context.operations, refreshed: refreshedIn(context) };
  }

  /** Compares paths with the disk before a call. A failure is ignored, unless the signal has aborted. */
  async #refreshedBefore(paths: readonly string[], options: CallOptions): Promise<void> {
    const { log } = this.#parts;
    try {
      const { head } = await log.catchUp(options);
      operationContext.getStore()?.looked?.add(log);
      if ((head.root.names?.size ?? 0) === 0) return;
      await this.#refreshedIfChanged(paths, options);
      // Symlinks, in the path or at its end, lead to another path.
      const real = await Promise.all(paths.map((path) => realPathOf(this.fileSystem, path, options)));
      await this.#refreshedIfChanged(
        real.filter((path) => !paths.includes(path)),
        options,
      );
    } catch {
      options.signal?.throwIfAborted();
    }
  }

  /** Compares the paths if the attempt has changed one of them. Otherwise does not wait for running commits. */
  async #refreshedIfChanged(paths: readonly string[], options: CallOptions): Promise<void> {
    const { head } = this.#parts.log.state;
    if (paths.some((path) => isChangedAt(head, path))) await this.#refreshed(paths, options);
  }

  #contextOf(label: OperationLabel, told = this.#told): OperationContext {
    const given = checkOptions(label, [...TEXTS, 'ok', 'startedAt'], 'operation', false);
    for (const key of TEXTS)
      if (given[key] !== undefined && typeof given[key] !== 'string')
        throw new TypeError(`${key} of an operation must be a text, not ${typeof given[key]}`);
    return {
      label: given,
      startedAt: given.startedAt ?? this.#parts.clock(),
      told,
      operations: [],
      merged: new Set(),
      conflicts: new Map(),
    };
  }

  async undo(
    options: CallOptions & { readonly expect?: OperationRef | undefined; readonly actor?: string | undefined } = {},
  ): Promise<RefreshedOperation> {
    const { expect, actor, signal } = checkOptions(options, ['expect', 'actor'], 'undo');
    return this.#change({ signal }, async (isGuarded) => {
      const { undoable } = this.#parts.log.state;
      const target = undoable.at(-1);
      if (target === undefined)
        throw new WorkspaceError('nothing-to-undo', `Attempt ${this.name} has no operation that could be taken back`);
      this.#checkExpected(expect, target);
      const record = await this.#parts.log.record(target, { signal });
      const summary = `Undo operation ${target}: ${record.operation.summary}`;
      if (record.accept !== undefined && isGuarded) return 'again';
      if (record.accept !== undefined) return this.#moveAccept(record, 'undo', { actor, summary }, { signal });
      return { tool: 'undo', actor, target, summary, head: this.#applied(inverse(record.changes)) };
    }) as Promise<RefreshedOperation>;
  }

  async redo(
    options: CallOptions & { readonly expect?: OperationRef | undefined; readonly actor?: string | undefined } = {},
  ): Promise<RefreshedOperation> {
    const { expect, actor, signal } = checkOptions(options, ['expect', 'actor'], 'redo');
    return this.#change({ signal }, async (isGuarded) => {
      const target = this.#parts.log.state.undone.at(-1);
      if (target === undefined)
        throw new WorkspaceError('nothing-to-redo', `Attempt ${this.name} has no undone operation`);
      this.#checkExpected(expect, target);
      const record = await this.#parts.log.record(target, { signal });
      const summary = `Redo operation ${target}: ${record.operation.summary}`;
      if (record.accept !== undefined && isGuarded) return 'again';
      if (record.accept !== undefined) return this.#moveAccept(record, 'redo', { actor, summary }, { signal });
      const head = await this.#headToContinue(this.#applied(record.changes), target, { signal });
      return { tool: 'redo', actor, target, summary, head };
    }) as Promise<RefreshedOperation>;
  }

  async next(tool: 'undo' | 'redo', options: CallOptions = {}): Promise<Operation | undefined> {
    const { signal } = checkOptions(options, [], 'next');
    return (await this.steps(tool, { limit: 1, signal }))[0];
  }

  async steps(
    tool: 'undo' | 'redo',
    options: CallOptions & { readonly limit?: number | undefined } = {},
  ): Promise<readonly Operation[]> {
    const { limit = 50, signal } = checkOptions(options, ['limit'], 'steps');
    if (tool !== 'undo' && tool !== 'redo') throw new TypeError(`The tool must be undo or redo, not ${tool}`);
    checkInteger(limit, 'limit', 1);
    const { log } = this.#parts;
    const { undoable, undone } = await log.catchUp({ signal });
    const operations: Operation[] = [];
    for (const id of (tool === 'undo' ? undoable : undone).slice(-limit).reverse())
      operations.push((await log.record(id, { signal })).operation);
    return operations;
  }

  get isLive(): boolean {
    return this.#parts.isLive;
  }

  hides(path: string): boolean {
    return this.#parts.hidden.hides(normalizePath(path));
  }

  /** Paths of the store that exist if the attempt was discarded, or if an accept has begun. */
  get #guards(): readonly string[] {
    return [this.#parts.discarded, this.#parts.pending.path];
  }

  get #acceptParts(): AcceptParts {
    const { name: attempt, directory, lower, contents, log, pending, moves, clock, readOnly } = this.#parts;
    return { attempt, directory, lower, contents, log, pending, moves, clock, readOnly };
  }

  /** Undoes or repeats an accept or an operation of a live attempt. Returns `again` if another client was faster. */
  async #moveAccept(
    record: OperationRecord,
    tool: 'undo' | 'redo',
    { actor = 'user', summary }: { readonly actor: string | undefined; readonly summary: string },
    options: CallOptions,
  ): Promise<Operation | 'again'> {
    const { moveAccept } = await accepting();
    return (await moveAccept(this.#acceptParts, record, tool, headAfterMove, { actor, summary }, options)) ?? 'again';
  }

  /**
   * Brings back an earlier state of a live attempt on the disk. Returns undefined if nothing differs, `again` if
   * another client was faster.
   */
  async #restoreLive(
    id: number,
    path: string | undefined,
    { actor = 'user', summary }: { readonly actor: string | undefined; readonly summary: string },
    options: CallOptions,
  ): Promise<Operation | 'again' | undefined> {
    const described = {
      tool: 'restore',
      actor,
      summary,
      at: this.#parts.clock(),
      ms: 0,
      after: this.#parts.log.state.last,
    };
    const { restoreLive } = await live();
    const made = await restoreLive(this.#acceptParts, id, path, described, options);
    return made === 'same' ? undefined : (made ?? 'again');
  }

  async restore(
    to: OperationRef | 0 | 'disk',
    options: CallOptions & {
      readonly path?: string | undefined;
      readonly expect?: OperationRef | undefined;
      readonly actor?: string | undefined;
    } = {},
  ): Promise<RefreshedOperation | undefined> {
    const { path, expect, actor, signal } = checkOptions(options, ['path', 'expect', 'actor'], 'restore');
    const id = to === 'disk' ? to : numberOf(to);
    const only = path === undefined || normalizePath(path) === '/' ? undefined : normalizePath(path);
    return this.#change({ signal }, async () => {
      this.#checkExpected(expect, this.#parts.log.state.last);
      const summaryOf = (at: string | undefined): string =>
        `Restore ${at ?? 'everything'} ${id === 'disk' ? 'from the disk' : `to operation ${id}`}`;
      if (this.#parts.isLive)
        return id === 'disk' ? undefined : this.#restoreLive(id, only, { actor, summary: summaryOf(only) }, { signal });
      const { head } = this.#parts.log.state;
      const wanted =
        id === 'disk'
          ? {
              root: { ...head.root, version: '', meta: undefined, names: NO_NAMES, listing: undefined },
              inodes: new Map(),
            }
          : await this.#headToContinue(await this.#headAt(id, { signal }), id, { signal });
      const place = only === undefined ? undefined : restorablePath(head, wanted, only);
      let next = place === undefined ? wanted : await this.#withPath(head, wanted, place, { signal });
      if (id === 'disk' && place !== undefined)
        for (const old of oldNamesUnder(head, wanted, place))
          next = await this.#withPath(next, wanted, old, { signal });
      const { entries, inodes } = changesBetween(head, next);
      if (entries.length + inodes.length === 0) return undefined;
      return { tool: 'restore', actor, summary: summaryOf(place), head: next };
    });
  }

  /** Returns a head with one path as another head has it. */
  async #withPath(head: Head, wanted: Head, path: string, options: CallOptions): Promise<Head> {
    const [shown] = await this.#backend.view(wanted).records([path], options);
    return restoredPath(head, wanted, path, this.#nextVersion(), shown?.id);
  }

  /**
   * Returns the head after an operation. For a live attempt, the head shows the paths that later operations have
   * written as they were before.
   */
  async #headAt(id: number, options: CallOptions = {}): Promise<Head> {
    const { log, contents, lower, isLive } = this.#parts;
    if (!isLive) return followedHead(await log.headAt(id, options), lower, this.#parts.moves, options);
    const head = await log.headAt(id, options);
    const [{ writesSince }, { headWithChanges }] = await Promise.all([live(), import('./accept/accepted-head.js')]);
    const writes = await writesSince(log, id, undefined, options);
    const changes = writes.map(({ path, before: base, after: now }) => ({ path, base, now }));
    const stored = new AcceptContents(contents, lower);
    return await headWithChanges(head, changes, stored, `${this.#nextVersion()}:${id}`, options);
  }

  /** Adapts the head of an earlier operation to undone accepts since then. */
  async #headToContinue(head: Head, id: number, options: CallOptions): Promise<Head> {
    const { log, isLive } = this.#parts;
    if (isLive || id >= log.state.last || head.root.names?.size === 0) return head;
    const { headAfterUndoneAccepts } = await accepting();
    return await headAfterUndoneAccepts(head, id, this.#acceptParts, this.#nextVersion(), options);
  }

  #nextVersion(): string {
    return versionFor(this.name, { id: this.#parts.log.state.last + 1, at: this.#parts.clock() });
  }

  #applied(changes: HeadChanges): Head {
    return applyChanges(this.#parts.log.state.head, changes, this.#nextVersion());
  }

  /**
   * Appends an operation made from the current state. Prepares it again if another client was faster.
   * @param prepare called with true first, unless the attempt is live; the append then checks that no accept has begun
   *   and the attempt was not discarded. If this fails, or `prepare` throws or returns undefined or `again`, the store
   *   is read instead, and `prepare` is called with false. An error or undefined ends the call only then
   */
  async #change(
    options: CallOptions,
    prepare: (
      isGuarded: boolean,
    ) => Promise<
      | (Pick<NewOperation, 'tool' | 'target' | 'summary'> & { head: Head; actor: string | undefined })
      | Operation
      | 'again'
      | undefined
    >,
  ): Promise<RefreshedOperation | undefined> {
    const { log, clock, checkOpen } = this.#parts;
    /**
     * Paths of the attempt that the operation changed. The `changes` of an operation that wrote to the disk may have
     * others.
     */
    let changed: readonly string[] = [];
    const operation = await this.#backend.inTurn(async () => {
      const startedAt = clock();
      // A live attempt writes to the disk before the append that could check the guards.
      for (let isGuarded = !this.isLive; ; isGuarded = false) {
        options.signal?.throwIfAborted();
        await log.catchUp(options);
        await checkOpen({ ...options, isGuarded });
        if (!isGuarded) {
          await (await accepting()).completeInterrupted(this.#acceptParts, headAfterMove, options);
          await log.catchUp(options);
        }
        const { last, head: old } = log.state;
        const prepared = await prepare(isGuarded).catch((error: unknown) => {
          if (!isGuarded) throw error;
          return 'again' as const;
        });
        if (prepared === 'again' || (prepared === undefined && isGuarded)) continue;
        if (prepared === undefined || 'id' in prepared) {
          changed = pathsBetween(old, log.state.head);
          return prepared;
        }
        const { head, actor = 'user', ...described } = prepared;
        const at = clock();
        const ms = Math.max(0, at - startedAt);
        const absent = isGuarded ? this.#guards : [];
        const operation = await log.append(head, { ...described, actor, at, ms, after: last }, options, { absent });
        if (operation === undefined) continue;
        changed = operation.changes.map(({ path }) => path);
        return operation;
      }
    });
    if (operation === undefined) return undefined;
    // Changes that were brought back began from an earlier state of the disk.
    const context = this.#contextOf({});
    await operationContext.run(context, () => this.#refreshed(changed, options));
    return { ...operation, refreshed: this.#tell(context) };
  }

  #checkExpected(expect: OperationRef | undefined, target: number): void {
    if (expect === undefined || numberOf(expect) === target) return;
    throw new WorkspaceError(
      'moved',
      `Operation ${numberOf(expect)} is not the one at hand any more, but ${target}: look at the log again`,
    );
  }

  at(operation: OperationRef | 0): FileSystem {
    const id = numberOf(operation);
    const { lower, contents, log, clock, moves, isLive } = this.#parts;
    let known: { readonly last: number; readonly head: Promise<Head> } | undefined;
    const load = async (): Promise<Head> => {
      // A later operation of a live attempt has written to the disk what the head shows from there.
      const { last } = known === undefined || isLive ? await log.catchUp({}) : known;
      if (known?.last !== last) {
        const made = { last, head: this.#headAt(id) };
        known = made;
        made.head.catch(() => {
          if (known === made) known = undefined;
        });
      }
      return followedHead(await known.head, lower, moves);
    };
    const backend = new VisibleBackend(new ViewBackend(load, lower, contents), this.#parts.hidden);
    return fileSystemOn(asyncStorage(backend, { timeoutMs: TIMEOUT_MS, retries: 0, clock }), { clock });
  }

  async log(options: LogOptions = {}): Promise<LogPage> {
    const given = checkOptions(options, ['tool', 'actor', 'path', 'before', 'limit'], 'log');
    const { tool, actor, path, before, limit = 50, signal } = given;
    checkInteger(limit, 'limit', 1);
    const under = path === undefined ? undefined : normalizePath(path);
    const { log } = this.#parts;
    await log.catchUp({ signal });
    const operations: Operation[] = [];
    let id = Math.min(log.state.last, (before === undefined ? Number.POSITIVE_INFINITY : numberOf(before)) - 1);
    for (; id > 0 && operations.length < limit; id--) {
      let operation: Operation;
      try {
        ({ operation } = await log.record(id, { signal }));
      } catch (error) {
        // Older operations are no longer kept.
        if (error instanceof WorkspaceError && error.code === 'not-found') return { operations, next: undefined };
        throw error;
      }
      if (tool !== undefined && operation.tool !== tool) continue;
      if (actor !== undefined && operation.actor !== actor) continue;
      const isAbout = (one: { path: string; from?: string | undefined }): boolean =>
        under === undefined || isWithin(one.path, under) || (one.from !== undefined && isWithin(one.from, under));
      if (under !== undefined && !operation.changes.some(isAbout)) continue;
      operations.push(operation);
    }
    return { operations, next: id > 0 ? id + 1 : undefined };
  }

  async head(options: CallOptions = {}): Promise<number> {
    checkOptions(options, [], 'head');
    return (await this.#parts.log.catchUp(options)).last;
  }

  async refresh(options: RefreshOptions = {}): Promise<RefreshResult> {
    const { onto = false, signal } = checkOptions(options, ['onto'], 'refresh');
    if (typeof onto !== 'boolean') throw new TypeError(`onto must be true or false, not ${typeof onto}`);
    const context = this.#contextOf({});
    if (onto) await this.#parts.takeAlong({ signal });
    await this.#parts.log.catchUp({ signal });
    await operationContext.run(context, () => this.#refreshed(undefined, { signal }));
    for (const { conflict } of await this.#removedConflicts({ signal })) context.conflicts.set(conflict.path, conflict);
    return this.#tell(context);
  }

  /** Returns conflicts with what the person has edited in directories that the attempt has removed. */
  async #removedConflicts(options: CallOptions): Promise<RemovedConflict[]> {
    const { log, contents, lower, readOnly } = this.#parts;
    return removedConflicts(log.state.head, new AcceptContents(contents, lower), readOnly, options);
  }

  async resolve(
    path: string,
    options: CallOptions & { readonly actor?: string | undefined } = {},
  ): Promise<RefreshedOperation> {
    const { actor, signal } = checkOptions(options, ['actor'], 'resolve');
    const top = normalizePath(path);
    const told = this.#told;
    await this.#refreshed(undefined, { signal });
    return this.#change({ signal }, async () => {
      const { head } = this.#parts.log.state;
      const removed = (await this.#removedConflicts({ signal })).filter(({ conflict }) => isWithin(conflict.path, top));
      const found = [
        ...conflictsUnder(head, top),
        ...removed.map(({ conflict: { path, disk } }) => ({ path, disk, canSettle: true })),
      ];
      if (found.length === 0) throw new WorkspaceError('not-found', `The attempt has no conflict at ${quote(top)}`);
      const kept = found.find(({ canSettle }) => !canSettle);
      if (kept !== undefined)
        throw new WorkspaceError(
          'refused',
          `${quote(kept.path)} cannot replace what the disk has: move that away, or take it over with restore('disk', { path })`,
        );
      const paths = found.map((one) => one.path);
      const unseen = found.filter((one) => !isTold(one.path, one, told)).map((one) => one.path);
      if (unseen.length > 0)
        throw new WorkspaceError(
          'moved',
          `No result has shown what the disk has now at ${listOf(unseen)}. Nothing was settled: look at it with refresh() first`,
        );
      const version = this.#nextVersion();
      const next = headWithHidden(settledHead(head, head, paths, version), removed, version);
      const summary = `Keep the attempt's version of ${paths.length === 1 ? quote(paths[0] as string) : `${paths.length} paths`}`;
      return { tool: 'resolve', actor, summary, head: next };
    }) as Promise<RefreshedOperation>;
  }

  /**
   * Compares paths, or all that the attempt has changed, with the disk until nothing is new, or another client is at
   * work on an accept.
   */
  #refreshed(paths: readonly string[] | undefined, options: CallOptions): Promise<void> {
    const { log, checkOpen } = this.#parts;
    return this.#backend.inTurn(async () => {
      for (let isGuarded = paths !== undefined; ; isGuarded = false) {
        options.signal?.throwIfAborted();
        const { head, last } = log.state;
        if (last === 0 && head.root.names?.size === 0) return;
        await checkOpen({ ...options, isGuarded });
        if ((await this.#backend.refresh(head, paths, this.#nextVersion(), isGuarded, options)) !== undefined) return;
      }
    });
  }

  async diff(options: AttemptDiffOptions = {}): Promise<AttemptDiff> {
    const names = ['from', 'to', 'operation', 'isReversed', 'paths', 'hunks'] as const;
    const given = checkOptions(options, names, 'diff');
    const { operation, isReversed = false, paths, hunks = false, signal } = given;
    for (const [name, value] of Object.entries({ hunks, isReversed }))
      if (typeof value !== 'boolean') throw new TypeError(`${name} must be true or false`);
    if (operation !== undefined && (given.from !== undefined || given.to !== undefined))
      throw new TypeError('operation excludes from and to');
    if (isReversed && operation === undefined) throw new TypeError('isReversed needs operation');
    const { log, lower, contents } = this.#parts;
    const { head: now, last } = await log.catchUp({ signal });
    const wanted = paths?.map((path) => normalizePath(path));
    const isWanted = ({ path }: { readonly path: string }): boolean =>
      wanted === undefined || wanted.some((one) => isWithin(path, one));
    let ends: Pick<AttemptDiffOptions, 'from' | 'to'> = given;
    if (operation !== undefined) {
      const id = numberOf(operation);
      const record = await log.record(id, { signal });
      const changes = await effectOnDisk(log, record, { signal });
      if (changes !== undefined) {
        const shown = isReversed ? inverseChanges(changes) : changes;
        return { paths: await diskDiffs(shown, isWanted, contents, { hunks, signal }), head: last };
      }
      ends = isReversed ? { from: id, to: id - 1 } : { from: id - 1, to: id };
    }
    const { to } = ends;
    const isOther = to instanceof WorkspaceAttempt;
    if (isOther && ends.from === 'disk') return to.diff({ paths, hunks, signal });
    const { from = 'disk' } = ends;
    const after = isOther
      ? (await to.#parts.log.catchUp({ signal })).head
      : to === undefined
        ? now
        : await this.#headAt(numberOf(to as OperationRef), { signal });
    const before = from === 'disk' ? (isOther ? now : undefined) : await this.#headAt(numberOf(from), { signal });
    const linked =
      from === 'disk' && !isOther
        ? await withLinkedNames(after, this.#parts, this.#nextVersion(), { signal })
        : undefined;
    const texts = new AcceptContents(contents, lower);
    const isBetween = given.from !== undefined && from !== 'disk' && !isOther;
    const isWritten = isBetween && (await this.#isWrittenBetween(from, to as OperationRef | undefined, { signal }));
    const { readOnly } = this.#parts;
    const sides = { lower, contents, before, after: linked?.head ?? after, isWritten, readOnly, texts };
    try {
      const found = await attemptDiff(sides, { signal });
      const shown = found.filter(isWanted);
      for (const { path, from: old, before: state } of shown)
        if (from === 'disk' && state?.hash !== undefined) texts.note(state.hash, old ?? path);
      return { paths: await withText(shown, texts, { hunks, signal }), head: last };
    } finally {
      if (linked !== undefined) contents.drop(linked.hashes);
    }
  }

  /**
   * Reports whether an accept, or the undo or redo of one, came after one of two operations and before the other. Does
   * not look at operations that are no longer kept.
   */
  async #isWrittenBetween(a: OperationRef, b: OperationRef | undefined, options: CallOptions): Promise<boolean> {
    const { log, isLive } = this.#parts;
    if (isLive) return false;
    const ends = [numberOf(a), b === undefined ? log.state.last : numberOf(b)];
    for await (const record of log.recordsBetween(Math.min(...ends) + 1, Math.max(...ends), options))
      if ((await effectOnDisk(log, record, options)) !== undefined) return true;
    return false;
  }

  async accept(options?: AcceptOptions): Promise<AcceptResult> {
    const { acceptAttempt, checkAcceptOptions, completeInterrupted } = await accepting();
    const given = checkAcceptOptions(options);
    const { log, checkOpen } = this.#parts;
    const { expect, signal } = given;
    return this.#backend.inTurn(async () => {
      for (;;) {
        signal?.throwIfAborted();
        await log.catchUp({ signal });
        await checkOpen({ signal });
        await completeInterrupted(this.#acceptParts, headAfterMove, { signal });
        this.#checkExpected(expect, log.state.last);
        const result = await acceptAttempt(this.#acceptParts, given);
        if (result === undefined) continue;
        this.#know(result.conflicts);
        return result;
      }
    });
  }

  async conflicts(options: CallOptions = {}): Promise<readonly Conflict[]> {
    const { signal } = checkOptions(options, [], 'conflicts');
    const { log, lower, pending, directory, checkOpen, checkStarted } = this.#parts;
    const { head } = await log.catchUp({ signal });
    if (changedPaths(head).length === 0) return [];
    await checkOpen({ signal });
    await checkStarted({ signal });
    const isAtRest = (await pending.find({ signal })) === undefined;
    if (isAtRest && !(await mayConflict(head, lower, directory, { signal }))) return [];
    return (await this.accept({ dryRun: true, onConflict: 'skip', signal })).conflicts;
  }

  async run(command: string | readonly string[], options?: RunOptions): Promise<RunResult> {
    const { fileSystem, name } = this;
    const { log, commands, clock, directory, checkStarted } = this.#parts;
    // Checked before the command runs, because its changes could not be brought in afterwards.
    await checkStarted({ signal: options?.signal });
    const copies = copiesOf(directory, name);
    const differing = async (): Promise<string[]> =>
      changedPaths((await log.catchUp()).head).map((path) => path.slice(1));
    const told = this.#told;
    const operation = async <T>(
      label: OperationLabel,
      work: (inside: FileSystem) => Promise<T>,
      given: CallOptions,
    ) => {
      const { value, context } = await this.#operation(this.#contextOf(label, told), work, given);
      return { value, operation: context.operations.at(-1) };
    };
    const { runCommand } = await import('./commands/run-command.js');
    return runCommand({ ...commands, directory, fileSystem, copies, differing, operation, clock }, command, options);
  }

  async fork(name?: string, options: CallOptions & { readonly at?: OperationRef | undefined } = {}): Promise<Attempt> {
    const { at, signal } = checkOptions(options, ['at'], 'fork');
    const { log, fork } = this.#parts;
    const { last } = await log.catchUp({ signal });
    const operation = at === undefined ? last : numberOf(at);
    const head = await this.#headToContinue(await this.#headAt(operation, { signal }), operation, { signal });
    return fork(head, { attempt: this.name, operation }, name);
  }

  async discard(options: CallOptions = {}): Promise<void> {
    checkOptions(options, [], 'discard');
    await this.#parts.discard(options);
  }

  async close(): Promise<void> {
    await this.fileSystem.close();
    await this.#backend.close();
  }
}

// Imported on demand, because a program that only reads does not need the code that writes to the disk.
const accepting = (): Promise<typeof import('./accept/accept.js')> => import('./accept/accept.js');
const live = (): Promise<typeof import('./accept/live-operation.js')> => import('./accept/live-operation.js');

/** Returns the head after the undo or redo of an operation. */
function headAfterMove(head: Head, { changes }: OperationRecord, tool: 'undo' | 'redo', version: string): Head {
  return applyChanges(head, tool === 'undo' ? inverse(changes) : changes, version);
}

function pathsBetween(before: Head, after: Head): string[] {
  return describeChanges(changesBetween(before, after), before, after).map(({ path }) => path);
}

/** Returns the real path. Names at its end that do not exist are kept. */
async function realPathOf(fileSystem: FileSystem, path: string, options: CallOptions): Promise<string> {
  try {
    return await fileSystem.realpath(path, options);
  } catch (error) {
    if (path === '/' || !isFsError(error, 'ENOENT')) throw error;
    return joinPath(await realPathOf(fileSystem, parentPath(path), options), pathSegments(path).at(-1) as string);
  }
}

function refreshedIn({ merged, conflicts }: OperationContext): RefreshResult {
  return {
    merged: [...merged].sort(compareNames),
    conflicts: [...conflicts.values()].sort((a, b) => compareNames(a.path, b.path)),
  };
}

function numberOf(ref: OperationRef): number {
  const id: unknown = typeof ref === 'object' && ref !== null ? ref.id : ref;
  return checkInteger(id as number, 'operation', 0);
}
