import { checkOptions } from '../../engine/arguments.js';
import { inTransaction as withoutStates } from '../../engine/capabilities.js';
import type { Cursor } from '../../engine/cursor.js';
import { keepTrustedApi } from '../../engine/internals.js';
import { notInTransaction } from '../../engine/not-in-transaction.js';
import { sealed } from '../../engine/read-only-error.js';
import type { View } from '../../engine/view.js';
import type { ViewFunction } from '../../engine/view-function.js';
import { WalkCursor } from '../../engine/walk.js';
import { FsError } from '../../errors.js';
import type {
  CallOptions,
  Checkpoint,
  FileSystem,
  ForkOptions,
  SyncFileSystem,
  WalkOptions,
  WatchOptions,
} from '../../file-system.js';
import { NO_LIMITS } from '../../limits.js';
import { type Path, pathOf } from '../../paths.js';
import { toRecord } from '../../to-record.js';
import { runCalls, runCallsSync, signalOf } from '../call-sequence.js';
import { captureArguments } from '../capture.js';
import { type Own, ownMethods } from '../intercept.js';
import { METHODS, type MethodSpec, namesOf, textPaths } from '../method-table.js';
import { overlay } from '../overlay.js';
import { readonly } from '../readonly.js';
import { Watchers } from '../watchers.js';
import { capabilitiesOf, onlyTransacted, transactedIn } from './abilities.js';
import { Checkpoints } from './checkpoints.js';
import { compareRefused, mountedApi, partOf } from './mounted-api.js';
import type { Namespace } from './namespace.js';
import type { RuleOf } from './rule.js';
import { mountRules, type OwnMethod } from './rules.js';
import { watchMounts } from './watch.js';

type Args = readonly unknown[];
type Methods = Record<string | symbol, unknown>;
type Sync = SyncFileSystem;

interface MountOptions {
  readonly onClose?: () => Promise<void>;
  readonly inTransaction?: boolean;
}

/** Methods that a transaction does not have: it has no checkpoints, forks or nested transactions. */
const STATES: ReadonlySet<string> = new Set([
  'checkpoint',
  'checkpoints',
  'rollback',
  'drop',
  'at',
  'fork',
  'transaction',
]);

/** Returns the filesystem of a mount. The rules implement most of its methods; the others are here. */
export function mountFileSystem(space: Namespace, { onClose, inTransaction }: MountOptions = {}): FileSystem {
  const layer: Methods = {};
  const self = layer as unknown as FileSystem;
  const checkpoints = new Checkpoints(space);
  const rules: Readonly<Record<string, RuleOf>> = mountRules(space, checkpoints);
  const isSync = space.all.every(({ fileSystem }) => fileSystem.kind === 'sync');
  const alone = space.all.length === 1;
  const root = space.root.fileSystem;
  const watchers = new Watchers();
  let closed = false;

  const enter = (): void => {
    if (closed) throw new FsError('EBADF', { hint: 'The filesystem is closed' });
  };
  const begin = (name: string): void => {
    enter();
    if (inTransaction === true && STATES.has(name)) throw notInTransaction(name);
  };
  const refuse = (syscall: string, hint: string): FsError => new FsError('ENOTSUP', { syscall, hint });
  /**
   * Returns an overlay over the mount: all filesystems as one tree, whose changes are discarded. It shows one point in
   * time if every filesystem can fork synchronously.
   */
  const look = (): FileSystem => overlay(self, { limits: {}, clock: space.clock });
  const part = (which: Checkpoint | string | undefined) => partOf(checkpoints, which, root);

  for (const name of namesOf(METHODS)) {
    const rule = rules[name];
    if (rule === undefined) continue;
    const { forms }: MethodSpec = METHODS[name];
    const textOf = textPaths(name);
    layer[name] = async (...given: Args) => {
      begin(name);
      const args = textOf(given);
      const captured = captureArguments(name, args);
      return runCalls(rule(captured), signalOf(args));
    };
    if (isSync && forms === 'both') {
      layer[`${name}Sync`] = (...args: Args) => {
        begin(name);
        return runCallsSync(rule(textOf(args)));
      };
    }
  }

  const own: Record<Exclude<OwnMethod, 'limits' | 'capabilities' | Own>, unknown> = {
    kind: isSync ? 'sync' : 'async',
    walk: (given: Path = '/', options?: WalkOptions) => {
      const path = pathOf(given);
      return self.iterate((view) => new WalkCursor(view, path, options), options);
    },
    watch: (path: Path, options?: WatchOptions) => {
      enter();
      return watchers.add(watchMounts(space, pathOf(path), options));
    },
    iterate: (start: (view: View) => Cursor<unknown>, options?: CallOptions) => {
      enter();
      return look().iterate(start, options);
    },
    run: async (operation: ViewFunction<Args, unknown>, args: Args, options?: CallOptions) => {
      enter();
      return alone ? root.run(operation, args, options) : look().run(sealed(operation, runRefused), args, options);
    },
    compare: async (...[from, to, ...rest]: Parameters<FileSystem['compare']>) => {
      enter();
      if (alone) return root.compare(part(from), part(to), ...rest);
      throw compareRefused();
    },
    at: async (checkpoint: Checkpoint | string, options?: CallOptions) => {
      begin('at');
      const parts = checkpoints.parts(checkpoint, 'at');
      return overOthers(space, async (fileSystem) => {
        const part = parts.get(fileSystem);
        return part === undefined ? readonly(fileSystem) : fileSystem.at(part, options);
      });
    },
    fork: async (options?: ForkOptions) => {
      begin('fork');
      requireForks(space);
      const { from, ...rest } = checkOptions(options, ['from'], 'fork');
      const parts = from === undefined ? undefined : checkpoints.parts(from, 'fork');
      return overOthers(space, (fileSystem) => fileSystem.fork({ ...rest, from: parts?.get(fileSystem) }));
    },
    transaction: async (work: (fileSystem: FileSystem) => Promise<unknown>, options?: CallOptions) => {
      begin('transaction');
      const only = onlyTransacted(space);
      if (only === undefined) {
        const instead = isSync ? 'transactionSync does it' : 'run it on the filesystem that is mounted';
        throw refuse('transaction', `All or nothing cannot be promised over several filesystems: ${instead}`);
      }
      return only.transaction(
        (branch) =>
          work(
            mountFileSystem(
              space.with((fileSystem) => (fileSystem === only ? branch : fileSystem)),
              { onClose: () => branch.close(), inTransaction: true },
            ),
          ),
        options,
      );
    },
    toJSON: isSync ? () => toRecord(self as Sync) : undefined,
    close: async () => {
      if (closed) return;
      closed = true;
      await watchers.end();
      await onClose?.();
    },
  };
  Object.assign(layer, own);
  Object.assign(layer, ownMethods(self));
  const limits = { get: () => onlyTransacted(space)?.limits ?? NO_LIMITS };
  Object.defineProperty(layer, 'limits', { ...limits, enumerable: true });
  const abilities = { get: () => (inTransaction ? withoutStates(capabilitiesOf(space)) : capabilitiesOf(space)) };
  Object.defineProperty(layer, 'capabilities', { ...abilities, enumerable: true });
  layer[Symbol.asyncDispose] = () => self.close();
  if (isSync) Object.assign(layer, syncMethods(space, self as Sync, checkpoints, { begin, look, part, alone }));
  else delete layer['toJSON'];
  keepTrustedApi(self, mountedApi(space, self, checkpoints, enter));
  return self;
}

interface Parts {
  /** Throws if the mount has ended, or the method has no meaning in its transaction. */
  readonly begin: (name: string) => void;
  readonly look: () => FileSystem;
  /** Returns the root's part of a checkpoint. */
  readonly part: (which: Checkpoint | string | undefined) => Checkpoint | string | undefined;
  readonly alone: boolean;
}

type OwnSync = 'walkSync' | 'iterateSync' | 'runSync' | 'compareSync' | 'atSync' | 'forkSync' | 'transactionSync';

function syncMethods(
  space: Namespace,
  self: Sync,
  checkpoints: Checkpoints,
  { begin, look, part, alone }: Parts,
): Record<OwnSync, unknown> {
  const root = space.root.fileSystem as Sync;
  return {
    walkSync: (given: Path = '/', options?: WalkOptions) => {
      const path = pathOf(given);
      return self.iterateSync((view) => new WalkCursor(view, path, options));
    },
    iterateSync: (start: (view: View) => Cursor<unknown>) => {
      begin('iterate');
      return (look() as Sync).iterateSync(start);
    },
    runSync: (operation: ViewFunction<Args, unknown>, args: Args) => {
      begin('run');
      return alone ? root.runSync(operation, args) : (look() as Sync).runSync(sealed(operation, runRefused), args);
    },
    compareSync: (...[from, to, start]: Parameters<Sync['compareSync']>) => {
      begin('compare');
      if (alone) return root.compareSync(part(from), part(to), start);
      throw compareRefused();
    },
    atSync: (checkpoint: Checkpoint | string) => {
      begin('at');
      const parts = checkpoints.parts(checkpoint, 'at');
      return overOthersSync(space, (fileSystem) => {
        const part = parts.get(fileSystem);
        return part === undefined ? readonly(fileSystem) : (fileSystem as Sync).atSync(part);
      });
    },
    forkSync: (options?: ForkOptions) => {
      begin('fork');
      requireForks(space);
      const { from } = checkOptions(options, ['from'], 'forkSync');
      const parts = from === undefined ? undefined : checkpoints.parts(from, 'fork');
      return overOthersSync(space, (fileSystem) => (fileSystem as Sync).forkSync({ from: parts?.get(fileSystem) }));
    },
    transactionSync: (work: (fileSystem: Sync) => unknown) => {
      begin('transaction');
      const branches = new Map<FileSystem, FileSystem>();
      const nest = ([next, ...rest]: readonly FileSystem[]): unknown => {
        if (next === undefined)
          return work(
            mountFileSystem(
              space.with((fileSystem) => branches.get(fileSystem) ?? fileSystem),
              { inTransaction: true },
            ) as Sync,
          );
        return (next as Sync).transactionSync((branch) => {
          branches.set(next, branch);
          return nest(rest);
        });
      };
      return nest(transactedIn(space));
    },
  };
}

function runRefused(): FsError {
  const hint =
    'An operation of your own may look at a mount but not change it: run it on the filesystem that is mounted';
  return new FsError('ENOTSUP', { syscall: 'run', hint });
}

/** Returns a mount of the filesystems that `other` returns, at the same mount points. Closing it closes them. */
async function overOthers(
  space: Namespace,
  other: (fileSystem: FileSystem) => Promise<FileSystem>,
): Promise<FileSystem> {
  const others = new Map<FileSystem, FileSystem>();
  try {
    for (const fileSystem of space.fileSystems) others.set(fileSystem, await other(fileSystem));
  } catch (error) {
    await closeAll(others).catch(() => {});
    throw error;
  }
  return mountOf(space, others);
}

/** The synchronous form of {@link overOthers}. */
function overOthersSync(space: Namespace, other: (fileSystem: FileSystem) => FileSystem): FileSystem {
  const others = new Map<FileSystem, FileSystem>();
  try {
    for (const fileSystem of space.fileSystems) others.set(fileSystem, other(fileSystem));
  } catch (error) {
    void closeAll(others).catch(() => {});
    throw error;
  }
  return mountOf(space, others);
}

function mountOf(space: Namespace, others: ReadonlyMap<FileSystem, FileSystem>): FileSystem {
  return mountFileSystem(
    space.with((fileSystem) => others.get(fileSystem) as FileSystem),
    { onClose: () => closeAll(others) },
  );
}

/** Closes all filesystems. @throws the first error, after all were tried */
async function closeAll(others: ReadonlyMap<FileSystem, FileSystem>): Promise<void> {
  const outcomes = await Promise.allSettled(Array.from(others.values(), async (fileSystem) => fileSystem.close()));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

function requireForks(space: Namespace): void {
  const lacking = space.all.find(({ fileSystem }) => !fileSystem.capabilities.forks);
  if (lacking !== undefined)
    throw new FsError('ENOTSUP', { syscall: 'fork', hint: `The filesystem at ${lacking.point} cannot fork` });
}
