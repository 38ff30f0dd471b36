import { createHash } from 'node:crypto';
import { type FileSystem, isFsError, quote } from '@scratchfs/core';
import { getMany } from '@scratchfs/core/internal';
import type { Head } from '../branch.js';
import { WorkspaceError } from '../errors.js';
import { createRecord, encodeRecord, parseRecord, readRecord } from '../store/records.js';
import { checkAttemptName, isAttemptName, randomAttemptName } from './names.js';

/** Facts about the beginning of an attempt. */
export interface AttemptStart {
  /** The attempt that it was forked from, and the operation. */
  readonly parent?: { readonly attempt: string; readonly operation: number } | undefined;
  /**
   * Value of HEAD when the attempt began, or was last assigned to a branch. Undefined if there was none, for example
   * without a repository.
   */
  readonly head?: Head | undefined;
  /** True if each operation is written to the disk in the same call. */
  readonly live?: true | undefined;
}

/** Record of an attempt in the store. */
export interface AttemptRecord extends AttemptStart {
  readonly name: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly state: 'open' | 'discarded';
}

const ATTEMPTS = '/attempts';
const CURRENT = '/current';
/** Number of random names that are tried before a number is added. */
const MAX_TRIES = 20;

/** Stores what belongs to a new attempt, just before its record is created. Replaces what a killed process has left. */
export type Prepare = (store: FileSystem, name: string) => Promise<void>;

/**
 * The attempts in a store: `/attempts/<name>/attempt` exists if the attempt exists, `/attempts/<name>/discarded` if it
 * has ended, `/current` names the one that calls without a name use. The first two are created exclusively, so several
 * processes can create and end attempts without a lock.
 */
export class AttemptIndex {
  readonly #store: FileSystem;
  readonly #clock: () => number;
  readonly #newName: () => string;

  constructor(store: FileSystem, clock: () => number, newName: () => string = randomAttemptName) {
    this.#store = store;
    this.#clock = clock;
    this.#newName = newName;
  }

  /** Returns the directory of an attempt in the store. */
  static directoryOf(name: string): string {
    return `${ATTEMPTS}/${name}`;
  }

  /** Returns the path that exists in the store once an attempt has ended. */
  static discardedPath(name: string): string {
    return `${ATTEMPTS}/${name}/discarded`;
  }

  /**
   * Creates an attempt, by default with a new name, such as `calm-otter`.
   * @throws TypeError, RangeError for a name that cannot be one; WorkspaceError `exists`
   */
  async create(
    name: string | undefined,
    start: AttemptStart = {},
    signal?: AbortSignal,
    prepare?: Prepare,
  ): Promise<AttemptRecord> {
    if (name !== undefined) checkAttemptName(name);
    for (let tries = 0; ; tries++) {
      const chosen = name ?? `${this.#newName()}${tries < MAX_TRIES ? '' : `-${tries}`}`;
      const record = { createdAt: this.#clock(), parent: start.parent, head: start.head, live: start.live };
      if (await this.#begin(chosen, record, signal, prepare)) return { name: chosen, ...record, state: 'open' };
      if (name === undefined) continue;
      const found = await this.find(name, signal);
      const next = found?.state === 'discarded' ? 'It was discarded; choose another name' : 'Choose another name';
      throw new WorkspaceError('exists', `An attempt ${quote(name)} exists already. ${next}, or leave the name out`);
    }
  }

  /** Returns an attempt, also a discarded one; undefined if there was none of that name. */
  async find(name: string, signal?: AbortSignal): Promise<AttemptRecord | undefined> {
    if (typeof name !== 'string' || !isAttemptName(name)) return undefined;
    const path = recordPath(name);
    const [entry, discarded] = await this.#store.run(getMany, [[path, discardedPath(name)]], { signal });
    if (entry === undefined) return undefined;
    const text = new TextDecoder().decode(entry.content);
    const { createdAt, parent, head, live } = parseRecord<Omit<AttemptRecord, 'name' | 'state'>>(text, path);
    return { name, createdAt, parent, head, live, state: discarded === undefined ? 'open' : 'discarded' };
  }

  /** Reports whether an attempt has ended. */
  isDiscarded(name: string, signal?: AbortSignal): Promise<boolean> {
    return this.#store.exists(discardedPath(name), { signal });
  }

  /**
   * Returns an open attempt.
   * @throws WorkspaceError `not-found`, with names of open attempts in the message; `closed` for one that was discarded
   */
  async get(name: string, signal?: AbortSignal): Promise<AttemptRecord> {
    const found = await this.find(name, signal);
    if (found?.state === 'open') return found;
    if (found !== undefined)
      throw new WorkspaceError('closed', `The attempt ${quote(name)} was discarded. Work in another one, or start one`);
    const open = (await this.list(signal)).filter(({ state }) => state === 'open').map((each) => each.name);
    const known = open.length === 0 ? 'There is none yet' : `There are ${open.slice(0, 10).join(', ')}`;
    const more = open.length > 10 ? ` and ${open.length - 10} more` : '';
    const shown = quote(String(name).slice(0, 64));
    throw new WorkspaceError('not-found', `No attempt is called ${shown}. ${known}${more}`);
  }

  /** Returns all attempts, discarded ones too, oldest first. */
  async list(signal?: AbortSignal): Promise<AttemptRecord[]> {
    let names: string[];
    try {
      names = await this.#store.readdir(ATTEMPTS, { signal });
    } catch (error) {
      if (isFsError(error, 'ENOENT')) return [];
      throw error;
    }
    const found = await Promise.all(names.map((name) => this.find(name, signal)));
    const records = found.filter((record) => record !== undefined);
    return records.sort((a, b) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1));
  }

  /** Ends an attempt; false if it had ended. @throws WorkspaceError `not-found` */
  async discard(name: string, signal?: AbortSignal): Promise<boolean> {
    if ((await this.find(name, signal)) === undefined) await this.get(name, signal);
    const ended = await createRecord(this.#store, discardedPath(name), { at: this.#clock() }, signal);
    const current = await this.#readCurrent(signal);
    if (current?.name === name)
      await ignoring(['ENOENT', 'ECHANGED'], this.#store.rm(CURRENT, { ifVersion: current.version, signal }));
    return ended;
  }

  /** Replaces the stored parent and HEAD of an attempt, for example after `refresh --onto`. */
  async update(name: string, start: AttemptStart, signal?: AbortSignal): Promise<void> {
    const { createdAt, live } = await this.get(name, signal);
    const record = { createdAt, parent: start.parent, head: start.head, live };
    await this.#store.writeFile(recordPath(name), encodeRecord(record), { signal });
  }

  /** Returns the current attempt; undefined if there is none, or if it was discarded. */
  async current(signal?: AbortSignal): Promise<AttemptRecord | undefined> {
    const current = await readRecord<{ readonly name: unknown }>(this.#store, CURRENT, signal);
    const found = current && (await this.find(String(current.name), signal));
    return found?.state === 'open' ? found : undefined;
  }

  /** Makes an attempt the current one. @throws WorkspaceError `not-found`, `closed`, `refused` for a live one */
  async switchTo(name: string, signal?: AbortSignal): Promise<void> {
    const { live } = await this.get(name, signal);
    if (live === true)
      throw new WorkspaceError(
        'refused',
        `The attempt ${quote(name)} writes to the disk at once, so it is only used by name. Switch to another one`,
      );
    await this.#store.writeFile(CURRENT, encodeRecord({ name }), { signal });
  }

  /** Makes an open attempt the current one if there is none. Returns the name of the current one. */
  async offer(name: string, signal?: AbortSignal): Promise<string> {
    for (;;) {
      const found = await this.#readCurrent(signal);
      if (found !== undefined && (await this.find(found.name, signal))?.state === 'open') return found.name;
      const condition = found === undefined ? ({ flag: 'wx' } as const) : { ifVersion: found.version };
      try {
        await this.#store.writeFile(CURRENT, encodeRecord({ name }), { ...condition, signal });
        return name;
      } catch (error) {
        // Another process was faster.
        if (!isFsError(error, 'EEXIST') && !isFsError(error, 'ECHANGED') && !isFsError(error, 'ENOENT')) throw error;
      }
    }
  }

  /**
   * Returns a name that no attempt has. The same key gives the same name until another attempt is created, so that
   * processes mean the same attempt before it exists.
   */
  async nextName(key: string, signal?: AbortSignal): Promise<string> {
    const attempts = await this.list(signal);
    const taken = new Set(attempts.map(({ name }) => name));
    for (let tries = 0; ; tries++) {
      const digest = createHash('sha256').update(`${key}\0${attempts.length}\0${tries}`).digest();
      let at = 0;
      const name = randomAttemptName((below) => digest.readUInt32LE(4 * at++) % below);
      if (!taken.has(name)) return name;
    }
  }

  /**
   * Creates an attempt unless it exists, and makes it the current one if there is none. One that was discarded or is
   * live does not become the current one, even if another process has created it.
   */
  async ensure(name: string, start: AttemptStart, signal?: AbortSignal, prepare?: Prepare): Promise<void> {
    await this.#begin(name, { createdAt: this.#clock(), ...start }, signal, prepare);
    const found = await this.find(name, signal);
    if (found?.state === 'open' && found.live !== true) await this.offer(name, signal);
  }

  /**
   * Creates the record of an attempt and what `prepare` stores, in one step if the store has transactions. Another
   * store may be left with a part, which the next creation under the name replaces. Returns false if the attempt
   * exists.
   */
  async #begin(
    name: string,
    record: object,
    signal: AbortSignal | undefined,
    prepare: Prepare | undefined,
  ): Promise<boolean> {
    const begin = async (store: FileSystem): Promise<boolean> => {
      if (await store.exists(recordPath(name))) return false;
      await prepare?.(store, name);
      return createRecord(store, recordPath(name), record);
    };
    return this.#store.capabilities.transactions ? this.#store.transaction(begin, { signal }) : begin(this.#store);
  }

  async #readCurrent(
    signal: AbortSignal | undefined,
  ): Promise<{ readonly name: string; readonly version: string } | undefined> {
    try {
      const { version } = await this.#store.stat(CURRENT, { signal });
      const record = await readRecord<{ readonly name: unknown }>(this.#store, CURRENT, signal);
      return record === undefined ? undefined : { name: String(record.name), version };
    } catch (error) {
      if (isFsError(error, 'ENOENT')) return undefined;
      throw error;
    }
  }
}

const recordPath = (name: string): string => `${ATTEMPTS}/${name}/attempt`;
const { discardedPath } = AttemptIndex;

async function ignoring(codes: readonly ('ENOENT' | 'ECHANGED')[], work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!codes.some((code) => isFsError(error, code))) throw error;
  }
}
