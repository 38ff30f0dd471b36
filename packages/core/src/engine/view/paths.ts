import type { EntryKind } from '../../entry.js';
import { FsError, type FsErrorCode } from '../../errors.js';
import {
  checkText,
  joinPath,
  MAX_DEPTH,
  MAX_LINK_HOPS,
  MAX_NAME_BYTES,
  MAX_PATH_BYTES,
  normalizePath,
  pathSegments,
  utf8Length,
} from '../../paths.js';
import { DIRECTORY, FILE, LINKED, type Node, SYMLINK } from '../../tree/node.js';
import type { Aim, ComposedGuard } from '../composed-guard.js';
import type { Access } from '../guard.js';
import { LoadingView } from './loading.js';
import { PathCursor } from './path-cursor.js';

const NOT_FAST = Symbol('not fast');
const REFUSED = Symbol('refused');

/** Resolves paths: follows links and calls the guard. */
export abstract class PathView extends LoadingView {
  /** The position of the last lookup. */
  readonly at = new PathCursor(this.tree);
  /** True if a lookup was for a write. */
  seeksToWrite = false;
  #failure: FsErrorCode | undefined;
  /** True if the caller expects refusals. */
  #isQuiet = false;

  /**
   * Returns the node at a path, or undefined if only the last name is missing (of a dangling link: its target).
   * `makes`: the kind of entry that the operation creates, for guards.
   * @throws FsError ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, EINVAL, and the errors of the guard
   */
  find(path: string, follow: boolean, access: Access, syscall: string, makes?: EntryKind): Node | undefined {
    if (this.context.guard === undefined) {
      const node = this.#findFast(path, follow, access === 'write');
      if (node !== NOT_FAST) return this.#found(node);
    }
    this.#failure = undefined;
    const node = this.#walk(normalizePath(path, syscall, false), follow, { access, syscall, given: path, makes });
    if (this.#failure !== undefined) throw new FsError(this.#failure, { syscall, path });
    this.context.guard?.check(this.at.path(), access, syscall, path, node, makes);
    return this.#found(node);
  }

  /** Like `find`, for a directory on the way: the guard checks the way to it, not the directory itself. */
  findWay(path: string, follow: boolean, aim: Aim): Node | undefined {
    this.#failure = undefined;
    const node = this.#walk(path, follow, aim);
    if (this.#failure !== undefined) throw new FsError(this.#failure, { syscall: aim.syscall, path: aim.given });
    return this.#found(node);
  }

  /** Returns the node at a path for the engine's own use, without calling the guard. */
  trace(path: string): Node | undefined {
    this.#failure = undefined;
    const node = this.#walk(path, false, undefined);
    return this.#failure === undefined && node !== undefined ? this.#found(node) : undefined;
  }

  /**
   * Like `find`, but returns undefined for every path that leads nowhere. `given`: the path as the caller wrote it, if
   * it differs.
   */
  peek(path: string, follow: boolean, access: Access, syscall: string, given = path): Node | undefined {
    if (this.context.guard === undefined) {
      const node = this.#findFast(path, follow, access === 'write');
      if (node !== NOT_FAST) return this.#found(node);
    }
    if (typeof path !== 'string') checkText(path, 'path');
    let normal: string;
    try {
      normal = normalizePath(path, syscall, false);
    } catch {
      return undefined;
    }
    this.#failure = undefined;
    const node = this.#walk(normal, follow, { access, syscall, given });
    if (this.#failure !== undefined) return undefined;
    this.#ask((guard) => guard.check(this.at.path(), access, syscall, given, node));
    return node && this.#found(node);
  }

  /** Like `peek`, but also returns undefined if the guard refuses. */
  glance(path: string, follow: boolean, syscall: string): Node | undefined {
    this.#isQuiet = true;
    try {
      return this.peek(path, follow, 'look', syscall);
    } catch (error) {
      if (error === REFUSED) return undefined;
      throw error;
    } finally {
      this.#isQuiet = false;
    }
  }

  /** Returns true if the guard allows reading the content at a path. */
  mayRead(path: string): boolean {
    const { guard } = this.context;
    return guard === undefined || guard.allows(path, 'read', 'open', this.trace(path));
  }

  #ask(question: (guard: ComposedGuard) => void): void {
    const { guard } = this.context;
    if (guard === undefined) return;
    if (!this.#isQuiet) {
      question(guard);
      return;
    }
    try {
      question(guard);
    } catch {
      throw REFUSED;
    }
  }

  /** The node may be known only from a listing. */
  #found(node: Node | undefined): Node | undefined {
    if (this.recorder !== undefined && node !== undefined) this.relyOnNode(node);
    return node;
  }

  /** If both the directory and the name are in the tree, the path was valid and needs no check. */
  #findFast(path: string, follow: boolean, isWrite: boolean): Node | undefined | typeof NOT_FAST {
    if (typeof path !== 'string') return NOT_FAST;
    const slash = path.lastIndexOf('/');
    if (slash < 0) return NOT_FAST;
    const parent = slash === 0 ? this.tree.rootLocation : this.tree.cachedLocation(path.slice(0, slash));
    if (parent === undefined) return NOT_FAST;
    const name = path.slice(slash + 1);
    const { entries } = parent.directory;
    const entry = isWrite ? entries.getToSet(name) : entries.get(name);
    if (entry === undefined) {
      if (!parent.directory.complete || !isPlainName(path, slash + 1) || isTooLong(path)) return NOT_FAST;
    } else if (entry.kind >= LINKED || (follow && entry.kind === SYMLINK)) return NOT_FAST;
    this.at.moveTo(parent, name);
    return entry as Node | undefined;
  }

  #walk(path: string, follow: boolean, aim: Aim | undefined): Node | undefined {
    const guard = aim && this.context.guard;
    if (aim?.access === 'write') this.seeksToWrite = true;
    const names = path === '/' ? [] : path.slice(1).split('/').reverse();
    let location = this.tree.rootLocation;
    let node: Node | undefined = location.directory;
    const { at } = this;
    at.moveTo(location, '');
    let hops = 0;
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      if (name === '' || name === '.') continue;
      if (name === '..') {
        location = location.parent ?? location;
        at.moveToDirectory(location);
        node = location.directory;
        continue;
      }
      if (guard !== undefined && aim !== undefined && names.length > 0)
        this.#ask(() => guard.pass(joinPath(location.path, name), names, aim));
      if (name.length * 3 > MAX_NAME_BYTES && utf8Length(name) > MAX_NAME_BYTES)
        return this.#fail('ENAMETOOLONG', joinPath(location.path, name), names, aim);
      const entry = this.lookup(location, name, names);
      node = this.tree.resolve(entry);
      at.moveTo(location, name);
      if (node === undefined) {
        if (names.length > 0) return this.#fail('ENOENT', at.path(), names, aim);
        // Following links may make the path longer than the given one.
        return isTooLong(at.path()) ? this.#fail('ENAMETOOLONG', at.path(), names, aim) : undefined;
      }
      if (node.kind === DIRECTORY) {
        location = this.tree.childLocation(location, name, node);
        continue;
      }
      if (node.kind === FILE || (names.length === 0 && !follow)) {
        return names.length === 0 ? node : this.#fail('ENOTDIR', at.path(), names, aim);
      }
      if (++hops > MAX_LINK_HOPS) return this.#fail('ELOOP', at.path(), names, aim);
      if (node.outside) return this.#fail('EACCES', at.path(), names, aim);
      if (guard !== undefined && aim !== undefined) {
        const link = node;
        this.#ask(() => guard.check(at.path(), 'look', aim.syscall, aim.given, link));
      }
      const target = node.target.replaceAll('\\', '/');
      if (target[0] === '/') location = this.tree.rootLocation;
      at.moveToDirectory(location);
      node = location.directory;
      // A trailing slash is ignored, as in every path.
      const rest = target.replace(/\/+$/, '').split('/');
      for (let i = rest.length - 1; i >= 0; i--) names.push(rest[i] as string);
    }
    return node;
  }

  /** The guard is called before the error says why a path leads nowhere, which could reveal entries that it hides. */
  #fail(code: FsErrorCode, path: string, rest: readonly string[], aim: Aim | undefined): undefined {
    if (aim !== undefined) this.#ask((guard) => guard.stuck(path, rest, aim));
    this.#failure = code;
    return undefined;
  }
}

/** Returns true if the name at the end of a path is certainly valid: short, without separators, NUL and surrogates. */
function isPlainName(path: string, start: number): boolean {
  const length = path.length - start;
  if (length === 0 || length * 3 > MAX_NAME_BYTES) return false;
  // The path is a flat string; a name cut from it is not, and reading its code units is slow.
  for (let i = start; i < path.length; i++) {
    const unit = path.charCodeAt(i);
    if (unit === 0 || unit === 0x5c || (unit >= 0xd800 && unit < 0xe000)) return false;
  }
  return length > 2 || path.charCodeAt(path.length - 1) !== 0x2e || path.charCodeAt(start) !== 0x2e;
}

/** Returns true if a normalized path exceeds the maximum length or depth. */
export function isTooLong(path: string): boolean {
  if (path.length * 3 <= MAX_PATH_BYTES && path.length <= MAX_DEPTH * 2) return false;
  return utf8Length(path) > MAX_PATH_BYTES || pathSegments(path).length > MAX_DEPTH;
}
