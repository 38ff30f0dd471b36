import type { Version } from '../backend.js';
import { checkInteger, checkOneOf, checkOptions } from '../engine/arguments.js';
import { type Context, makeContext } from '../engine/context.js';
import { randomId, systemRandom } from '../engine/defaults.js';
import { exceededLimit } from '../engine/exceeded-limit.js';
import { executorOf } from '../engine/executor-of.js';
import { internalsOf } from '../engine/internals.js';
import { MemoryExecutor } from '../engine/memory/memory-executor.js';
import { LocalQuota } from '../engine/quota.js';
import { RemoteExecutor } from '../engine/remote/remote-executor.js';
import { unlessAborted } from '../engine/scheduling/deadline.js';
import { runInSlices, runSteps, type Steps } from '../engine/scheduling/time-slice.js';
import { limitError } from '../engine/view/limit-error.js';
import { View } from '../engine/view.js';
import { StorageError } from '../errors.js';
import type { CallOptions, SyncFileSystem } from '../file-system.js';
import { givenLimits, isLimited, NO_LIMITS } from '../limits.js';
import { MemoryFileSystem } from '../memory-file-system.js';
import type { AsyncStorage } from '../storage.js';
import { DIRECTORY, type Node } from '../tree/node.js';
import { SharedStore, Tree, type TreeState } from '../tree/tree.js';
import { applyPlanSteps } from './apply-plan.js';
import { type Delta, deltaOf, deltaSteps } from './delta.js';
import { describeDelta, describeSteps } from './describe-delta.js';
import { alone, type Clash, type Merged, merge, without } from './merge.js';
import { isMove, type Plan, planOf, planSteps } from './plan.js';
import { Scope } from './scope.js';
import { TreeLoad } from './tree-load.js';
import type {
  Conflict,
  EntryChange,
  PullOptions,
  PullResult,
  PushResult,
  WorkingCopy,
  WorkingCopyOptions,
} from './types.js';
import { type Deviation, deviationSteps } from './verify.js';
import { Versions } from './versions.js';

const DEFAULT_BUDGET_BYTES = 256 * 2 ** 20;
/**
 * A push that removes a directory of unknown version first loads the storage's changes if this many entries or more are
 * under it.
 */
const MAX_UNCHECKED_NAMES = 500;
/** Attempts of a push to merge concurrent changes. */
const MAX_PUSH_ATTEMPTS = 16;

/**
 * Loads a storage, contents included, into a synchronous filesystem whose changes can be pushed back. The filesystem
 * shows one point in time of the storage, regardless of concurrent writes. Loading takes requests of about 8 MiB.
 *
 * Entries are matched by identity: a directory that one side renamed is still the one into which the other side put a
 * file. A file that is removed and recreated (as programs do that write a new file and rename it) is a different one.
 *
 * @throws TypeError, RangeError for invalid options; TypeError for a synchronous storage, which needs no working copy:
 *   use `fork`
 * @throws FsError EFBIG if the content exceeds the budget; EINVAL, ENAMETOOLONG for an invalid path; StorageError if
 *   the storage fails
 */
export async function openWorkingCopy(storage: AsyncStorage, options?: WorkingCopyOptions): Promise<WorkingCopy> {
  const given = checkOptions(options, ['paths', 'budget', 'limits', 'clock', 'random'], 'openWorkingCopy');
  const remote = executorOf(storage as AsyncStorage);
  if (!(remote instanceof RemoteExecutor))
    throw new TypeError(
      'A working copy needs a remote storage: use a synchronous one directly, or fork its filesystem',
    );
  const scope = new Scope(given.paths);
  const budget = given.budget === undefined ? DEFAULT_BUDGET_BYTES : checkInteger(given.budget, 'budget');
  const random = given.random ?? systemRandom;
  const shared = new SharedStore(() => randomId(random));
  const limits = givenLimits(given.limits);
  await remote.quota.open(NO_LIMITS);
  const quota = isLimited(limits) ? new LocalQuota(limits) : remote.quota;
  const source = new RemoteSource(remote, makeContext(given, remote), { shared, scope, budget });
  return new LoadedCopy(source, await source.load(undefined, given.signal), quota);
}

/** The storage of a working copy: loads states and applies plans. */
class RemoteSource {
  readonly versions = new Versions();

  constructor(
    readonly remote: RemoteExecutor,
    readonly context: Context,
    readonly options: { readonly shared: SharedStore; readonly scope: Scope; readonly budget: number },
  ) {}

  get shared(): SharedStore {
    return this.options.shared;
  }

  async load(base: TreeState | undefined, signal: AbortSignal | undefined): Promise<TreeState> {
    const { versions, options } = this;
    const items = await this.remote.collectAnew(
      this.context,
      (view) => new TreeLoad(view, { ...options, versions, base }),
      signal,
    );
    return items.findLast((item) => item !== null) as TreeState;
  }

  /** Reports whether checking that a node is unchanged is cheap. */
  isKnown(node: Node): boolean {
    return (
      node.kind !== DIRECTORY || node.files + node.directories < MAX_UNCHECKED_NAMES || this.versions.hasTree(node)
    );
  }

  *#noteSteps({ coming, altered }: Plan, version: Version): Steps<void> {
    for (const step of coming) {
      if (!isMove(step)) this.versions.note(step.node, version);
      yield;
    }
    for (const { after } of altered) {
      this.versions.note(after, version);
      yield;
    }
  }

  /** Applies a plan if the storage still has the expected state. Returns the deviations; with any, applies nothing. */
  async applyPlan(plan: Plan, base: Tree, signal: AbortSignal | undefined): Promise<Deviation[]> {
    const { versions } = this;
    const steps = function* (view: View): Steps<Deviation[]> {
      const found = yield* deviationSteps(view, plan, base, versions);
      if (found.length === 0) yield* applyPlanSteps(view, plan);
      return found;
    };
    const { value, version } = await this.remote.changeInSlices(this.context, steps, signal);
    if (value.length > 0 || version === undefined) return value;
    await runInSlices(this.#noteSteps(plan, version), undefined);
    return value;
  }
}

class LoadedCopy implements WorkingCopy {
  readonly fileSystem: SyncFileSystem;
  readonly #source: RemoteSource;
  readonly #memory: MemoryExecutor;
  readonly #context: Context;
  /**
   * The state from which local changes are counted: the storage's state when the copy was opened or a pull last
   * succeeded, or the local state of a later push that succeeded.
   */
  #base: TreeState;
  /** Settles when all pushes and pulls started so far have ended; undefined if none is in progress. */
  #last: Promise<unknown> | undefined;

  constructor(source: RemoteSource, base: TreeState, quota: Context['quota']) {
    this.#source = source;
    this.#base = base;
    this.#memory = new MemoryExecutor(new Tree(source.shared, base));
    this.#context = { ...source.context, newId: this.#memory.newId, quota };
    this.fileSystem = new MemoryFileSystem(this.#memory, this.#context);
  }

  status(): EntryChange[] {
    this.#enter();
    return describeDelta(this.#delta(this.#base, this.#memory.tree.freeze()));
  }

  async push(options?: CallOptions): Promise<PushResult> {
    const { signal } = checkOptions(options, [], 'push');
    return this.#inTurn(signal, () => this.#push(signal));
  }

  async pull(options?: PullOptions): Promise<PullResult> {
    const { prefer, signal } = checkOptions(options, ['prefer'], 'pull');
    const side = prefer === undefined ? undefined : checkOneOf(prefer, ['ours', 'theirs'], 'prefer');
    return this.#inTurn(signal, () => this.#pull(side, signal));
  }

  async close(): Promise<void> {
    await this.fileSystem.close();
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #enter(): void {
    internalsOf(this.fileSystem)?.enter();
  }

  /** Runs pushes and pulls one after another: each starts from the result of the previous one. */
  async #inTurn<R>(signal: AbortSignal | undefined, work: () => Promise<R>): Promise<R> {
    signal?.throwIfAborted();
    this.#enter();
    const before = this.#last;
    const turn = before === undefined ? work() : this.#after(before, work, signal);
    const last = Promise.allSettled([before, turn]);
    this.#last = last;
    try {
      return await turn;
    } finally {
      if (this.#last === last) this.#last = undefined;
    }
  }

  async #after<R>(before: Promise<unknown>, work: () => Promise<R>, signal: AbortSignal | undefined): Promise<R> {
    await unlessAborted(signal, before);
    this.#enter();
    return work();
  }

  async #push(signal: AbortSignal | undefined): Promise<PushResult> {
    const { shared } = this.#source;
    const state = this.#memory.tree.freeze();
    const ours = await runInSlices(deltaSteps(shared, this.#base, state), signal);
    // The last known state of the storage, and the wanted state.
    let theirs = this.#base;
    let wanted = state;
    let delta = ours;
    for (let attempt = 0; attempt < MAX_PUSH_ATTEMPTS; attempt++) {
      const base = new Tree(shared, theirs);
      const plan = await runInSlices(planSteps(alone(delta), base), signal);
      this.#enter();
      // The storage's changes are loaded first if a large subtree of unknown version is removed.
      const isKnown = attempt > 0 || plan.leaving.every((step) => isMove(step) || this.#source.isKnown(step.node));
      const found = isKnown ? await this.#applyPlan(delta, plan, base, signal) : [];
      if (isKnown && found.length === 0) {
        this.#base = state;
        return { kind: 'pushed', changes: await runInSlices(describeSteps(delta), undefined) };
      }
      const now = await this.#source.load(theirs, signal);
      if (this.#delta(theirs, now).isEmpty) {
        if (!isKnown) continue;
        // The loaded part has not changed, so the deviations are entries that were never loaded.
        return conflictOf(found.map((one) => ({ ...one, theirs: 'added' as const })));
      }
      const merged = merge(ours, this.#delta(this.#base, now), shared.contents, now.inodes);
      if (merged.clashes.length > 0) return conflictOf(merged.clashes);
      theirs = now;
      wanted = this.#apply(now, merged);
      delta = this.#delta(theirs, wanted);
    }
    throw new StorageError(
      'conflict',
      `The push lost ${MAX_PUSH_ATTEMPTS} races against other writers and was given up`,
    );
  }

  async #applyPlan(delta: Delta, plan: Plan, base: Tree, signal: AbortSignal | undefined): Promise<Deviation[]> {
    return delta.isEmpty ? [] : this.#source.applyPlan(plan, base, signal);
  }

  async #pull(prefer: PullOptions['prefer'], signal: AbortSignal | undefined): Promise<PullResult> {
    const { contents } = this.#source.shared;
    const now = await this.#source.load(this.#base, signal);
    this.#enter();
    const state = this.#memory.tree.freeze();
    const [ours, theirs] = [this.#delta(this.#base, state), this.#delta(this.#base, now)];
    const changes = describeDelta(theirs);
    const { clashes } = merge(ours, theirs, contents, now.inodes);
    if (clashes.length > 0 && prefer === undefined) return conflictOf(clashes);
    const result =
      prefer === 'ours'
        ? this.#apply(state, settled(theirs, ours, contents, state.inodes))
        : this.#apply(now, settled(ours, theirs, contents, now.inodes));
    this.#checkLimits(state, result);
    this.#base = now;
    if (!this.#delta(state, result).isEmpty) {
      this.#memory.tree.reset(result);
      this.#memory.feed.reset();
    }
    return { kind: 'pulled', changes, conflicts: clashes.map(toConflict) };
  }

  #delta(before: TreeState, after: TreeState): Delta {
    return deltaOf(this.#source.shared, before, after);
  }

  /** Returns a state with the changes applied. */
  #apply(state: TreeState, merged: Merged): TreeState {
    const tree = new Tree(this.#source.shared, state);
    runSteps(applyPlanSteps(new View(tree, this.#context), planOf(merged, new Tree(this.#source.shared, state))));
    return tree.freeze();
  }

  #checkLimits(before: TreeState, after: TreeState): void {
    const { limits } = this.#context.quota;
    const over = exceededLimit(totalsOf(before), totalsOf(after), limits);
    if (over !== undefined)
      throw limitError('ENOSPC', over.limit, over.used, over.requested, over.allowed, 'pull', '/');
  }
}

/** Removes from `one` the changes that conflict with `other`, and returns the rest, merged. */
function settled(one: Delta, other: Delta, contents: SharedStore['contents'], inodes: TreeState['inodes']): Merged {
  for (;;) {
    const merged = merge(one, other, contents, inodes);
    if (merged.clashes.length === 0) return merged;
    without(
      one,
      merged.clashes.flatMap(({ ids }) => ids),
    );
  }
}

function totalsOf({ root, linkedSize }: TreeState): { size: number; files: number; directories: number } {
  return { size: root.size + linkedSize, files: root.files, directories: root.directories };
}

function conflictOf(clashes: readonly Conflict[]): { kind: 'conflict'; conflicts: Conflict[] } {
  return { kind: 'conflict', conflicts: clashes.map(toConflict) };
}

function toConflict({ path, ours, theirs }: Clash | Conflict): Conflict {
  return { path, ours, theirs };
}
