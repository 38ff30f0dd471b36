import { FsError, factsOf } from '../errors.js';

/**
 * Returns the error with other paths, and with another syscall if one is given. The cause is left out, as it would name
 * the old paths.
 */
export function withPaths(
  error: FsError,
  path: string | undefined,
  dest: string | undefined,
  syscall: string | undefined = error.syscall,
): FsError {
  const { code } = error;
  const plain = new FsError(code, { syscall: error.syscall, path: error.path, dest: error.dest }).message;
  const hint = error.message.startsWith(`${plain}. `) ? error.message.slice(plain.length + 2) : undefined;
  return new FsError(code, { ...factsOf(error), syscall, path, dest, hint });
}
