import { FsError, normalizePath, parentPath } from '@scratchfs/core';
import type { AccessRequest, Guard } from '@scratchfs/core/layers';
import { type Refusal, refusalError, type Words } from './errors.js';
import { rootOf } from './namespace.js';
import type { Policy } from './policy.js';
import { hasSuffix, type SandboxRoot } from './sandbox-root.js';

const ROOT_STAYS_HINT = 'A root directory of the sandbox cannot be moved or removed';

type Access = AccessRequest['access'];
type Kind = AccessRequest['kind'];

/** A policy as the guard of a filesystem: decides every access to a path. */
export class PolicyGuard implements Guard {
  readonly #roots: readonly SandboxRoot[];
  readonly #policy: Policy;
  readonly #words: Words;

  constructor(roots: readonly SandboxRoot[], policy: Policy, words: Words) {
    this.#roots = roots;
    this.#policy = policy;
    this.#words = words;
  }

  check(request: AccessRequest): void {
    const { path, access, kind, syscall, given } = request;
    // The decision must not depend on the access: `mkdir`, for example, writes only if nothing exists.
    if (this.#policy.denies(path) && this.#policy.denies(normalizePath(given)))
      throw new FsError('ENOENT', { syscall, path: given });
    const refusal = this.#refusal(request);
    if (refusal !== undefined) throw refusalError(refusal, given, this.#words);
    if (access === 'remove' && kind === 'directory' && path !== '/' && this.#policy.isEntry(path)) {
      throw new FsError('EBUSY', { syscall, path: given, hint: ROOT_STAYS_HINT });
    }
  }

  isVisible(path: string, kind: Kind): boolean {
    const policy = this.#policy;
    if (kind === 'file') return policy.canRead(path) && hasSuffix(path, rootOf(this.#roots, path)?.suffixes);
    if (policy.canRead(path)) return true;
    const isShown = policy.isEntry(path) || (kind === 'directory' && policy.isOnTheWay(path));
    return isShown && (path === '/' || policy.canList(parentPath(path)));
  }

  coversTree(path: string): boolean {
    const { suffixes, maxFileBytes } = rootOf(this.#roots, path) ?? {};
    return suffixes === undefined && maxFileBytes === undefined && this.#policy.isUniform(path);
  }

  #refusal(request: AccessRequest): Refusal | undefined {
    const { path, kind, access } = request;
    const policy = this.#policy;
    const refusal = pathRefusal(this.#roots, policy, path, access, kind);
    if (refusal !== undefined) return refusal;
    if (isMoved(request) && !policy.canRead(path)) return OUTSIDE;
    const maxFileBytes = kind === 'file' && access === 'read' ? rootOf(this.#roots, path)?.maxFileBytes : undefined;
    const { size = 0 } = request;
    return maxFileBytes !== undefined && size > maxFileBytes
      ? { kind: 'tooLarge', size, limit: maxFileBytes }
      : undefined;
  }
}

/**
 * Returns the reason why a policy refuses a path, judged by everything but the file's size; undefined if it is allowed.
 */
export function pathRefusal(
  roots: readonly SandboxRoot[],
  policy: Policy,
  path: string,
  access: Access,
  kind: Kind,
): Refusal | undefined {
  if (policy.denies(path)) return { kind: 'denied' };
  const refusal = placeRefusal(policy, path, access, kind);
  const suffixes = kind === 'file' ? rootOf(roots, path)?.suffixes : undefined;
  if (refusal !== undefined || suffixes === undefined || hasSuffix(path, suffixes)) return refusal;
  return { kind: 'suffix', allowed: suffixes };
}

function placeRefusal(policy: Policy, path: string, access: Access, kind: Kind): Refusal | undefined {
  const isLooked = access === 'look' || access === 'read';
  if (policy.canRead(path)) return isLooked || policy.canWrite(path) ? undefined : { kind: 'notWritable' };
  if (policy.canWrite(path) && access !== 'read') return undefined;
  if (!isLooked || kind === 'file') return OUTSIDE;
  const isSeen = access === 'look' ? policy.isOnTheWay(path) || policy.isEntry(path) : policy.canList(path);
  return isSeen ? undefined : OUTSIDE;
}

/**
 * Reports whether a request belongs to a link, or to a rename that takes a name away. Its path must then be readable,
 * because the entry could become readable under another name.
 */
function isMoved({ access, syscall }: AccessRequest): boolean {
  return syscall === 'link' || (syscall === 'rename' && access === 'remove');
}

const OUTSIDE: Refusal = { kind: 'outside' };
