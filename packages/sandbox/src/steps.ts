import type { EntryInfo, FileSystem, SyncFileSystem, WalkOptions } from '@scratchfs/core';

/** What a rule of the sandbox needs done by the filesystem. Rules are written once and run in both forms. */
type Step =
  | { readonly method: string; readonly args: readonly unknown[]; readonly options: object }
  | { readonly walk: string; readonly options: WalkOptions }
  | { readonly atomic: () => Steps<unknown> };

export type Steps<R> = Generator<Step, R, unknown>;

/** Calls a method whose last argument is options; the signal comes among them. */
export function* call<R>(method: string, args: readonly unknown[], options: object = {}): Steps<R> {
  return (yield { method, args, options }) as R;
}

/** Everything beneath a directory, down to a depth. */
export function* walk(path: string, options: WalkOptions): Steps<EntryInfo[]> {
  return (yield { walk: path, options }) as EntryInfo[];
}

/** Several steps at once or not at all. */
export function* atomic<R>(work: () => Steps<R>): Steps<R> {
  return (yield { atomic: work }) as R;
}

type Methods = Record<string, (...args: readonly unknown[]) => unknown>;

export function runSync<R>(fileSystem: SyncFileSystem, steps: Steps<R>): R {
  let at = steps.next();
  while (!at.done) {
    let answer: unknown;
    try {
      answer = answerSync(fileSystem, at.value);
    } catch (error) {
      at = steps.throw(error);
      continue;
    }
    at = steps.next(answer);
  }
  return at.value;
}

function answerSync(fileSystem: SyncFileSystem, step: Step): unknown {
  if ('walk' in step) return [...fileSystem.walkSync(step.walk, step.options)];
  if ('atomic' in step) return fileSystem.transactionSync((branch) => runSync(branch, step.atomic()));
  return (fileSystem as unknown as Methods)[`${step.method}Sync`]?.(...step.args, step.options);
}

export async function run<R>(fileSystem: FileSystem, steps: Steps<R>, signal: AbortSignal | undefined): Promise<R> {
  signal?.throwIfAborted();
  let at = steps.next();
  while (!at.done) {
    let answer: unknown;
    try {
      answer = await answerTo(fileSystem, at.value, signal);
    } catch (error) {
      at = steps.throw(error);
      continue;
    }
    at = steps.next(answer);
  }
  return at.value;
}

async function answerTo(fileSystem: FileSystem, step: Step, signal: AbortSignal | undefined): Promise<unknown> {
  if ('walk' in step) {
    const found: EntryInfo[] = [];
    for await (const info of fileSystem.walk(step.walk, { ...step.options, signal })) found.push(info);
    return found;
  }
  if ('atomic' in step) {
    return fileSystem.transaction((branch) => run(branch, step.atomic(), signal), { signal });
  }
  return (fileSystem as unknown as Methods)[step.method]?.(...step.args, { ...step.options, signal });
}
