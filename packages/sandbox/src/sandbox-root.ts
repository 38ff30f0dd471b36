import { baseName, joinPath, normalizePath, pathSegments } from '@scratchfs/core';
import type { ParsedSandboxConfig } from './config.js';

/** A directory of the filesystem with its rules. */
export interface SandboxRoot {
  /** The name it is mounted under; undefined if it is `/` of the sandbox. */
  readonly name: string | undefined;
  /** Its normalized path in the filesystem. */
  readonly path: string;
  readonly isWritable: boolean;
  readonly suffixes: readonly string[] | undefined;
  readonly maxFileBytes: number | undefined;
  readonly readApproval: boolean;
  readonly writeApproval: boolean;
}

/**
 * Returns the roots of a configuration, in its order.
 * @throws RangeError for an invalid root, and for one that has two names
 */
export function sandboxRoots(config: ParsedSandboxConfig, basePath: string): readonly SandboxRoot[] {
  const roots: SandboxRoot[] = [];
  if (config.root !== undefined) {
    const { root, readonly, ...rest } = config.root;
    roots.push({ name: undefined, path: rootAt(root, basePath, 'sandbox.root.root'), isWritable: !readonly, ...rest });
  } else {
    for (const [name, { root, mode, ...rest }] of Object.entries(config.paths)) {
      const configured = {
        name,
        path: rootAt(root, basePath, `sandbox.paths.${name}.root`),
        isWritable: mode === 'rw',
        ...rest,
      };
      const other = roots.find((each) => each.path === configured.path);
      if (other !== undefined) {
        throw new RangeError(
          `sandbox.paths.${other.name} and sandbox.paths.${name} have the same root: give it one name`,
        );
      }
      roots.push(configured);
    }
  }
  return Object.freeze(roots.map((each) => Object.freeze(each)));
}

/** Reports whether a file name has one of the suffixes; true without a list. Case-sensitive. */
export function hasSuffix(path: string, suffixes: readonly string[] | undefined): boolean {
  if (suffixes === undefined) return true;
  const name = baseName(path);
  return suffixes.some((suffix) =>
    suffix === '' ? name.lastIndexOf('.') <= 0 : name.length > suffix.length && name.endsWith(suffix),
  );
}

/**
 * Returns the path of a configured root. @throws RangeError for a host path, which is a mistake, and for one that leads
 * above the root of the filesystem
 */
function rootAt(root: string, basePath: string, field: string): string {
  if (isHostPath(root))
    throw new RangeError(`${field} must be a directory of the filesystem, not of a host: no ~, drive or //`);
  const full = isAbsolute(root) ? root : `${basePath}/${root}`;
  if (climbs(full, 0)) throw new RangeError(`${field} must not lead above the root of the filesystem`);
  return normalizePath(full);
}

/**
 * Reports whether a path begins with `~`, a drive letter or the `//` of a share, which mean another place on a host.
 */
export function isHostPath(path: string): boolean {
  return path[0] === '~' || (isSeparator(path, 0) && isSeparator(path, 1)) || /^[A-Za-z]:/.test(path);
}

export function isAbsolute(path: string): boolean {
  return isSeparator(path, 0);
}

function isSeparator(path: string, at: number): boolean {
  return path[at] === '/' || path[at] === '\\';
}

/**
 * Reports whether a `..` of a path takes away one of its first `floor` names or leads above its start. Linear, without
 * allocation.
 */
export function climbs(path: string, floor: number): boolean {
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= path.length; i++) {
    if (i < path.length && !isSeparator(path, i)) continue;
    const size = i - start;
    if (size === 2 && path.startsWith('..', start)) {
      if (depth <= floor) return true;
      depth -= 1;
    } else if (size > 0 && !(size === 1 && path[start] === '.')) depth += 1;
    start = i + 1;
  }
  return false;
}

/** Returns the path in the filesystem of names under a root. */
export function beneath(root: SandboxRoot, names: readonly string[]): string {
  return names.reduce(joinPath, root.path);
}

/** Returns the names of a path under a root. */
export function namesIn(root: SandboxRoot, path: string): string[] {
  return pathSegments(path).slice(pathSegments(root.path).length);
}
