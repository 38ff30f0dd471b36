import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { compareNames } from '@scratchfs/core';
import type { TreeMode } from '@scratchfs/history';
import { HeldDirectory, type HeldName } from '../held-directory.js';
import { hostError, isCode } from '../host-error.js';

/** What a path becomes. */
export interface WorktreeChange {
  readonly path: string;
  /** Where the path ends in one that it cannot tell: what is to be removed. */
  readonly name?: HeldName | undefined;
  /** Undefined for nothing. */
  readonly mode: TreeMode | undefined;
  readonly body: () => Promise<Uint8Array>;
}

/**
 * Changes paths of a directory of the host: first what goes, then what comes. Each file is the old or the new one at any
 * moment; all of them together are not, so who is interrupted does it again.
 */
export async function writeWorktree(
  folder: string,
  changes: readonly WorktreeChange[],
  signal?: AbortSignal,
): Promise<void> {
  const sorted = [...changes].sort((a, b) => compareNames(a.path, b.path));
  using walk = new Walk(HeldDirectory.at(folder));
  for (const { path, name, mode } of sorted.reverse()) if (mode === undefined) walk.remove(path, name);
  let done = 0;
  for (const { path, mode, body } of sorted.reverse()) {
    if (mode === undefined) continue;
    if (++done % 64 === 0) await setImmediate();
    signal?.throwIfAborted();
    walk.put(path, mode, await body());
  }
}

/** Goes from path to path, holding the directories on the way. */
class Walk implements Disposable {
  readonly #held: { readonly name: string; readonly directory: HeldDirectory }[] = [];
  readonly #temporary = `.scratchfs-${randomBytes(8).toString('hex')}`;

  constructor(readonly top: HeldDirectory) {}

  remove(path: string, name?: HeldName): void {
    attempt('unlink', path, () => {
      const names = path.split('/');
      const parent = this.#parent(names, false);
      parent?.remove(name ?? (names.at(-1) as string));
      // Directories that held only what is gone go too.
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
      const parent = this.#parent(names, true) as HeldDirectory;
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

  [Symbol.dispose](): void {
    this.#leave(0);
    this.top[Symbol.dispose]();
  }

  /** The directory in which a path's last name lies; what is in the way of it is replaced where it is to be made. */
  #parent(names: readonly string[], make: boolean): HeldDirectory | undefined {
    let at = 0;
    while (at < names.length - 1 && this.#held[at]?.name === names[at]) at++;
    this.#leave(at);
    for (; at < names.length - 1; at++) {
      const name = names[at] as string;
      const above = this.#held.at(-1)?.directory ?? this.top;
      const next = enter(above, name, make);
      if (next === undefined) return undefined;
      this.#held.push({ name, directory: next });
    }
    return this.#held.at(-1)?.directory ?? this.top;
  }

  #leave(depth: number): void {
    for (const { directory } of this.#held.splice(depth)) directory[Symbol.dispose]();
  }
}

function enter(above: HeldDirectory, name: string, make: boolean): HeldDirectory | undefined {
  try {
    return above.enterAsOwner(name);
  } catch (error) {
    if (!isCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) throw error;
    if (!make) return undefined;
    above.remove(name);
    above.makeDirectory(name);
    return above.enter(name);
  }
}

/** Errors speak of the path inside. */
function attempt(syscall: string, path: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw hostError(error, syscall, `/${path}`);
  }
}
