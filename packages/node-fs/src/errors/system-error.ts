import { coded } from './argument-errors.js';

/** Details of a call in Node's `SystemError`. */
export interface SystemErrorInfo {
  readonly code: string;
  readonly message: string;
  readonly path?: string;
  readonly dest?: string;
  readonly syscall: string;
  readonly errno: number;
}

const PREFIXES = {
  ERR_FS_CP_DIR_TO_NON_DIR: 'Cannot overwrite non-directory with directory',
  ERR_FS_CP_EEXIST: 'Target already exists',
  ERR_FS_CP_EINVAL: 'Invalid src or dest',
  ERR_FS_CP_NON_DIR_TO_DIR: 'Cannot overwrite directory with non-directory',
  ERR_FS_CP_SYMLINK_TO_SUBDIRECTORY: 'Cannot overwrite symlink in subdirectory of self',
  ERR_FS_EISDIR: 'Path is a directory',
} as const;

/** Creates the error that `rm` and `cp` throw when Node, not the kernel, refuses: its errno is positive. */
export function systemError(code: keyof typeof PREFIXES, info: SystemErrorInfo): Error {
  const { path, dest, syscall, errno } = info;
  const place = `${path === undefined ? '' : ` ${path}`}${dest === undefined ? '' : ` => ${dest}`}`;
  const error = new Error(`${PREFIXES[code]}: ${syscall} returned ${info.code} (${info.message})${place}`);
  Object.defineProperty(error, 'name', { value: 'SystemError', writable: true, configurable: true });
  const paths = { ...(path === undefined ? {} : { path }), ...(dest === undefined ? {} : { dest }) };
  return Object.assign(coded(error, code), { info, errno, syscall, ...paths });
}
