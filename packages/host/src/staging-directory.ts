import { rmdirSync } from 'node:fs';
import { mkdir, readdir, readlink, rename, rmdir } from 'node:fs/promises';
import { JOURNAL } from './apply/journal.js';
import { type ConfinedRoot, TEMPORARY } from './confined-root.js';
import { DirectoryHandle } from './directory-handle.js';
import { PathHandle } from './path-handle.js';
import { isAlive, startOf } from './process-start.js';
import { removeTree } from './remove-tree.js';

/**
 * A hidden directory at the top of the root, in which new files are completed before they get their names and removed
 * trees are taken apart, so that other processes see each change in one step. It is removed by `close`, or when the
 * process exits, as far as that is possible. What a killed process leaves is removed later, when a process of the same
 * PID namespace creates a staging directory here.
 */
export class StagingDirectory {
  #folder: Promise<Folder> | undefined;
  #next = 0;

  constructor(readonly root: ConfinedRoot) {}

  /** Returns an unused path in the directory, which the first call creates. */
  async place(): Promise<string> {
    this.#folder ??= this.#open().catch((error: unknown) => {
      this.#folder = undefined;
      throw error;
    });
    return (await this.#folder).pathHandle.child(String(++this.#next));
  }

  /** Removes a file, link or directory with its contents; links are not followed. */
  clear(place: string): Promise<void> {
    return removeTree(place, () => this.place());
  }

  async close(): Promise<void> {
    const folder = await this.#folder?.catch(() => undefined);
    this.#folder = undefined;
    if (folder === undefined) return;
    const { pathHandle, name } = folder;
    // Retries entries that could not be removed before; those that still cannot be are left to a later process.
    for (const left of await readdir(pathHandle.path).catch(() => [])) {
      await removeTree(pathHandle.child(left), async () => pathHandle.child(String(++this.#next))).catch(
        () => undefined,
      );
    }
    pathHandle.close();
    await rmdir(this.root.child(name)).catch(() => undefined);
    IN_USE.delete(name);
  }

  async #open(): Promise<Folder> {
    const name = `${TEMPORARY}${await processName()}-${++opened}`;
    if (opened === 1) process.once('exit', removeAtExit);
    IN_USE.set(name, undefined);
    try {
      // Fails if another process has created that name.
      await mkdir(this.root.child(name), { mode: 0o700 });
      const pathHandle = PathHandle.at(this.root.child(name));
      const folder = { root: this.root, pathHandle, name };
      IN_USE.set(name, folder);
      await this.#removeLeftovers(pathHandle, name);
      return folder;
    } catch (error) {
      IN_USE.delete(name);
      throw error;
    }
  }

  async #removeLeftovers(folder: PathHandle, own: string): Promise<void> {
    for (const name of await readdir(this.root.path)) {
      if (!name.startsWith(TEMPORARY) || name === own || name === JOURNAL || (await isInUse(name))) continue;
      const place = folder.child(`left-${name}`);
      try {
        await rename(this.root.child(name), place);
        await removeTree(place, async () => folder.child(String(++this.#next)));
      } catch {
        // For example, another process removes it at the same time, or only its owner may. Such leftovers do not stop
        // the work.
      }
    }
  }
}

interface Folder {
  readonly root: ConfinedRoot;
  readonly pathHandle: PathHandle;
  readonly name: string;
}

/** This process's staging directories that are in use, by name. Undefined while one is being created. */
const IN_USE = new Map<string, Folder | undefined>();
let opened = 0;

/**
 * Removes the staging directories of filesystems that were not closed. An exiting process can only wait for sync calls.
 */
function removeAtExit(): void {
  for (const folder of IN_USE.values()) {
    if (folder === undefined) continue;
    try {
      using contents = DirectoryHandle.of(folder.pathHandle);
      for (const name of contents.names()) contents.remove(name);
      rmdirSync(folder.root.child(folder.name));
    } catch {
      // Left to a later process. An error here would change the exit code of this one.
    }
  }
}

/** Returns a name of this process, made of its number, its start and its PID namespace, as far as they are known. */
async function processName(): Promise<string> {
  return `${process.pid}-${startOf(process.pid) ?? 0}-${await realm()}`;
}

async function isInUse(name: string): Promise<boolean> {
  const [pid = '', start, where] = name.slice(TEMPORARY.length).split('-');
  if (!/^\d+$/.test(pid)) return false;
  if (name.startsWith(`${TEMPORARY}${await processName()}-`)) return IN_USE.has(name);
  // Processes of another PID namespace cannot be seen from here, so their directories count as in use.
  if (where !== (await realm())) return true;
  return isAlive(Number(pid), start);
}

/** Returns the id of the PID namespace to which process numbers refer; `0` if it is unknown. */
async function realm(): Promise<string> {
  const link = await readlink('/proc/self/ns/pid').catch(() => '');
  return /\d+/.exec(link)?.[0] ?? '0';
}
