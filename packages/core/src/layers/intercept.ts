import {
  cannotRestore,
  keepTrustedApi,
  type SyncTrustedApi,
  type TrustedApi,
  trustedApi,
  type UntrustedApi,
} from '../engine/internals.js';
import { fixedLimits } from '../engine/quota.js';
import { collectItems } from '../engine/scheduling/time-slice.js';
import { FsError } from '../errors.js';
import type { FileHandle } from '../file-handle.js';
import type { Capabilities, FileSystem, SyncFileSystem } from '../file-system.js';
import { opendir, opendirSync } from '../opendir.js';
import { readStream, writeStream } from '../streams.js';
import {
  HANDLE_METHODS,
  type HandleMethodName,
  type HandleSpec,
  METHODS,
  type MethodName,
  type MethodSpec,
  namesOf,
  textPaths,
} from './method-table.js';
import { Watchers } from './watchers.js';
import { withFailures } from './with-failures.js';

/** One call that passes through a layer. */
export type Call =
  | {
      readonly on: 'fileSystem';
      readonly name: MethodName;
      readonly spec: MethodSpec;
      readonly args: readonly unknown[];
      /** The lower filesystem. */
      readonly target: FileSystem;
    }
  | {
      readonly on: 'handle';
      readonly name: HandleMethodName;
      readonly spec: HandleSpec;
      readonly args: readonly unknown[];
      readonly path: string;
      /** The lower handle. */
      readonly target: FileHandle;
    };

/** Handlers around calls with a single result, in both forms. */
export interface Simple {
  promise(call: Call, next: (args?: readonly unknown[]) => Promise<unknown>): Promise<unknown>;
  sync(call: Call, next: (args?: readonly unknown[]) => unknown): unknown;
}

/** Handlers around calls in each form. */
export interface Around extends Simple {
  iterator(call: Call, next: () => AsyncIterableIterator<unknown>): AsyncIterableIterator<unknown>;
  iteratorSync(call: Call, next: () => IterableIterator<unknown>): IterableIterator<unknown>;
  /** Returns the handlers for calls in a transaction's work; called anew for each run of the work. */
  inTransaction(call: Call): Around;
  /** Gets every error of a transaction's work, and returns what to throw. */
  failedInTransaction?(error: unknown): unknown;
}

type Method = (...args: readonly unknown[]) => unknown;
type Methods = Record<string | symbol, unknown>;

export interface InterceptOptions {
  readonly onClose?: () => Promise<void>;
  /** Returns the object that runs a caller's operations and cursors. Default: the lower filesystem. */
  readonly untrustedApi?: (self: FileSystem) => UntrustedApi;
  /** Returns the abilities of the layer. Default: those of the lower filesystem. */
  readonly capabilities?: (inner: Capabilities) => Capabilities;
  /**
   * Returns the object that runs this library's cursors, which ask guards, over a lower filesystem: the wrapped one, or
   * one that it returned, such as a fork. Default: the same as for a caller's.
   */
  readonly forCursors?: (name: 'iterate' | 'compare', lower: FileSystem) => TrustedApi;
}

/**
 * Returns a filesystem all of whose methods go through `around`, built from the method table: a method that is not in
 * the table does not exist in the layer. Streams work through the layer's `open`; results of `open`, `fork` and `at`,
 * and the filesystem that a `transaction` gives its work, are layers too. `close` ends the layer and its watchers; the
 * lower filesystem stays open unless `onClose` closes it.
 */
export function intercept(inner: FileSystem, around: Around, options: InterceptOptions = {}): FileSystem {
  const target = inner as unknown as Methods;
  const { onClose, untrustedApi, forCursors } = options;
  const layer: Methods = {};
  const self = layer as unknown as FileSystem;
  const isSync = inner.kind === 'sync';
  const watchers = new Watchers();
  let closed = false;
  const again = (fileSystem: unknown, by: Around): FileSystem =>
    intercept(fileSystem as FileSystem, by, { ...options, onClose: () => (fileSystem as FileSystem).close() });
  const own: Methods = {};
  const codeFor = (name: MethodName): TrustedApi | UntrustedApi => {
    if (untrustedApi === undefined) return trustedApi(inner);
    const code = name === 'iterate' || name === 'compare' ? forCursors?.(name, inner) : undefined;
    return code ?? untrustedApi(self);
  };

  for (const name of namesOf(METHODS)) {
    const spec: MethodSpec = METHODS[name];
    const textOf = textPaths(name);
    const callOf = (given: readonly unknown[]): Call => {
      return { on: 'fileSystem', name, spec, args: textOf(given), target: inner };
    };
    const plain = (on: Methods, key: string, args: readonly unknown[]): unknown => {
      if (closed) throw new FsError('EBADF', { syscall: spec.syscall, hint: 'The filesystem is closed' });
      // A layer works under the limits of the lower filesystem.
      if (name === 'setLimits') throw fixedLimits();
      const result = (on[key] as Method)(...args);
      return name === 'watch' ? watchers.add(result as AsyncIterableIterator<unknown>) : result;
    };
    const prepared = (call: Call): readonly unknown[] => {
      const [work, ...rest] = call.args;
      if (name !== 'transaction' || typeof work !== 'function') return call.args;
      const inside = (branch: unknown): unknown => work(again(branch, around.inTransaction(call)));
      const { failedInTransaction } = around;
      const failed = (error: unknown): unknown =>
        failedInTransaction === undefined ? error : failedInTransaction.call(around, error);
      return [withFailures(inside, failed), ...rest];
    };
    const finished = (result: unknown): unknown => {
      if (spec.answers === 'handle') return interceptHandle(result as FileHandle, around);
      return name === 'fork' || name === 'at' ? again(result, around) : result;
    };

    if (spec.shape === 'value') {
      const get = (): unknown =>
        name === 'capabilities' ? (options.capabilities?.(inner.capabilities) ?? inner.capabilities) : target[name];
      Object.defineProperty(layer, name, { get, enumerable: true });
      continue;
    }
    const install = (on: Methods, from: () => Methods): void => {
      const syncKey = spec.forms === 'sync' ? name : `${name}Sync`;
      if (spec.shape === 'call') {
        const promise = async (...args: readonly unknown[]): Promise<unknown> => {
          const call = callOf(args);
          return finished(await around.promise(call, async (it) => plain(from(), name, it ?? prepared(call))));
        };
        const sync = (...args: readonly unknown[]): unknown => {
          const call = callOf(args);
          return finished(around.sync(call, (it) => plain(from(), syncKey, it ?? prepared(call))));
        };
        if (spec.forms !== 'sync') on[name] = promise;
        if (isSync && spec.forms !== 'promise') on[syncKey] = sync;
      } else if (spec.shape === 'iterator') {
        on[name] = (...args: readonly unknown[]) => {
          const call = callOf(args);
          return around.iterator(call, () => plain(from(), name, call.args) as AsyncIterableIterator<unknown>);
        };
        if (!isSync || spec.forms !== 'both') return;
        on[syncKey] = (...args: readonly unknown[]) => {
          const call = callOf(args);
          return around.iteratorSync(call, () => plain(from(), syncKey, call.args) as IterableIterator<unknown>);
        };
      }
    };
    const takesCode = spec.whole === 'code' && spec.answers === 'plain';
    const isForUntrusted = takesCode && untrustedApi !== undefined;
    install(layer, isForUntrusted ? () => untrustedApi(self) as unknown as Methods : () => target);
    if (takesCode) install(own, () => codeFor(name) as unknown as Methods);
  }
  own['collect'] = (...args: readonly unknown[]) => {
    const call: Call = { on: 'fileSystem', name: 'iterate', spec: METHODS.iterate, args, target: inner };
    return around.promise(call, async () => {
      if (closed) throw new FsError('EBADF', { syscall: 'iterate', hint: 'The filesystem is closed' });
      const [start, given] = args as Parameters<TrustedApi['collect']>;
      const code = codeFor('iterate');
      return 'collect' in code ? code.collect(start, given) : collectItems(code.iterate(start, given));
    });
  };
  const besides = (args: readonly unknown[]): Call => {
    const [which, path, operation] = args;
    const uses = [{ path: path as string, at: 2, access: 'write', follow: false }] as const;
    const spec: MethodSpec = { ...METHODS.run, syscall: 'restore', paths: () => uses };
    return { on: 'fileSystem', name: 'run', spec, args: [operation, which, path], target: inner };
  };
  const lower = <K extends 'runBeside' | 'runBesideSync'>(name: K): NonNullable<SyncTrustedApi[K]> => {
    if (closed) throw new FsError('EBADF', { syscall: 'restore', hint: 'The filesystem is closed' });
    const api = trustedApi(inner as SyncFileSystem);
    if (untrustedApi === undefined && api[name] !== undefined)
      return api[name].bind(api) as NonNullable<SyncTrustedApi[K]>;
    throw cannotRestore();
  };
  own['runBeside'] = (...args: Parameters<NonNullable<TrustedApi['runBeside']>>) =>
    around.promise(besides(args), async () => lower('runBeside')(...args));
  own['runBesideSync'] = (...args: Parameters<NonNullable<SyncTrustedApi['runBesideSync']>>) =>
    around.sync(besides(args), () => lower('runBesideSync')(...args));
  keepTrustedApi(self, own as unknown as TrustedApi);
  Object.assign(layer, ownMethods(self));
  const close = async (): Promise<void> => {
    if (closed) return;
    closed = true;
    await watchers.end();
    await onClose?.();
  };
  layer['close'] = async () =>
    around.promise({ on: 'fileSystem', name: 'close', spec: METHODS.close, args: [], target: inner }, close);
  layer[Symbol.asyncDispose] = () => self.close();
  return self;
}

export type Own = 'promises' | 'createReadStream' | 'createWriteStream' | 'opendir';

/** Returns the methods that a layer makes from its other methods. */
export function ownMethods(self: FileSystem): Pick<FileSystem, Own> & Partial<Pick<SyncFileSystem, 'opendirSync'>> {
  const own: Pick<FileSystem, Own> = {
    promises: self,
    createReadStream: (path, options) => readStream(self, path, options),
    createWriteStream: (path, options) => writeStream(self, path, options),
    opendir: (path, options) => opendir(self, path, options),
  };
  if (self.kind !== 'sync') return own;
  return { ...own, opendirSync: (path, options) => opendirSync(self as SyncFileSystem, path, options) };
}

/** Like {@link intercept}, for an open file. */
export function interceptHandle(inner: FileHandle, around: Simple, path: string = inner.path): FileHandle {
  const target = inner as unknown as Methods;
  const layer: Methods = { path };
  const isSync = typeof target['readSync'] === 'function';
  for (const name of namesOf(HANDLE_METHODS)) {
    const spec: HandleSpec = HANDLE_METHODS[name];
    if (spec.shape === 'value') continue;
    const callOf = (args: readonly unknown[]): Call => ({ on: 'handle', name, spec, args, path, target: inner });
    layer[name] = async (...args: readonly unknown[]) =>
      around.promise(callOf(args), async (changed) => (target[name] as Method)(...(changed ?? args)));
    if (!isSync) continue;
    layer[`${name}Sync`] = (...args: readonly unknown[]) =>
      around.sync(callOf(args), (changed) => (target[`${name}Sync`] as Method)(...(changed ?? args)));
  }
  layer[Symbol.asyncDispose] = layer['close'];
  if (isSync) layer[Symbol.dispose] = layer['closeSync'];
  return layer as unknown as FileHandle;
}
