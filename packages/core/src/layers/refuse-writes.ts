import type { Operation } from '../engine/operation.js';
import { isFsError } from '../errors.js';
import type { SyncFileSystem } from '../file-system.js';
import type { Around, Call } from './intercept.js';
import { readOnlyError, STATE_HINTS, sealed } from './read-only-error.js';

type Verdict = 'pass' | 'refuse' | 'unless directory' | 'unless missing' | 'then refuse' | 'sealed';

/** Read-only access to a filesystem that is not one of the engine's: by what the table says of each method. */
export class RefuseWrites implements Around {
  async promise(call: Call, next: (args?: readonly unknown[]) => Promise<unknown>): Promise<unknown> {
    const verdict = judge(call);
    if (verdict === 'sealed') return next(sealArguments(call));
    if (verdict === 'unless directory' && (await target(call).isDirectory(firstPath(call)))) return undefined;
    if (verdict === 'unless missing' && (await isMissing(() => target(call).lstat(firstPath(call))))) return undefined;
    if (verdict === 'then refuse') await next();
    if (verdict === 'pass') return next();
    throw refusal(call);
  }

  sync(call: Call, next: (args?: readonly unknown[]) => unknown): unknown {
    const verdict = judge(call);
    if (verdict === 'sealed') return next(sealArguments(call));
    if (verdict === 'unless directory' && target(call).isDirectorySync(firstPath(call))) return undefined;
    if (verdict === 'unless missing' && isMissingSync(() => target(call).lstatSync(firstPath(call)))) return undefined;
    if (verdict === 'then refuse') next();
    if (verdict === 'pass') return next();
    throw refusal(call);
  }

  iterator(_call: Call, next: () => AsyncIterableIterator<unknown>): AsyncIterableIterator<unknown> {
    return next();
  }

  iteratorSync(_call: Call, next: () => IterableIterator<unknown>): IterableIterator<unknown> {
    return next();
  }

  inTransaction(): Around {
    return this;
  }
}

function judge(call: Call): Verdict {
  if (call.on === 'handle') return call.spec.access === 'write' ? 'refuse' : 'pass';
  const [, second] = call.args as [unknown, unknown];
  const options = typeof second === 'object' && second !== null ? (second as Record<string, unknown>) : {};
  if (call.name === 'run') return 'sealed';
  if (call.name === 'access') return ((second as number | undefined) ?? 0) & 2 ? 'then refuse' : 'pass';
  if (call.name === 'mkdir' && options['recursive'] === true) return 'unless directory';
  if (call.name === 'rm' && options['force'] === true) return 'unless missing';
  if (call.spec.whole === 'change') return 'refuse';
  const writes = call.spec.paths(call.args).some(({ access }) => access === 'write' || access === 'remove');
  return writes ? 'refuse' : 'pass';
}

function refusal(call: Call): Error {
  if (call.on === 'handle') return readOnlyError(call.name, call.path);
  if (call.name in STATE_HINTS) {
    return readOnlyError(call.name, undefined, undefined, STATE_HINTS[call.name as keyof typeof STATE_HINTS]);
  }
  const paths = call.spec.paths(call.args).map(({ path }) => (typeof path === 'string' ? path : undefined));
  return readOnlyError(call.spec.syscall, paths[0], paths[1]);
}

function sealArguments(call: Call): readonly unknown[] {
  const [operation, ...rest] = call.args;
  return [sealed(operation as Operation<readonly unknown[], unknown>), ...rest];
}

function firstPath(call: Call): string {
  return call.args[0] as string;
}

function target(call: Call): SyncFileSystem {
  return (call as Extract<Call, { on: 'fileSystem' }>).target as SyncFileSystem;
}

async function isMissing(look: () => Promise<unknown>): Promise<boolean> {
  try {
    await look();
    return false;
  } catch (error) {
    if (isFsError(error, 'ENOENT')) return true;
    throw error;
  }
}

function isMissingSync(look: () => unknown): boolean {
  try {
    look();
    return false;
  } catch (error) {
    if (isFsError(error, 'ENOENT')) return true;
    throw error;
  }
}
