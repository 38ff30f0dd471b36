import { FsError } from '../errors.js';

/**
 * Returns the error of a method without meaning inside a transaction, which has no states and no nested transactions.
 */
export function notInTransaction(syscall: string): FsError {
  return new FsError('EINVAL', { syscall, hint: `${syscall} has no meaning inside a transaction` });
}
