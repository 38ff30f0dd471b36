import type { CommitResult } from '../backend.js';
import type { FsError } from '../errors.js';
import type { Limits } from '../limits.js';
import { limitError } from './view/limit-error.js';

/** The result of a commit that a limit refused. */
export type Limited = Extract<CommitResult, { kind: 'limit' }>;

/** Returns the error of a refused commit or rollback. */
export function errorOfLimit({ limit, used, requested, allowed }: Limited, syscall: string, path: string): FsError {
  return limitError(limit === 'maxFileSize' ? 'EFBIG' : 'ENOSPC', limit, used, requested, allowed, syscall, path);
}

/** Returns the limit that a change of totals exceeds, or undefined. A total that does not grow exceeds none. */
export function exceededLimit(
  before: { size: number; files: number; directories: number },
  after: typeof before,
  limits: Limits,
): Limited | undefined {
  const { maxTotalSize, maxNodeCount } = limits;
  if (maxTotalSize !== undefined && after.size > maxTotalSize && after.size > before.size) {
    return { kind: 'limit', limit: 'maxTotalSize', allowed: maxTotalSize, used: before.size, requested: after.size };
  }
  const nodes = after.files + after.directories;
  const used = before.files + before.directories;
  if (maxNodeCount !== undefined && nodes > maxNodeCount && nodes > used) {
    return { kind: 'limit', limit: 'maxNodeCount', allowed: maxNodeCount, used, requested: nodes };
  }
  return undefined;
}
