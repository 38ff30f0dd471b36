import type { EntryKind } from '../../entry.js';
import { FsError, type FsErrorCode } from '../../errors.js';
import {
  checkText,
  joinPath,
  MAX_LINK_HOPS,
  MAX_NAME_BYTES,
  nameLimitHint,
  normalizePath,
  utf8Length,
} from '../../paths.js';
import { DIRECTORY, FILE, type Node } from '../../tree/node.js';
import type { Aim, ComposedGuard } from '../composed-guard.js';
import type { Access } from '../guard.js';
import { isTooLong, type PathCursor } from './path-cursor.js';
import type { ViewState } from './view-state.js';

const REFUSED = Symbol('refused');

/**
 * Resolves paths: follows links and calls the guard. Every lookup moves the cursor to where it arrived.
 */
export class PathResolver {
  readonly #view: ViewState;
  readonly #at: PathCursor;
  #failure: FsErrorCode | undefined;
  /** Sentence for the message of the failure. */
  #hint: string | undefined;
  /** True during `glance`, which returns undefined if the guard refuses. */
  #isQuiet = false;

  constructor(view: ViewState, at: PathCursor) {
    this.#view = view;
    this.#at = at;
  }

  /** See `View.find`, which calls this if `PathCursor.moveToKnown` cannot be used or does not know the path. */
  find(path: string, follow: boolean, access: Access, syscall: string, makes?: EntryKind): Node | undefined {
    this.#failure = undefined;
    const node = this.#walk(normalizePath(path, syscall, false), follow, { access, syscall, given: path, makes });
    if (this.#failure !== undefined) throw new FsError(this.#failure, { syscall, path, hint: this.#hint });
    this.#view.context.guard?.check(this.#at.path(), access, syscall, path, node, makes);
    return this.#view.found(node);
  }

  /** Like `find`, for a directory on the way: the guard checks the way to it, not the directory itself. */
  findWay(path: string, follow: boolean, aim: Aim): Node | undefined {
    this.#failure = undefined;
    const node = this.#walk(path, follow, aim);
    if (this.#failure !== undefined) throw new FsError(this.#failure, { syscall: aim.syscall, path: aim.given });
    return this.#view.found(node);
  }

  /** Returns the node at a path for the engine's own use, without calling the guard. */
  trace(path: string): Node | undefined {
    this.#failure = undefined;
    const node = this.#walk(path, false, undefined);
    return this.#failure === undefined && node !== undefined ? this.#view.found(node) : undefined;
  }

  /** See `View.peek`, which calls this if `PathCursor.moveToKnown` cannot be used or does not know the path. */
  peek(path: string, follow: boolean, access: Access, syscall: string, given = path): Node | undefined {
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
    this.#ask((guard) => guard.check(this.#at.path(), access, syscall, given, node));
    return node && this.#view.found(node);
  }

  /** Like `peek`, but also returns undefined if the guard refuses. */
  glance(path: string, follow: boolean, syscall: string): Node | undefined {
    this.#isQuiet = true;
    try {
      return this.#view.peek(path, follow, 'look', syscall);
    } catch (error) {
      if (error === REFUSED) return undefined;
      throw error;
    } finally {
      this.#isQuiet = false;
    }
  }

  /** Reports whether the content at a path may be read. */
  mayRead(path: string): boolean {
    const { guard } = this.#view.context;
    return guard === undefined || guard.allows(path, 'read', 'open', this.trace(path));
  }

  #ask(question: (guard: ComposedGuard) => void): void {
    const { guard } = this.#view.context;
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

  #walk(path: string, follow: boolean, aim: Aim | undefined): Node | undefined {
    const guard = aim && this.#view.context.guard;
    if (aim?.access === 'write') this.#view.seeksToWrite = true;
    const names = path === '/' ? [] : path.slice(1).split('/').reverse();
    let location = this.#view.tree.rootLocation;
    let node: Node | undefined = location.directory;
    const at = this.#at;
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
        return this.#fail('ENAMETOOLONG', joinPath(location.path, name), names, aim, nameLimitHint(name));
      const entry = this.#view.lookup(location, name, names);
      node = this.#view.tree.resolve(entry);
      at.moveTo(location, name);
      if (node === undefined) {
        if (names.length > 0) return this.#fail('ENOENT', at.path(), names, aim);
        // Following links may make the path longer than the given one.
        return isTooLong(at.path()) ? this.#fail('ENAMETOOLONG', at.path(), names, aim) : undefined;
      }
      if (node.kind === DIRECTORY) {
        location = this.#view.tree.childLocation(location, name, node);
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
      if (target[0] === '/') location = this.#view.tree.rootLocation;
      at.moveToDirectory(location);
      node = location.directory;
      // A trailing slash is ignored.
      const rest = target.replace(/\/+$/, '').split('/');
      for (let i = rest.length - 1; i >= 0; i--) names.push(rest[i] as string);
    }
    return node;
  }

  /** The guard is called before the error says why a path leads nowhere, which could reveal entries that it hides. */
  #fail(code: FsErrorCode, path: string, rest: readonly string[], aim: Aim | undefined, hint?: string): undefined {
    if (aim !== undefined) this.#ask((guard) => guard.stuck(path, rest, aim));
    this.#failure = code;
    this.#hint = hint;
    return undefined;
  }
}
