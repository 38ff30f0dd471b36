import { FsError, type FsErrorCode } from '../../errors.js';
import {
  checkText,
  joinPath,
  MAX_DEPTH,
  MAX_NAME_BYTES,
  MAX_PATH_BYTES,
  normalizePath,
  pathSegments,
  utf8Length,
} from '../../paths.js';
import { DIRECTORY, type DirectoryNode, FILE, LINKED, type Node, SYMLINK } from '../../tree/node.js';
import type { Location } from '../../tree/tree.js';
import type { Access } from '../guard.js';
import { LimitView } from './limits.js';

/** Links followed in one path before ELOOP, as Linux has it. */
const MAX_HOPS = 40;

const NOT_FAST = Symbol('not fast');

/** What paths lead to, links followed, guards asked. */
export abstract class PathView extends LimitView {
  /** After `find`: the directory in which the name lies or would lie. */
  parent: Location = this.tree.rootLocation;
  /** After `find`: the name in `parent`; empty for the root. */
  name = '';
  #failure: FsErrorCode | undefined;

  /**
   * What a path leads to, or undefined where only the last name is missing (of a dangling link: where it points).
   * @throws FsError ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, EINVAL, and what the guard refuses
   */
  find(path: string, follow: boolean, access: Access, syscall: string): Node | undefined {
    if (this.context.guard === undefined) {
      const node = this.#findFast(path, follow);
      if (node !== NOT_FAST) return this.#found(node);
    }
    this.#failure = undefined;
    const node = this.#walk(normalizePath(path, syscall, false), follow, syscall, path);
    if (this.#failure !== undefined) throw new FsError(this.#failure, { syscall, path });
    this.context.guard?.check(this.path(), access, syscall, path);
    return this.#found(node);
  }

  /** Like `find`, but answers undefined wherever the path leads nowhere. */
  peek(path: string, follow: boolean, access: Access, syscall: string): Node | undefined {
    if (this.context.guard === undefined) {
      const node = this.#findFast(path, follow);
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
    const node = this.#walk(normal, follow, syscall, path);
    if (node === undefined || this.#failure !== undefined) return undefined;
    this.context.guard?.check(this.path(), access, syscall, path);
    return this.#found(node);
  }

  /** What is found may have been known from a listing only. */
  #found(node: Node | undefined): Node | undefined {
    if (this.recorder !== undefined && node !== undefined) this.relyOnNode(node);
    return node;
  }

  /** The normalized path, free of links, that the last `find` arrived at. */
  path(): string {
    return this.name === '' ? '/' : joinPath(this.parent.path, this.name);
  }

  /** The directory that the last `find` arrived at, as a location. */
  location(directory: DirectoryNode): Location {
    return this.name === '' ? this.tree.rootLocation : this.tree.childLocation(this.parent, this.name, directory);
  }

  /** A directory and name that are both in the tree prove that the path was normal: nothing needs to be checked. */
  #findFast(path: string, follow: boolean): Node | undefined | typeof NOT_FAST {
    if (typeof path !== 'string') return NOT_FAST;
    const slash = path.lastIndexOf('/');
    if (slash < 0) return NOT_FAST;
    const parent = slash === 0 ? this.tree.rootLocation : this.tree.cachedLocation(path.slice(0, slash));
    if (parent === undefined) return NOT_FAST;
    const name = path.slice(slash + 1);
    const entry = parent.directory.entries.get(name);
    if (entry === undefined) {
      if (!parent.directory.complete || !isPlainName(name) || path.length > 1000) return NOT_FAST;
    } else if (entry.kind >= LINKED || (follow && entry.kind === SYMLINK)) return NOT_FAST;
    this.parent = parent;
    this.name = name;
    return entry as Node | undefined;
  }

  #walk(path: string, follow: boolean, syscall: string, given: string): Node | undefined {
    const names = path === '/' ? [] : path.slice(1).split('/').reverse();
    let location = this.tree.rootLocation;
    let node: Node | undefined = location.directory;
    this.parent = location;
    this.name = '';
    let hops = 0;
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      if (name === '' || name === '.') continue;
      if (name === '..') {
        location = location.parent ?? location;
        this.#arrive(location);
        node = location.directory;
        continue;
      }
      if (name.length * 3 > MAX_NAME_BYTES && utf8Length(name) > MAX_NAME_BYTES) return this.#fail('ENAMETOOLONG');
      const entry = this.lookup(location, name, names);
      node = this.tree.resolve(entry);
      this.parent = location;
      this.name = name;
      if (node === undefined) {
        if (names.length > 0) return this.#fail('ENOENT');
        // Through links a path may become longer than the one that was given.
        return isTooLong(this.path()) ? this.#fail('ENAMETOOLONG') : undefined;
      }
      if (node.kind === DIRECTORY) {
        location = this.tree.childLocation(location, name, node);
        continue;
      }
      if (node.kind === FILE || (names.length === 0 && !follow)) {
        return names.length === 0 ? node : this.#fail('ENOTDIR');
      }
      if (++hops > MAX_HOPS) return this.#fail('ELOOP');
      this.context.guard?.check(this.path(), 'look', syscall, given);
      const target = node.target.replaceAll('\\', '/');
      if (target[0] === '/') {
        location = this.tree.rootLocation;
        this.#arrive(location);
      } else this.#arrive(location);
      node = location.directory;
      // A trailing slash is ignored here as in every path.
      const rest = target.replace(/\/+$/, '').split('/');
      for (let i = rest.length - 1; i >= 0; i--) names.push(rest[i] as string);
    }
    return node;
  }

  #arrive(location: Location): void {
    this.parent = location.parent ?? location;
    this.name = location.parent === null ? '' : location.name;
  }

  #fail(code: FsErrorCode): undefined {
    this.#failure = code;
    return undefined;
  }
}

/** Whether a name that was not found is surely a legal one: short, and free of separators, NUL and surrogates. */
function isPlainName(name: string): boolean {
  if (name.length === 0 || name.length * 3 > MAX_NAME_BYTES || name === '.' || name === '..') return false;
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i);
    if (unit === 0 || unit === 0x5c || (unit >= 0xd800 && unit < 0xe000)) return false;
  }
  return true;
}

/** Whether a normalized path is longer, or deeper, than paths may be. */
export function isTooLong(path: string): boolean {
  if (path.length * 3 <= MAX_PATH_BYTES && path.length <= MAX_DEPTH * 2) return false;
  return utf8Length(path) > MAX_PATH_BYTES || pathSegments(path).length > MAX_DEPTH;
}
