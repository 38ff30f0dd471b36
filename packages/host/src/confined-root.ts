import { closeSync, constants, openSync, realpathSync, statSync } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { FsError, pathSegments } from '@scratchfs/core';
import { Anchor, HAS_DESCRIPTOR_PATHS } from './anchor.js';
import { isCode } from './host-error.js';

/** What was found on the way along a path: every anchor from the root on; the last name may be missing. */
export interface Trail extends AsyncDisposable {
  readonly anchors: readonly Anchor[];
  /** Whether every name of the path was there. */
  readonly complete: boolean;
}

/**
 * A directory of the host from which no name leads out: paths are walked one component at a time beneath held
 * descriptors, and links are never followed here. Whatever another process swaps meanwhile, what is reached lay beneath
 * the root when it was reached.
 */
export class ConfinedRoot {
  /** The canonical path of the root on the host. */
  readonly hostPath: string;
  readonly #anchorPath: string;
  readonly #descriptor: number | undefined;

  /** @throws what `realpath` throws where the directory does not exist, Error where it is none */
  constructor(directory: string) {
    this.hostPath = realpathSync(directory);
    if (!statSync(this.hostPath).isDirectory()) throw new FsError('ENOTDIR', { syscall: 'open', path: '/' });
    // Held for good, so that a root that is moved away is still the same directory.
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    this.#descriptor = HAS_DESCRIPTOR_PATHS ? openSync(this.hostPath, flags) : undefined;
    this.#anchorPath = this.#descriptor === undefined ? this.hostPath : `/proc/self/fd/${this.#descriptor}/.`;
  }

  /** Where the root is found, whatever becomes of its name. */
  get path(): string {
    return this.#anchorPath;
  }

  child(name: string): string {
    return join(this.#anchorPath, name);
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }

  /** Walks a normalized path. Stops at a link, a file or a name that is missing. @throws what the host throws */
  async walk(path: string): Promise<Trail> {
    const anchors: Anchor[] = [];
    const close = async (): Promise<void> => {
      for (const anchor of anchors) await anchor.close();
    };
    try {
      anchors.push(await Anchor.at(this.#anchorPath));
      const names = pathSegments(path);
      for (const name of names) {
        const directory = anchors.at(-1) as Anchor;
        if (directory.kind !== 'directory') break;
        const next = await childOf(directory, name);
        if (next === undefined) break;
        anchors.push(next);
      }
      return { anchors, complete: anchors.length === names.length + 1, [Symbol.asyncDispose]: close };
    } catch (error) {
      await close();
      throw error;
    }
  }

  /**
   * The text of a link as it means inside, and whether it leads out. Absolute ones inside the root are turned into paths of
   * the filesystem; of others the text stays.
   * @param depth names on the way to the directory in which the link lies
   */
  async targetOf(
    parent: Anchor,
    name: string,
    depth: number,
  ): Promise<{ readonly target: string; readonly outside: boolean }> {
    const text = await readlink(parent.child(name));
    if (text.startsWith('/')) {
      const inside = text === this.hostPath || text.startsWith(`${this.hostPath}/`);
      const target = text.slice(this.hostPath.length) || '/';
      return inside && !climbs(target, 0) ? { target, outside: false } : { target: text, outside: true };
    }
    return { target: text, outside: climbs(text, depth) };
  }
}

/** Whether a path goes up above where it may, from a directory so many levels beneath the root. */
export function climbs(path: string, depth: number): boolean {
  let level = depth;
  for (const name of path.split(/[/\\]/)) {
    if (name === '' || name === '.') continue;
    level += name === '..' ? -1 : 1;
    if (level < 0) return true;
  }
  return false;
}

/** How many directories of the root are around a name: so many `..` of a link that lies there lead to the root. */
export function levelOf(path: string): number {
  return pathSegments(path).length - 1;
}

/** How names begin that are given to what is not finished: such names are not there for anybody. */
export const TEMPORARY = '.scratchfs-tmp-';

async function childOf(directory: Anchor, name: string): Promise<Anchor | undefined> {
  if (name.startsWith(TEMPORARY)) return undefined;
  try {
    return await Anchor.at(directory.child(name));
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
