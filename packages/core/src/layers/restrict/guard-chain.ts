import { signalIn } from '../../engine/arguments.js';
import type { Aim, ComposedGuard, GuardedView } from '../../engine/composed-guard.js';
import type { Access, AccessRequest, Guard, StateCall } from '../../engine/guard.js';
import { callOutside } from '../../engine/reentrancy.js';
import { restoreAllowed } from '../../engine/restore/restore-allowed.js';
import { View } from '../../engine/view.js';
import type { EntryKind } from '../../entry.js';
import { FsError, type FsErrorDetails, isFsError } from '../../errors.js';
import type { FileSystemStats } from '../../limits.js';
import { joinPath, normalizePath } from '../../paths.js';
import { DIRECTORY, FILE, kindName, type Node } from '../../tree/node.js';
import type { Location } from '../../tree/tree.js';
import { shownError } from './shown-error.js';
import { visibleStats } from './visible-stats.js';

/** Several guards as one, lower ones first: allows what all of them allow. */
export class GuardChain implements ComposedGuard {
  /** Errors that `shown` returns unchanged, see {@link GuardChain.keep}. */
  readonly #kept = new WeakSet<object>();

  constructor(readonly guards: readonly Guard[]) {}

  /** Returns the chain with one more guard above. */
  and(guard: Guard): GuardChain {
    return new GuardChain([...this.guards, guard]);
  }

  get hides(): boolean {
    return this.#reply(() => this.guards.some(hidesAnything));
  }

  /** Reports whether an access is known to be allowed everywhere, so that no guard has to be asked. */
  permits(access: Access, syscall: string): boolean {
    return this.covers('/', access) && this.allows('/', access, syscall);
  }

  /** Reports whether nothing is hidden and everything may be changed. */
  isFree(): boolean {
    return !this.hides && this.permits('write', 'rollback') && this.permits('remove', 'rollback');
  }

  /** Reports whether nothing is hidden and everything may be read. */
  isOpen(): boolean {
    return !this.hides && this.permits('look', 'scandir') && this.permits('read', 'scandir');
  }

  /** Reports whether something may be changed somewhere. A guard that decides path by path counts as allowing it. */
  allowsChange(): boolean {
    return (['write', 'remove'] as const).some((access) =>
      this.guards.every((guard) => {
        const one = new GuardChain([guard]);
        return !one.covers('/', access) || one.allows('/', access, 'access');
      }),
    );
  }

  allowsState(call: StateCall): boolean {
    try {
      this.checkState(call);
      return true;
    } catch {
      return false;
    }
  }

  check(path: string, access: Access, syscall: string, given: string, node?: Node, makes?: EntryKind): void {
    const kind = node === undefined ? makes : kindName(node);
    const size = node?.kind === FILE ? node.size : undefined;
    this.ask({ path, access, kind, size, syscall, given });
  }

  /**
   * Asks the guards. Those that hide the path come first, because an error of another guard would reveal whether it
   * exists. Of several that hide it, the uppermost comes first, because its error names the least.
   */
  ask(request: AccessRequest): void {
    callOutside(() => this.#ask(request));
  }

  #ask(request: AccessRequest): void {
    const { path, kind, syscall, given } = request;
    const others: number[] = [];
    for (let i = this.guards.length - 1; i >= 0; i--) {
      if (this.guards.length > 1 && (this.guards[i] as Guard).isVisible(path, kind)) others.unshift(i);
      else this.#askOne(i, { syscall, path: given }, (guard) => guard.check(request));
    }
    for (const i of others) this.#askOne(i, { syscall, path: given }, (guard) => guard.check(request));
  }

  /** Asks one guard. Its error stays as it is, unless a guard above may hide what it names. */
  #askOne(at: number, details: FsErrorDetails, question: (guard: Guard) => void): void {
    try {
      question(this.guards[at] as Guard);
    } catch (error) {
      const isTop = !this.guards.slice(at + 1).some(hidesAnything);
      const shown = isTop ? error : shownError(error, [details.path], (path) => this.#mayName(path), true);
      const kept = shown === error || isFsError(shown) ? shown : new FsError('EACCES', details);
      throw this.keep(kept);
    }
  }

  allows(path: string, access: Access, syscall: string, node?: Node): boolean {
    const kind = node && kindName(node);
    const size = node?.kind === FILE ? node.size : undefined;
    return this.permitsOne({ path, access, kind, size, syscall, given: path });
  }

  permitsOne(request: AccessRequest): boolean {
    try {
      this.ask(request);
      return true;
    } catch {
      return false;
    }
  }

  isVisible(path: string, node?: Node): boolean {
    return this.isKindVisible(path, node && kindName(node));
  }

  isKindVisible(path: string, kind: EntryKind | undefined): boolean {
    return this.#reply(() => this.guards.every((guard) => guard.isVisible(path, kind)));
  }

  covers(path: string, access: Access): boolean {
    return this.#reply(() => this.guards.every((guard) => guard.coversTree?.(path, access) === true));
  }

  /**
   * Returns the result of a question to the guards. The error of a single guard stays as it is. With several guards it
   * does not, because a lower guard's error may name what an upper one hides.
   */
  #reply(question: () => boolean): boolean {
    try {
      return callOutside(question);
    } catch (error) {
      throw this.guards.length === 1 ? this.keep(error) : error;
    }
  }

  pass(path: string, rest: readonly string[], aim: Aim): void {
    if (this.hides && !this.isKindVisible(path, 'directory')) this.#reach(path, rest, aim);
  }

  stuck(path: string, rest: readonly string[], aim: Aim): void {
    if (this.hides) this.#reach(path, rest, aim);
  }

  /**
   * Asks the guards about the path that the remaining names lead to; if there is a `..` among them, only whether what
   * precedes it may be seen.
   */
  #reach(from: string, rest: readonly string[], { access, syscall, given, makes }: Aim): void {
    let path = from;
    for (let i = rest.length - 1; i >= 0; i--) {
      const name = rest[i] as string;
      if (name === '' || name === '.') continue;
      if (name === '..') {
        this.check(path, 'look', syscall, given);
        return;
      }
      path = joinPath(path, name);
    }
    this.check(path, access, syscall, given, undefined, makes);
  }

  /** Returns a chain that throws `REFUSED` instead of the guards' own errors, so that a refusal is recognizable. */
  quiet(): GuardChain {
    return new QuietGuardChain(this.guards);
  }

  checkTree(view: GuardedView, top: Location, access: Access, syscall: string, given: string, at = top.path): void {
    if (this.covers(at, access)) return;
    const isThere = at === top.path;
    let level: Location[] = [top];
    while (level.length > 0) {
      const next: Location[] = [];
      const listings = view.all(level, (location) => view.list(location));
      for (const [i, location] of level.entries()) {
        const path = at + location.path.slice(top.path.length);
        listings[i]?.forEach((entry, name) => {
          const node = view.tree.resolve(entry) as Node;
          const child = joinPath(path, name);
          if (isThere) this.check(child, access, syscall, given, node);
          else this.check(child, access, syscall, given, undefined, kindName(node));
          if (node.kind === DIRECTORY && !this.covers(child, access))
            next.push(view.tree.childLocation(location, name, node));
        });
      }
      level = next;
    }
  }

  checkState(call: StateCall): void {
    callOutside(() => {
      for (const i of this.guards.keys()) this.#askOne(i, { syscall: call }, (guard) => guard.checkState?.(call));
    });
  }

  shown(error: unknown, args: readonly unknown[]): unknown {
    if (error instanceof KeptValue) return error.value;
    if (this.#kept.has(error as object) || !this.hides) return error;
    const shown = shownError(error, args, (path) => this.#mayName(path));
    return shown === error || error === signalIn(args.at(-1))?.reason ? error : shown;
  }

  /** Marks an error of a guard or of the caller's own code, so that `shown` keeps it. Returns the value to throw. */
  keep(error: unknown): unknown {
    if (error !== Object(error)) return new KeptValue(error);
    this.#kept.add(error as object);
    return error;
  }

  /** Reports whether a path is visible both as a file and as a directory. */
  #mayName(path: string): boolean {
    try {
      const at = normalizePath(path);
      return this.isKindVisible(at, 'file') && this.isKindVisible(at, 'directory');
    } catch {
      return false;
    }
  }

  stats(view: GuardedView): FileSystemStats {
    return visibleStats(view, this);
  }

  restore(view: GuardedView, wanted: GuardedView, syscall: string, isWhole: boolean): void {
    if (!(view instanceof View && wanted instanceof View))
      throw new TypeError('restore() needs two views of the engine');
    restoreAllowed(view, this, wanted, syscall, isWhole);
  }
}

function hidesAnything(guard: Guard): boolean {
  return !(guard.coversTree?.('/', 'look') === true && guard.isVisible('/', 'directory'));
}

/** Marks a thrown value that is not an object as one that `shown` returns unchanged. */
class KeptValue {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** Thrown instead of a guard's error. */
export const REFUSED = Symbol('refused');

class QuietGuardChain extends GuardChain {
  override ask(request: AccessRequest): void {
    try {
      super.ask(request);
    } catch {
      throw REFUSED;
    }
  }
}
