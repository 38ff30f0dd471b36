import { compareNames, type FileSystem, isFsError, parentPath } from '@scratchfs/core';
import { HistoryError } from '../errors.js';
import { isObjectId, type ObjectFormat } from '../object-id.js';
import { checkRefName, checkRefPlace, formatRef, isRefName, parseRef, sameRef } from '../refs.js';
import type { RefStore, RefValue, RepositoryCall, SwapRefCall } from '../repository.js';

type Change = (fileSystem: FileSystem) => Promise<boolean>;

/** File that holds `pruneCount`. git ignores it. */
const PRUNE_COUNT_FILE = 'scratchfs-prunes';

/** Name of a locked file: a reference, `packed-refs`, or the file of `pruneCount`. */
interface Held {
  readonly held: string;
}

/** About three seconds in all: the holder of a lock usually writes one small file. */
const MAX_LOCK_RETRIES = 100;
const MAX_PAUSE_MS = 32;

/**
 * References as git stores them: one file each, or a line in `packed-refs`. A change is one transaction of the
 * filesystem. Without transactions, it is guarded by git's own `.lock` files. Both respect locks that git holds.
 */
export class GitRefs implements RefStore {
  constructor(
    readonly fileSystem: FileSystem,
    readonly path: string,
    readonly format: ObjectFormat,
  ) {}

  async readRef(name: string, call?: RepositoryCall): Promise<RefValue | undefined> {
    return this.#read(this.fileSystem, checkRefName(name), call);
  }

  async swapRef(
    name: string,
    expected: RefValue | undefined,
    next: RefValue | undefined,
    call?: SwapRefCall,
  ): Promise<boolean> {
    checkRefName(name);
    const pruneCount = call?.pruneCount;
    const swap = async (fileSystem: FileSystem): Promise<boolean> => {
      if (pruneCount !== undefined && pruneCount !== (await this.#pruneCount(fileSystem, call))) return false;
      if (!sameRef(await this.#read(fileSystem, name, call), expected)) return false;
      if (expected === undefined && next !== undefined) await this.#makeRoom(fileSystem, name, call);
      await this.#write(fileSystem, name, next);
      return true;
    };
    const locks = [name];
    // Only a removal changes `packed-refs`.
    if (next === undefined) locks.push('packed-refs');
    if (pruneCount !== undefined) locks.push(PRUNE_COUNT_FILE);
    return this.#whenUnlocked(locks, swap, call);
  }

  async pruneCount(call?: RepositoryCall): Promise<number> {
    return this.#pruneCount(this.fileSystem, call);
  }

  /**
   * Runs the work of a prune, and increments `pruneCount` before and after it. Without transactions, a prune cannot
   * check and delete an object in one step, so it holds the lock of `pruneCount` during the work: no reference moves
   * that depends on the number.
   */
  async whilePruning(work: () => Promise<void>, call?: RepositoryCall): Promise<void> {
    const raise: Change = async (fileSystem) => {
      const count = await this.#pruneCount(fileSystem, call);
      await fileSystem.writeFile(`${this.path}/${PRUNE_COUNT_FILE}`, `${count + 1}\n`);
      return true;
    };
    const whenUnlocked = (change: Change) => this.#whenUnlocked([PRUNE_COUNT_FILE], change, call);
    if (this.fileSystem.capabilities.transactions) {
      await whenUnlocked(raise);
      await work();
      await whenUnlocked(raise);
    } else
      await whenUnlocked(async (fileSystem) => {
        await raise(fileSystem);
        await work();
        return raise(fileSystem);
      });
  }

  async #pruneCount(fileSystem: FileSystem, call?: RepositoryCall): Promise<number> {
    return Number((await readIfThere(fileSystem, `${this.path}/${PRUNE_COUNT_FILE}`, call)) ?? 0);
  }

  /**
   * Makes a change as soon as none of the locks is held.
   * @throws HistoryError `ref-changed` if a lock is held for about three seconds
   */
  async #whenUnlocked(locks: readonly string[], change: Change, call?: RepositoryCall): Promise<boolean> {
    for (let tried = 0; ; tried++) {
      const result = await this.#changeUnlessLocked(locks, change, call);
      if (typeof result === 'boolean') return result;
      if (tried === MAX_LOCK_RETRIES) throw locked(result.held);
      await new Promise((resolve) => setTimeout(resolve, Math.min(2 ** tried, MAX_PAUSE_MS)));
      call?.signal?.throwIfAborted();
    }
  }

  /** Makes the change if no lock is held; otherwise returns the held lock. */
  async #changeUnlessLocked(locks: readonly string[], change: Change, call?: RepositoryCall): Promise<boolean | Held> {
    try {
      return await this.fileSystem.transaction(
        async (inside) => {
          const held = await this.#lockedBy(inside, locks);
          return held === undefined ? change(inside) : { held };
        },
        { signal: call?.signal },
      );
    } catch (error) {
      if (!isFsError(error, 'ENOTSUP')) throw error;
    }
    return locks.reduceRight(
      (work, lock) => () => this.#whileLocked(lock, work),
      (): Promise<boolean | Held> => change(this.fileSystem),
    )();
  }

  async listRefs(prefix: string, call?: RepositoryCall): Promise<string[]> {
    const names = await this.#names(this.fileSystem, call);
    if (await this.fileSystem.exists(`${this.path}/HEAD`)) names.add('HEAD');
    return [...names].filter((name) => name.startsWith(prefix)).sort(compareNames);
  }

  /** Returns the names of all references in `refs/`, loose and packed. */
  async #names(fileSystem: FileSystem, call?: RepositoryCall): Promise<Set<string>> {
    const names = new Set((await this.#packed(fileSystem, call)).keys());
    if (!(await fileSystem.exists(`${this.path}/refs`))) return names;
    for await (const entry of fileSystem.walk(`${this.path}/refs`, { signal: call?.signal })) {
      const name = entry.path.slice(this.path.length + 1);
      // Other files, such as `main (copy)` or a lock, are not references; git ignores them too.
      if (entry.kind === 'file' && isRefName(name)) names.add(name);
    }
    return names;
  }

  /** Prepares the path of a new reference: throws if another reference is in the way, removes empty directories. */
  async #makeRoom(fileSystem: FileSystem, name: string, call?: RepositoryCall): Promise<void> {
    checkRefPlace(name, await this.#names(fileSystem, call));
    const file = `${this.path}/${name}`;
    if (!(await fileSystem.isDirectory(file))) return;
    const left = [file];
    for await (const entry of fileSystem.walk(file, { signal: call?.signal })) left.push(entry.path);
    // If a directory cannot be removed, it contains a file, which is probably a lock.
    for (const path of left.reverse()) {
      try {
        await fileSystem.rmdir(path);
      } catch (error) {
        throw isFsError(error, 'ENOTDIR') || isFsError(error, 'ENOTEMPTY') ? locked(name) : error;
      }
    }
  }

  async #read(fileSystem: FileSystem, name: string, call?: RepositoryCall): Promise<RefValue | undefined> {
    const text = await readIfThere(fileSystem, `${this.path}/${name}`, call);
    if (text === undefined) return (await this.#packed(fileSystem, call)).get(name);
    const value = parseRef(text, this.format);
    if (value === undefined)
      throw new HistoryError('corrupt', `The reference ${name} does not name an object`, { ref: name });
    return value;
  }

  async #packed(fileSystem: FileSystem, call?: RepositoryCall): Promise<Map<string, RefValue>> {
    const refs = new Map<string, RefValue>();
    const text = (await readIfThere(fileSystem, `${this.path}/packed-refs`, call)) ?? '';
    for (const line of text.split('\n')) {
      const [id, name, ...rest] = line.split(' ');
      if (id !== undefined && name !== undefined && rest.length === 0 && isObjectId(id, this.format) && isRefName(name))
        refs.set(name, { id });
    }
    return refs;
  }

  async #write(fileSystem: FileSystem, name: string, next: RefValue | undefined): Promise<void> {
    const file = `${this.path}/${name}`;
    if (next !== undefined) {
      await fileSystem.mkdir(parentPath(file), { recursive: true });
      await fileSystem.writeFile(file, formatRef(next));
      return;
    }
    const text = (await readIfThere(fileSystem, `${this.path}/packed-refs`)) ?? '';
    const lines = text.split('\n');
    const at = lines.findIndex((line) => line.endsWith(` ${name}`));
    if (at >= 0) {
      lines.splice(at, lines[at + 1]?.startsWith('^') ? 2 : 1);
      await fileSystem.writeFile(`${this.path}/packed-refs`, lines.join('\n'));
    }
    await fileSystem.rm(file, { force: true });
  }

  async #lockedBy(fileSystem: FileSystem, names: readonly string[]): Promise<string | undefined> {
    for (const name of names) if (await fileSystem.exists(`${this.path}/${name}.lock`)) return name;
    return undefined;
  }

  async #whileLocked(name: string, work: () => Promise<boolean | Held>): Promise<boolean | Held> {
    const lock = `${this.path}/${name}.lock`;
    try {
      await this.fileSystem.mkdir(parentPath(lock), { recursive: true });
    } catch (error) {
      checkRefPlace(name, await this.#names(this.fileSystem));
      throw error;
    }
    try {
      await this.fileSystem.writeFile(lock, '', { flag: 'wx' });
    } catch (error) {
      if (isFsError(error, 'EEXIST')) return { held: name };
      throw error;
    }
    try {
      return await work();
    } finally {
      await this.fileSystem.rm(lock, { force: true });
    }
  }
}

function locked(name: string): HistoryError {
  return new HistoryError(
    'ref-changed',
    `${name} is locked by another process: try again. If no git process is running, ${name}.lock was left behind and may be removed`,
    { ref: name },
  );
}

async function readIfThere(fileSystem: FileSystem, path: string, call?: RepositoryCall): Promise<string | undefined> {
  try {
    return await fileSystem.readText(path, { signal: call?.signal });
  } catch (error) {
    if (isFsError(error, 'ENOENT') || isFsError(error, 'EISDIR') || isFsError(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}
