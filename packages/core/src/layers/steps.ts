import { signalIn } from '../engine/arguments.js';
import type { FileSystem } from '../file-system.js';
import type { MethodName } from './method-table.js';

/** One call that a rule of a layer needs: rules are written once, as generators, and driven in both forms. */
export interface Step {
  readonly fileSystem: FileSystem;
  readonly name: MethodName;
  readonly args: readonly unknown[];
  /** Set where the options are ours: the signal is put among them. */
  readonly options?: object;
}

export type Rule<R> = Generator<Step, R, unknown>;

type Methods = Record<string, (...args: readonly unknown[]) => unknown>;

/** Asks a filesystem with options of our own. */
export function* ask<R>(fileSystem: FileSystem, name: MethodName, args: readonly unknown[], options = {}): Rule<R> {
  return (yield { fileSystem, name, args, options }) as R;
}

export function driveSync<R>(rule: Rule<R>): R {
  let at = rule.next();
  while (!at.done) {
    const { fileSystem, name, args, options } = at.value;
    let answer: unknown;
    try {
      answer = (fileSystem as unknown as Methods)[`${name}Sync`]?.(
        ...args,
        ...(options === undefined ? [] : [options]),
      );
    } catch (error) {
      at = rule.throw(error);
      continue;
    }
    at = rule.next(answer);
  }
  return at.value;
}

export async function drive<R>(rule: Rule<R>, signal: AbortSignal | undefined): Promise<R> {
  signal?.throwIfAborted();
  let at = rule.next();
  while (!at.done) {
    const { fileSystem, name, args, options } = at.value;
    let answer: unknown;
    try {
      const rest = options === undefined ? [] : [{ ...options, ...(signal === undefined ? {} : { signal }) }];
      answer = await (fileSystem as unknown as Methods)[name]?.(...args, ...rest);
    } catch (error) {
      at = rule.throw(error);
      continue;
    }
    at = rule.next(answer);
  }
  return at.value;
}

/** The signal among the arguments of a promise method. */
export function signalOf(args: readonly unknown[]): AbortSignal | undefined {
  return signalIn(args.at(-1));
}
