import { FsError } from '../errors.js';

/** Returns the error of a method that a transaction does not have, such as `checkpoint`, `fork` or `transaction`. */
export function notInTransaction(syscall: string): FsError {
  return new FsError('EINVAL', { syscall, hint: `${syscall} has no meaning inside a transaction` });
}
