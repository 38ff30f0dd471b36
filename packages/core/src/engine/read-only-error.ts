import { FsError } from '../errors.js';
import type { View } from './view.js';

const HINT = 'This filesystem is read-only; to change a copy of it, lay an overlay over it';

export function readOnlyError(syscall: string, path?: string, dest?: string, hint = HINT): FsError {
  return new FsError('EROFS', { syscall, path, dest, hint });
}

export const STATE_HINTS = {
  checkpoint: 'A read-only view leaves nothing behind; fork gives this moment to look at',
  rollback: 'A read-only view does not change what others see',
  drop: 'A read-only view cannot drop checkpoints of the lower filesystem',
  restore: 'A read-only view does not change what others see',
} as const;

/** Wraps an operation so that it throws if it has recorded a change. Undoing the change is the executor's part. */
export function sealed<A extends readonly unknown[], R>(
  operation: (view: View, ...args: A) => R,
  refusal: () => Error = () => readOnlyError('run'),
) {
  return (view: View, ...args: A): R => {
    view.changes ??= [];
    const { changes } = view;
    const before = changes.length;
    const written = view.recorder?.writes.length;
    const result = operation(view, ...args);
    if (changes.length > before || view.recorder?.writes.length !== written) throw refusal();
    return result;
  };
}
