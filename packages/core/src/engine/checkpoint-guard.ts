import type { FileSystemStats } from '../limits.js';
import type { ComposedGuard } from './composed-guard.js';
import type { Context } from './context.js';
import type { Access, AccessRequest, Guard, StateCall } from './guard.js';
import { readOnlyError } from './read-only-error.js';

const HINT =
  'This is the state of a checkpoint, which does not change: fork the filesystem from it to get one that does';

/** Returns the error of a refused change of a checkpoint's state. */
export function checkpointIsReadOnly(syscall: string, path?: string): Error {
  return readOnlyError(syscall, path, undefined, HINT);
}

function checkAccess(access: Access, syscall: string, path: string): void {
  if (access === 'write' || access === 'remove') throw checkpointIsReadOnly(syscall, path);
}

function refuseState(call: StateCall): never {
  throw checkpointIsReadOnly(call);
}

const REFUSE_CHANGES: Guard = Object.freeze({
  check: ({ access, syscall, given }: AccessRequest) => checkAccess(access, syscall, given),
  isVisible: () => true,
  coversTree: () => true,
  checkState: refuseState,
});

/** {@link REFUSE_CHANGES} as a composed guard, for a filesystem without other guards. */
class CheckpointGuard implements ComposedGuard {
  readonly guards = [REFUSE_CHANGES];
  readonly hides = false;

  /** Adds nothing: {@link checkpointContext} adds the guard that is here already. */
  and(): ComposedGuard {
    return this;
  }
  check(_path: string, access: Access, syscall: string, given: string): void {
    checkAccess(access, syscall, given);
  }
  allows(_path: string, access: Access): boolean {
    return access === 'look' || access === 'read';
  }
  isVisible(): boolean {
    return true;
  }
  isKindVisible(): boolean {
    return true;
  }
  pass(): void {}
  stuck(): void {}
  checkTree(_view: unknown, _top: unknown, access: Access, syscall: string, given: string): void {
    checkAccess(access, syscall, given);
  }
  checkState(call: StateCall): void {
    refuseState(call);
  }
  shown(error: unknown): unknown {
    return error;
  }
  /** Not needed, because nothing is hidden. */
  stats(): FileSystemStats {
    return refuseState('restore');
  }
  restore(): void {
    refuseState('restore');
  }
}

/** Reports whether a context is that of a filesystem which shows the state of a checkpoint. */
export function isOfCheckpoint({ guard }: Context): boolean {
  return guard?.guards.includes(REFUSE_CHANGES) === true;
}

/** Returns the context of a filesystem that shows the state of a checkpoint. */
export function checkpointContext(context: Context, quota: Context['quota']): Context {
  return { ...context, quota, guard: context.guard?.and(REFUSE_CHANGES) ?? new CheckpointGuard() };
}
