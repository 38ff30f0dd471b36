import { randomBytes } from 'node:crypto';
import { compareNames, isFsError, quote } from '@scratchfs/core';
import { HistoryError, type TreeMode } from '@scratchfs/history';
import { DirectoryHandle } from '../directory-handle.js';
import { isTurnDue, nextTurn } from '../event-loop.js';
import { hostError, isCode } from '../host-error.js';
import type { RawName } from '../path-handle.js';

/** New state of a path. */
export interface WorktreeChange {
  readonly path: string;
  /** Last name of a path to remove, as bytes if it is not valid UTF-8. Default: that of `path`. */
  readonly name?: RawName | undefined;
  /** Mode of the new entry. Undefined removes the path. */
  readonly mode: TreeMode | undefined;
  readonly body: () => Promise<Uint8Array>;
}

/** Longest target of a symbolic link on Linux, in bytes. */
const MAX_TARGET_BYTES = 4_095;

/**
 * Changes paths of a directory of the host. All new files are first written into a staging directory at its top, so a
 * missing object, an impossible link target or a full disk is an error with nothing changed. Then paths are removed,
 * and the staged files and directories are renamed into place; files on another disk mounted there are written anew.
 * Each file is replaced atomically, but the whole set is not: if the call fails or the process is killed after the
 * staging, the call has to be repeated.
 * @param signal cancels until the first removal
 * @throws HistoryError `hostile` for an impossible link target, any error of `body`, errors of the host as by
 *   `hostError`, the reason of the signal
 */
export async function writeWorktree(
  folder: string,
  changes: readonly WorktreeChange[],
  signal?: AbortSignal,
): Promise<void> {
  const sorted = [...changes].sort((a, b) => compareNames(a.path, b.path));
  const comes = sorted.flatMap((change) => (change.mode === undefined ? [] : [{ ...change, mode: change.mode }]));
  using walk = new Walk(DirectoryHandle.at(folder));
  using stage = new Stage(walk.top);
  await stage.fill(comes, signal);
  signal?.throwIfAborted();
  for (const { path, name, mode } of sorted.toReversed()) if (mode === undefined) walk.remove(path, name);
  let moved: string | undefined;
  for (const { path, mode, body } of comes) {
    if (isTurnDue()) await nextTurn();
    if (mode === '160000') walk.put(path, mode, new Uint8Array());
    else if (moved === undefined || !path.startsWith(`${moved}/`)) {
      try {
        moved = walk.take(path, stage.walk);
      } catch (error) {
        // Another file system is mounted there.
        if (!isFsError(error, 'EXDEV')) throw error;
        walk.put(path, mode, await body());
      }
    }
  }
}

/**
 * Staging directory for new files, beside the existing ones. A killed process leaves it; the next checkout to this
 * directory removes it.
 */
class Stage implements Disposable {
  readonly #name = `.scratchfs-${randomBytes(8).toString('hex')}`;
  #walk: Walk | undefined;

  constructor(readonly top: DirectoryHandle) {}

  get walk(): Walk {
    if (this.#walk === undefined) {
      this.top.makeDirectory(this.#name);
      this.#walk = new Walk(this.top.enter(this.#name));
    }
    return this.#walk;
  }

  async fill(comes: readonly (WorktreeChange & { readonly mode: TreeMode })[], signal?: AbortSignal): Promise<void> {
    for (const { path, mode, body } of comes) {
      if (isTurnDue()) await nextTurn();
      signal?.throwIfAborted();
      if (mode === '160000') continue;
      const bytes = await body();
      if (mode === '120000') checkTarget(path, bytes);
      attempt('open', path, () => this.walk).put(path, mode, bytes);
    }
  }

  [Symbol.dispose](): void {
    if (this.#walk === undefined) return;
    this.#walk[Symbol.dispose]();
    try {
      this.top.remove(this.#name);
    } catch {
      // The next checkout removes it. An error here would hide the original one.
    }
  }
}

function checkTarget(path: string, target: Uint8Array): void {
  if (target.length > 0 && target.length <= MAX_TARGET_BYTES && !target.includes(0)) return;
  throw new HistoryError('hostile', `The symbolic link ${quote(path)} has a target that a link cannot have`, { path });
}

/** Walks from path to path, keeping the directories on the way open. */
class Walk implements Disposable {
  readonly #held: { readonly name: string; readonly directory: DirectoryHandle }[] = [];
  readonly #temporary = `.scratchfs-${randomBytes(8).toString('hex')}`;

  constructor(readonly top: DirectoryHandle) {}

  remove(path: string, name?: RawName): void {
    attempt('unlink', path, () => {
      const names = path.split('/');
      const parent = this.#parent(names, false);
      parent?.remove(name ?? (names.at(-1) as string));
      // Directories that are empty now are removed too.
      for (let depth = names.length - 1; depth > 0 && parent !== undefined; depth--) {
        this.#leave(depth - 1);
        const above = this.#held[depth - 2]?.directory ?? this.top;
        if (!above.removeEmpty(names[depth - 1] as string)) break;
      }
    });
  }

  put(path: string, mode: TreeMode, body: Uint8Array): void {
    attempt('open', path, () => {
      const names = path.split('/');
      const name = names.at(-1) as string;
      const parent = this.#parent(names, true) as DirectoryHandle;
      const there = parent.stat(name);
      if (mode === '160000') {
        if (there?.isDirectory() === true) return;
        parent.remove(name);
        parent.makeDirectory(name);
        return;
      }
      if (there?.isDirectory() === true) parent.remove(name);
      if (mode === '120000') parent.link(name, body, this.#temporary);
      else parent.write(name, body, mode === '100755' ? 0o777 : 0o666, this.#temporary);
    });
  }

  /**
   * Moves the entry at a path of another walk to the same path here. If a directory above it is missing here, that
   * directory moves as a whole.
   * @returns the path of that directory; undefined if only the entry has moved
   */
  take(path: string, from: Walk): string | undefined {
    return attempt('rename', path, () => {
      const names = path.split('/');
      const depth = this.#descend(names);
      const above = this.#held.at(-1)?.directory ?? this.top;
      const name = names[depth] as string;
      if (depth < names.length - 1 || above.stat(name)?.isDirectory() === true) above.remove(name);
      above.take(from.#parent(names.slice(0, depth + 1), true) as DirectoryHandle, name);
      return depth < names.length - 1 ? names.slice(0, depth + 1).join('/') : undefined;
    });
  }

  [Symbol.dispose](): void {
    this.#leave(0);
    this.top[Symbol.dispose]();
  }

  /**
   * Returns the directory of a path's last name. With `make`, missing directories are created and files in the way are
   * replaced. Otherwise returns undefined if a directory is missing.
   */
  #parent(names: readonly string[], make: boolean): DirectoryHandle | undefined {
    for (let at = this.#descend(names); at < names.length - 1; at++) {
      if (!make) return undefined;
      const above = this.#held.at(-1)?.directory ?? this.top;
      const name = names[at] as string;
      above.remove(name);
      above.makeDirectory(name);
      this.#held.push({ name, directory: above.enter(name) });
    }
    return this.#held.at(-1)?.directory ?? this.top;
  }

  /**
   * Enters the directories of a path as far as they exist.
   * @returns the number of names entered, never including the last one
   */
  #descend(names: readonly string[]): number {
    let at = 0;
    while (at < names.length - 1 && this.#held[at]?.name === names[at]) at++;
    this.#leave(at);
    for (; at < names.length - 1; at++) {
      const name = names[at] as string;
      const next = enter(this.#held.at(-1)?.directory ?? this.top, name);
      if (next === undefined) break;
      this.#held.push({ name, directory: next });
    }
    return at;
  }

  #leave(depth: number): void {
    for (const { directory } of this.#held.splice(depth)) directory[Symbol.dispose]();
  }
}

/** Opens a directory, even if its mode keeps its owner out. Undefined if the name is missing or is not a directory. */
function enter(above: DirectoryHandle, name: string): DirectoryHandle | undefined {
  try {
    return above.enterAsOwner(name);
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return undefined;
    throw error;
  }
}

/** Runs `work` and converts its error as `hostError` does, with the path inside the directory. */
function attempt<T>(syscall: string, path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw hostError(error, syscall, `/${path}`);
  }
}
