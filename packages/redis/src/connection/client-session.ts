import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { rootMeta, StorageError, systemClock } from '@scratchfs/core';
import type { Acknowledged } from '../commit/sequences.js';
import type { Answer } from '../format/reply/replies.js';
import { HEADER_ROOM, type Header, writeHeader } from '../format/request/request-header.js';
import { type Body, Writer } from '../format/request/writer.js';
import { META_BYTES, writeMeta } from '../format/stored/record.js';
import { type Beside, type Script, scripts } from '../lua/scripts.js';
import type { Settings } from '../options.js';
import { type Argument, type Connection, isMissingScript } from './connection.js';
import type { Keys } from './keys.js';

/** The layout that this version reads and writes. */
export const FORMAT = '1';
/** Times a request is sent again because the filesystem has begun a new epoch, or has forgotten this client. */
const MAX_TURNS = 8;
/**
 * About half of the time that the server keeps results, 23 hours at least: a request that was begun less than that before they were
 * found gone had none among them.
 */
const LONG_MS = 43_200_000;
/** How often commits ask the server to keep results on: to do so each time is a write more for whoever follows it. */
const KEEP_MS = 3_600_000;

/** What a request says beside its arguments. */
export interface Terms extends Partial<Pick<Header, 'holdsLock' | 'removes' | 'isSmall'>> {
  /** What it asks, where that is more than a few arguments. */
  readonly body?: Body;
  readonly acknowledged?: Acknowledged | undefined;
  /** What watchers are told, where there are any. */
  readonly news?: () => Buffer;
}

/**
 * What a client knows of the filesystem it works on: which one it is, and how far it has come. The server says so with
 * every answer, and checks it with every request, so that a filesystem that was lost, replaced or has gone back in time
 * is never taken for this one.
 */
export class Session {
  readonly client = randomBytes(9).toString('base64url');
  /** Whether commits have to bring along what watchers are told. The server says so. */
  isWatched = false;
  #token = '';
  /** Of the root, where this client makes the filesystem: it begins when the storage is made. */
  readonly #rootMeta = Buffer.alloc(META_BYTES);
  #seen = 0;
  #lost: StorageError | undefined;
  /** Whether the server keeps what this client's operations came to, as far as is known. */
  #hasResults = false;
  /** When a commit last made it keep them on, and over which connection: a clock may stand still while nobody is connected. */
  #kept = { at: Number.NEGATIVE_INFINITY, generation: -1 };
  /** When they were found gone last. By the system's clock: others may stand still while the machine sleeps. */
  #forgottenAt = Number.NEGATIVE_INFINITY;
  #hello: Promise<void> | undefined;
  /** Scripts that have run: a server that has them no more has forgotten, others may just be new to it. */
  readonly #ran = new Set<string>();
  readonly #keys: Readonly<Record<Beside, readonly string[]>>;
  /** The connection for which an epoch was begun, so that several scripts that are missing begin one only. */
  #begun = -1;

  constructor(
    readonly connection: Connection,
    readonly keys: Keys,
    readonly settings: Settings,
    /** Asked before anything else, once. */
    readonly inspect: () => Promise<void>,
  ) {
    const { head, objects, references, queue } = keys;
    const tree = [head, objects, references, queue];
    const results = keys.results(this.client);
    this.#keys = {
      nothing: tree,
      results: [...tree, results],
      'results and changes': [...tree, results, keys.changes],
    };
    writeMeta(rootMeta((settings.engine.clock ?? systemClock)()), this.#rootMeta, 0);
  }

  /** The highest number that an answer has had. */
  get seen(): number {
    return this.#seen;
  }

  /** Whether the server has forgotten what this client did since something was begun: what became of it then is not known. */
  hasForgotten(begun: number): boolean {
    return this.#forgottenAt >= begun;
  }

  /**
   * Runs a script on the state that a field of the head holds.
   * @throws StorageError
   */
  async run(script: Script, field: string, args: readonly Argument[], terms: Terms = {}): Promise<Answer> {
    const begun = Date.now();
    const patience = performance.now() + this.settings.timeoutMs;
    for (let turn = 0; turn < MAX_TURNS; ) {
      if (this.#token === '') await this.#begin(false);
      if (this.#lost !== undefined) throw this.#lost;
      this.#checkRemembered(begun);
      const { generation } = this.connection;
      const keepsResults = script !== scripts.commit || !this.#areKept(begun, generation);
      const answer = await this.#send(script, field, args, terms, keepsResults, begun);
      const kind = textOf(answer[0]);
      if (kind === 'K') {
        if (keepsResults && script === scripts.commit) this.#kept = { at: begun, generation };
        this.#seen = Math.max(this.#seen, Number(textOf(answer[1])));
        return answer;
      }
      if (kind === 'B')
        throw this.#fail('The filesystem has gone back in time: the server has lost acknowledged writes');
      if (kind === 'G') throw new StateGone();
      if (kind === 'W') {
        // A large commit is about to end.
        if (performance.now() > patience) throw new StorageError('timeout', 'The filesystem was locked for too long');
        await sleep(randomInt(2, 8));
        continue;
      }
      turn += 1;
      if (kind === 'N') {
        this.isWatched = true;
        continue;
      }
      // E: another epoch, or another filesystem. F: it has forgotten this client, which was away for long.
      if (kind === 'F') {
        this.#forgottenAt = Date.now();
        this.#hasResults = false;
      }
      await this.#begin(false);
    }
    throw new StorageError('unavailable', 'The Redis server keeps forgetting: it is being restarted again and again');
  }

  #areKept(now: number, generation: number): boolean {
    return generation === this.#kept.generation && Math.abs(now - this.#kept.at) <= KEEP_MS;
  }

  async #send(
    script: Script,
    field: string,
    args: readonly Argument[],
    terms: Terms,
    keepsResults: boolean,
    begun: number,
  ): Promise<Answer> {
    const news = this.isWatched ? terms.news?.() : undefined;
    const keys = this.#keys[news === undefined ? script.beside : 'results and changes'];
    const own = news === undefined ? args : [...args, news];
    const all = (): Argument[] => [this.#beginning(field, terms, news !== undefined, keepsResults), ...own];
    try {
      const answer = partsOf(await this.connection.run(script, keys, all()));
      this.#ran.add(script.name);
      return answer;
    } catch (error) {
      if (!isMissingScript(error)) throw error;
    }
    // A server that has forgotten its scripts was restarted, or is another one: it may have forgotten more.
    await this.#begin(true, this.#ran.has(script.name));
    this.#checkRemembered(begun);
    return partsOf(await this.connection.runText(script, keys, all()));
  }

  /** The first argument of every script but the first. */
  #beginning(field: string, terms: Terms, hasNews: boolean, keepsResults: boolean): Buffer {
    const { body, acknowledged } = terms;
    const written = new Writer(HEADER_ROOM + (body?.length ?? 0));
    const header = {
      token: this.#token,
      field,
      seen: this.#seen,
      ttlMs: this.settings.ttlMs,
      floor: acknowledged?.floor ?? 0,
      settled: acknowledged?.settled ?? '',
      holdsLock: terms.holdsLock ?? false,
      removes: terms.removes ?? false,
      isSmall: terms.isSmall ?? false,
      hasNews,
      keepsResults,
    };
    writeHeader(header, written);
    body?.write(written);
    return written.done();
  }

  /** @throws StorageError where the request may have been carried out without anybody knowing: it must not be again. */
  #checkRemembered(begun: number): void {
    if (this.#forgottenAt - begun <= LONG_MS) return;
    throw new StorageError('unavailable', 'The answer was lost, and the Redis server has forgotten what it was');
  }

  #begin(isForgetful: boolean, hasForgotten = false): Promise<void> {
    this.#hello ??= this.#sayHello(isForgetful, hasForgotten).finally(() => {
      this.#hello = undefined;
    });
    return this.#hello;
  }

  async #sayHello(isForgetful: boolean, hasForgotten: boolean): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost;
    if (this.#token === '') await this.inspect();
    const isNewEpoch = isForgetful && this.#begun !== this.connection.generation;
    const keys = this.#keys[scripts.hello.beside];
    const identity = this.settings.create ? randomBytes(12).toString('base64url') : '';
    const epoch = isNewEpoch ? '1' : '0';
    const jump = randomInt(2 ** 24);
    const isNew = this.#hasResults ? '0' : '1';
    const args = [FORMAT, this.#token, identity, epoch, this.#rootMeta, 'root', this.settings.ttlMs];
    const answer = await this.connection
      .run(scripts.hello, keys, [...args, hasForgotten ? '1' : '0', jump, isNew])
      .catch((error: unknown) => {
        if (!isMissingScript(error)) throw error;
        return this.connection.runText(scripts.hello, keys, [...args, '1', jump, isNew]);
      });
    const [kind, a, b, c] = partsOf(answer).map((part) => textOf(part));
    if (kind === 'K') this.#arrived(a as string, Number(b), c as string);
    else this.#refused(kind as string, a ?? '', b ?? '');
    if (isForgetful) this.#begun = this.connection.generation;
  }

  #arrived(token: string, counter: number, ended: string): void {
    // What was seen after the end of the epoch that we know has been lost with the server's memory.
    if (ended !== '' && Number(ended) < this.#seen)
      throw this.#fail('The filesystem has gone back in time: the server has lost acknowledged writes');
    this.#token = token;
    this.#seen = Math.max(this.#seen, counter);
    this.#hasResults = true;
  }

  #refused(kind: string, a: string, b: string): never {
    if (kind === 'T')
      throw new StorageError(
        'corrupt',
        `The key ${JSON.stringify(a)} holds a ${b}: something else uses this namespace. Choose another namespace or keyPrefix`,
      );
    if (kind === 'V')
      throw new StorageError(
        'version',
        `The filesystem has the layout ${a || 'of something else'}; this version knows ${FORMAT}`,
      );
    if (kind === 'P')
      throw new StorageError(
        'lost',
        `The head of the filesystem is gone, parts of it are left (${JSON.stringify(a)}). Remove them, or choose another namespace`,
      );
    throw this.#fail('The filesystem is gone from the server: it was removed, or has expired');
  }

  /** Once lost it stays lost: what this client remembers is of no use any more. */
  #fail(message: string): StorageError {
    this.#lost ??= new StorageError('lost', message);
    return this.#lost;
  }
}

/** The filesystem is there, but not this state of it. */
export class StateGone extends StorageError {
  constructor() {
    super(
      'lost',
      'This state of the filesystem is gone: a checkpoint that was dropped, or a fork that was not used for too long',
    );
  }
}

/** An answer that is all text comes as one, in lines: what comes in parts takes longer to read. */
function partsOf(answer: Answer | Buffer): Answer {
  return Buffer.isBuffer(answer) ? answer.toString('latin1').split('\n') : answer;
}

export function textOf(part: Answer[number] | undefined): string {
  return Buffer.isBuffer(part) ? part.toString('utf8') : String(part);
}
