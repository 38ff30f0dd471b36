import { mkdir, readdir, readlink, rename, rmdir } from 'node:fs/promises';
import { Anchor } from './anchor.js';
import { type ConfinedRoot, TEMPORARY } from './confined-root.js';
import { isAlive, startOf } from './process-start.js';
import { removeTree } from './remove-tree.js';

/**
 * A hidden folder at the top of the root in which things are finished before they get their names, and to which they go
 * before they are taken apart: one rename is all that others see. What a killed process left is removed by the next one.
 */
export class Workshop {
  #folder: Promise<Folder> | undefined;
  #next = 0;

  constructor(readonly root: ConfinedRoot) {}

  /** A path that nothing has yet. */
  async place(): Promise<string> {
    this.#folder ??= this.#open().catch((error: unknown) => {
      this.#folder = undefined;
      throw error;
    });
    return (await this.#folder).anchor.child(String(++this.#next));
  }

  /** Removes what lies at a place, whatever it is; links are not followed. */
  clear(place: string): Promise<void> {
    return removeTree(place, () => this.place());
  }

  async close(): Promise<void> {
    const folder = await this.#folder?.catch(() => undefined);
    this.#folder = undefined;
    if (folder === undefined) return;
    const { anchor, name } = folder;
    // What could not be cleared before; what cannot be now is left to the next one.
    for (const left of await readdir(anchor.path).catch(() => [])) {
      await removeTree(anchor.child(left), async () => anchor.child(String(++this.#next))).catch(() => undefined);
    }
    anchor.close();
    await rmdir(this.root.child(name)).catch(() => undefined);
    IN_USE.delete(name);
  }

  async #open(): Promise<Folder> {
    const name = `${TEMPORARY}${await processName()}-${++opened}`;
    IN_USE.add(name);
    try {
      // Fails where somebody has put something there before.
      await mkdir(this.root.child(name), { mode: 0o700 });
      const anchor = Anchor.at(this.root.child(name));
      await this.#removeLeftovers(anchor, name);
      return { anchor, name };
    } catch (error) {
      IN_USE.delete(name);
      throw error;
    }
  }

  async #removeLeftovers(folder: Anchor, own: string): Promise<void> {
    for (const name of await readdir(this.root.path)) {
      if (!name.startsWith(TEMPORARY) || name === own || (await isInUse(name))) continue;
      const place = folder.child(`left-${name}`);
      try {
        await rename(this.root.child(name), place);
        await removeTree(place, async () => folder.child(String(++this.#next)));
      } catch {
        // Another process removes it at the same time, or only its owner may: work goes on in any case.
      }
    }
  }
}

interface Folder {
  readonly anchor: Anchor;
  readonly name: string;
}

/** Of this process. */
const IN_USE = new Set<string>();
let opened = 0;

/** What tells this process from all others that use the directory: numbers come again, and in a container they are others. */
async function processName(): Promise<string> {
  return `${process.pid}-${startOf(process.pid) ?? 0}-${await realm()}`;
}

async function isInUse(name: string): Promise<boolean> {
  const [pid = '', start, where] = name.slice(TEMPORARY.length).split('-');
  if (!/^\d+$/.test(pid)) return false;
  if (name.startsWith(`${TEMPORARY}${await processName()}-`)) return IN_USE.has(name);
  // Of the processes of another container nothing is known: what they left is theirs to remove.
  if (where !== (await realm())) return true;
  return isAlive(Number(pid), start);
}

/** The container whose process numbers are meant. */
async function realm(): Promise<string> {
  const link = await readlink('/proc/self/ns/pid').catch(() => '');
  return /\d+/.exec(link)?.[0] ?? '0';
}
