import { FsError } from '../errors.js';

/** A transaction keeps no states and holds no other. */
export function notInTransaction(syscall: string): FsError {
  return new FsError('EINVAL', { syscall, hint: `${syscall} has no meaning inside a transaction` });
}
