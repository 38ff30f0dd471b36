import { signalIn } from '../engine/arguments.js';
import { needsSync } from '../engine/internals.js';
import { driveAsync, driveSync, type Procedure } from '../engine/scheduling/both-forms.js';
import type { CopyFilter, FileSystem } from '../file-system.js';
import { joinPath } from '../paths.js';
import type { MethodName } from './method-table.js';

/** A call of a method that exists in both forms, `stat` and `statSync`. */
interface MethodCall {
  readonly fileSystem: FileSystem;
  readonly name: MethodName;
  readonly args: readonly unknown[];
  /**
   * Options to append to the arguments; the asynchronous form adds the signal. Undefined if the arguments are complete.
   */
  readonly options?: object;
}

/** An action that is more than one method call, given in each form. */
interface ActionInBothForms {
  sync(): unknown;
  async(signal: AbortSignal | undefined): Promise<unknown>;
}

/** A sequence of calls of filesystems, written once and run in both forms. */
export type CallSequence<R> = Procedure<MethodCall | ActionInBothForms, R>;

/** Calls a method. The options are its last argument; the asynchronous form adds the signal to them. */
export function* invoke<R>(
  fileSystem: FileSystem,
  name: MethodName,
  args: readonly unknown[],
  options = {},
): CallSequence<R> {
  return (yield { fileSystem, name, args, options }) as R;
}

export function runCallsSync<R>(calls: CallSequence<R>): R {
  return driveSync(calls, performSync);
}

/** @throws what the calls throw; the signal's reason */
export async function runCalls<R>(calls: CallSequence<R>, signal: AbortSignal | undefined): Promise<R> {
  signal?.throwIfAborted();
  return driveAsync(calls, (request) => perform(request, signal));
}

type Methods = Record<string, (...args: readonly unknown[]) => unknown>;

function performSync(request: MethodCall | ActionInBothForms): unknown {
  if ('sync' in request) return request.sync();
  const { fileSystem, name, args, options } = request;
  const methods = fileSystem as unknown as Methods;
  const method = methods[`${name}Sync`];
  if (method === undefined) throw needsSync(`${name}Sync`);
  return options === undefined ? method.call(methods, ...args) : method.call(methods, ...args, options);
}

function perform(request: MethodCall | ActionInBothForms, signal: AbortSignal | undefined): unknown {
  if ('sync' in request) return request.async(signal);
  const { fileSystem, name, args, options } = request;
  const methods = fileSystem as unknown as Methods;
  return options === undefined ? methods[name]?.(...args) : methods[name]?.(...args, { ...options, signal });
}

/**
 * Returns the options of `cp` for a call with other paths of the same entries: the filter still gets paths under those
 * that the caller gave.
 */
export function withFilterFor(options: unknown, from: PathPair, to: PathPair): unknown {
  const { filter } = Object(options) as { readonly filter?: CopyFilter };
  if (typeof filter !== 'function') return options;
  const shown = (path: string, { given, inner }: PathPair): string =>
    path === inner ? given : joinPath(given, path.slice(inner === '/' ? 1 : inner.length + 1));
  return {
    ...(options as object),
    filter: (source: string, destination: string) => filter(shown(source, from), shown(destination, to)),
  };
}

/** A path as the caller gave it, and as the call gets it. */
interface PathPair {
  readonly given: string;
  readonly inner: string;
}

/** Returns the signal among the arguments of a promise method. */
export function signalOf(args: readonly unknown[]): AbortSignal | undefined {
  return signalIn(args.at(-1));
}
