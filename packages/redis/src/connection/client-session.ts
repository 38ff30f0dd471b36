import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { rootMeta, StorageError, systemClock } from '@scratchfs/core';
import { corruptReply, wholeNumber } from '../format/reply/corrupt.js';
import type { Reply } from '../format/reply/replies.js';
import {
  type Acknowledgement,
  APPROX_HEADER_BYTES,
  type RequestHeader,
  writeHeader,
} from '../format/request/request-header.js';
import { type RequestBody, Writer } from '../format/request/writer.js';
import { META_BYTES, writeMeta } from '../format/stored/record.js';
import { type ExtraKeys, type Script, scripts } from '../lua/scripts.js';
import type { Settings } from '../options.js';
import { type Connection, isMissingScript } from './connection.js';
import { isWithoutReply, withMayHaveHappened } from './errors.js';
import type { Keys } from './keys.js';
import type { Argument } from './script-command.js';

/** The version of the layout that this package reads and writes. */
export const LAYOUT_VERSION = '3';
/** Maximum attempts of a request that the server refuses for a reason that the client can mend, such as a new epoch. */
const MAX_ATTEMPTS = 8;
/**
 * Age up to which a request may be sent again after the server has lost the client's results. Results expire at least
 * 23 hours after the last one was stored, so a request that began at most 12 hours before they expired had none.
 */
const MAX_RESEND_AGE_MS = 43_200_000;
/**
 * Interval at which commits renew the expiry of the results. Renewing with each commit would send replicas another
 * write.
 */
const RESULTS_RENEWAL_MS = 3_600_000;
/**
 * Maximum random step from one epoch's number to the next one's, so that two servers that have diverged are unlikely to
 * begin the same epoch.
 */
const MAX_EPOCH_JUMP = 2 ** 24;
/** Random pause before a locked state is tried again. */
const LOCK_RETRY_MS = { min: 2, max: 8 } as const;

/** Passed to the `destroy` script in place of an identity: asks for the stored one. */
const ANY_IDENTITY = '?';

const WENT_BACK = 'The filesystem has gone back in time: the server has lost acknowledged writes';

/** Options of a request, beside its arguments. */
export interface RunOptions extends Partial<Pick<RequestHeader, 'holdsLock' | 'onlyRemoves' | 'fitsFastPath'>> {
  /** Follows the header in the first argument. */
  readonly body?: RequestBody;
  readonly acknowledged?: Acknowledgement | undefined;
  /** True if the request may change what the filesystem contains. Default false. */
  readonly isChange?: boolean | undefined;
  /** Encodes the changes for watchers. Called only if `isWatched` is true. */
  readonly announcements?: () => Buffer;
}

/** Progress of one call: whether any request of it may have reached the server. */
interface Progress {
  isSent: boolean;
}

/**
 * The filesystem that a client works on: its identity, epoch and highest counter seen. The requests of `run` carry
 * them. The scripts compare them, to notice a filesystem that was replaced, or that has lost writes which this client
 * has seen.
 */
export class ClientSession {
  readonly client = randomBytes(9).toString('base64url');
  /** True if commits have to carry the changes for watchers. */
  isWatched = false;
  #token = '';
  /**
   * Metadata of the root in case this client creates the filesystem. Its times are those of the creation of this
   * session.
   */
  readonly #rootMeta = Buffer.alloc(META_BYTES);
  #highestCounter = 0;
  #lost: StorageError | undefined;
  /** True if the server is known to store this client's results. */
  #hasResults = false;
  /**
   * Time and connection of the last commit that was told to renew the results' expiry. A later commit is told so after
   * {@link RESULTS_RENEWAL_MS}, or if the connection is another one. Renewals by other scripts are not recorded.
   */
  #resultsRenewed = { at: Number.NEGATIVE_INFINITY, generation: -1 };
  /**
   * Time at which the results were last found lost. System clock: a monotonic one may stop while the machine sleeps.
   */
  #resultsLostAt = Number.NEGATIVE_INFINITY;
  #handshake: Promise<void> | undefined;
  /**
   * Scripts that have run. A server that no longer knows one of these has probably restarted; others may just be new to
   * it.
   */
  readonly #scriptsRun = new Set<string>();
  readonly #keys: Readonly<Record<ExtraKeys, readonly string[]>>;
  #fieldCount = 0;
  /** The connection for which an epoch was begun, so that several missing scripts begin only one. */
  #epochGeneration = -1;

  constructor(
    readonly connection: Connection,
    readonly keys: Keys,
    readonly settings: Settings,
    /** Called before each handshake until one has succeeded. */
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

  /** The highest counter that a reply has contained. */
  get highestCounter(): number {
    return this.#highestCounter;
  }

  /** Returns an unused field name of the head: `g` for an uploaded content, `p` for a staged or pinned state. */
  uniqueField(letter: 'g' | 'p'): string {
    this.#fieldCount += 1;
    return `${letter}/${this.client}/${this.#fieldCount}`;
  }

  /** Reports whether the server has lost this client's results since a time. */
  hasLostResultsSince(begun: number): boolean {
    return this.#resultsLostAt >= begun;
  }

  /**
   * Runs a script on the state under a field of the head.
   * @throws StorageError; its `mayHaveHappened` is true only if the request is a change and may have been sent
   */
  async run(script: Script, field: string, args: readonly Argument[], options: RunOptions = {}): Promise<Reply> {
    const progress: Progress = { isSent: false };
    try {
      return await this.#runUntilAccepted(script, field, args, options, progress);
    } catch (error) {
      throw withMayHaveHappened(error, options.isChange === true && progress.isSent);
    }
  }

  async #runUntilAccepted(
    script: Script,
    field: string,
    args: readonly Argument[],
    options: RunOptions,
    progress: Progress,
  ): Promise<Reply> {
    const begun = Date.now();
    const deadline = performance.now() + this.settings.timeoutMs;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; ) {
      if (this.#token === '') await this.#shakeHands(false);
      if (this.#lost !== undefined) throw this.#lost;
      this.#checkResend(begun);
      const { generation } = this.connection;
      const renewsResults = script !== scripts.commit || !this.#areResultsFresh(begun, generation);
      const reply = await this.#send(script, field, args, options, renewsResults, begun, progress);
      const kind = replyText(reply[0]);
      if (kind === 'K') {
        if (renewsResults && script === scripts.commit) this.#resultsRenewed = { at: begun, generation };
        const counter = wholeNumber(replyText(reply[1]), 'a counter', options.isChange);
        this.#highestCounter = Math.max(this.#highestCounter, counter);
        return reply;
      }
      if (kind === 'B') throw this.#fail(WENT_BACK);
      if (kind === 'G') throw new StateGoneError();
      if (kind === 'W') {
        // A staged commit has locked the state until it ends, or until the lock expires.
        if (performance.now() > deadline) throw new StorageError('timeout', 'The filesystem was locked for too long');
        await sleep(randomInt(LOCK_RETRY_MS.min, LOCK_RETRY_MS.max));
        continue;
      }
      attempt += 1;
      if (kind === 'N') {
        this.isWatched = true;
        continue;
      }
      if (kind !== 'E' && kind !== 'F') throw corruptReply('a reply of no known kind', options.isChange);
      // E: another epoch or another filesystem. F: the server has lost this client's results.
      if (kind === 'F') {
        this.#resultsLostAt = Date.now();
        this.#hasResults = false;
      }
      await this.#shakeHands(false);
    }
    throw new StorageError('unavailable', 'The Redis server keeps forgetting: it is being restarted again and again');
  }

  /**
   * Deletes all keys of the filesystem in one atomic step. A first request returns its identity and the names of its
   * clients. The next ones delete only a filesystem of that identity, so a filesystem that is created during the call
   * stays. No handshake comes first, so that a filesystem of another layout version can be deleted too.
   * @throws StorageError `lost` if another filesystem has replaced the one that this client knows; `conflict` if
   *   clients keep connecting during the call; those of the connection
   */
  async destroy(): Promise<void> {
    const { head, objects, references, queue, changes, results } = this.keys;
    const ask = (identity: string, clients: readonly string[]): Promise<Reply | Buffer> => {
      const keys = [head, objects, references, queue, changes, ...clients.map((client) => results(client))];
      return this.connection.runSource(scripts.destroy, keys, [identity, ...clients]);
    };
    const read = (reply: Reply | Buffer): string[] => {
      const [kind = '', ...rest] = splitReply(reply).map((part) => replyText(part));
      if (kind !== 'K' && kind !== 'R') this.#refuse(kind, rest[0] ?? '', rest[1] ?? '');
      return kind === 'K' ? [] : rest;
    };
    const first = await ask(ANY_IDENTITY, []).catch((error: unknown) => {
      throw withMayHaveHappened(error, false);
    });
    const [identity = '', ...known] = read(first);
    const ownIdentity = this.#token.split(':')[0];
    if (ownIdentity !== '' && identity !== '' && identity !== ownIdentity) this.#refuse('N', '', '');
    let clients = known;
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt++) {
      const [found, ...more] = read(await ask(identity, clients));
      // Deleted, or deleted by another client since the first request: a filesystem of another identity is newer.
      if (found !== identity) {
        this.#fail('The filesystem was deleted by destroy()');
        return;
      }
      clients = more;
    }
    throw new StorageError('conflict', 'The filesystem was not deleted: clients kept connecting during the call');
  }

  /**
   * Closes the connection. If it is up, deletes this client's results first, because it will never ask for them again.
   */
  async close(): Promise<void> {
    const { head, results } = this.keys;
    const last = { script: scripts.leave, keys: [head, results(this.client)], args: [this.client] };
    await this.connection.close(this.#hasResults ? last : undefined);
  }

  #areResultsFresh(now: number, generation: number): boolean {
    const { at, generation: renewedOver } = this.#resultsRenewed;
    return generation === renewedOver && Math.abs(now - at) <= RESULTS_RENEWAL_MS;
  }

  async #send(
    script: Script,
    field: string,
    args: readonly Argument[],
    options: RunOptions,
    renewsResults: boolean,
    begun: number,
    progress: Progress,
  ): Promise<Reply> {
    const announcements = this.isWatched ? options.announcements?.() : undefined;
    const keys = this.#keys[announcements === undefined ? script.extraKeys : 'results and changes'];
    const ownArgs = announcements === undefined ? args : [...args, announcements];
    const allArgs = (): Argument[] => [
      this.#firstArgument(field, options, announcements !== undefined, renewsResults),
      ...ownArgs,
    ];
    try {
      const reply = splitReply(await this.connection.run(script, keys, allArgs()), options.isChange);
      progress.isSent = true;
      this.#scriptsRun.add(script.name);
      return reply;
    } catch (error) {
      // Even a request that is refused may be a repetition of one whose reply was lost with its connection.
      progress.isSent ||= !isWithoutReply(error) || error.mayHaveHappened;
      if (!isMissingScript(error)) throw error;
    }
    // A server without the script may have restarted or be another one, so it may have lost more.
    await this.#shakeHands(true, this.#scriptsRun.has(script.name));
    this.#checkResend(begun);
    return splitReply(await this.connection.runSource(script, keys, allArgs()), options.isChange);
  }

  /** Encodes header and body: the first argument of the scripts that `run` sends. */
  #firstArgument(field: string, options: RunOptions, hasAnnouncements: boolean, renewsResults: boolean): Buffer {
    const { body, acknowledged } = options;
    const written = new Writer(APPROX_HEADER_BYTES + (body?.length ?? 0));
    const header = {
      token: this.#token,
      field,
      highestCounter: this.#highestCounter,
      ttlMs: this.settings.ttlMs,
      floor: acknowledged?.floor ?? 0,
      settled: acknowledged?.settled ?? '',
      holdsLock: options.holdsLock ?? false,
      onlyRemoves: options.onlyRemoves ?? false,
      fitsFastPath: options.fitsFastPath ?? false,
      hasAnnouncements,
      renewsResults,
    };
    writeHeader(header, written);
    body?.write(written);
    return written.done();
  }

  /**
   * @throws StorageError if the request may have been applied and its result may be lost, so that it must not be
   * repeated
   */
  #checkResend(begun: number): void {
    if (this.#resultsLostAt - begun <= MAX_RESEND_AGE_MS) return;
    throw new StorageError('unavailable', 'The reply was lost, and the Redis server no longer has the result');
  }

  /** Runs the handshake. Concurrent callers share one. */
  #shakeHands(isScriptMissing: boolean, hasRestarted = false): Promise<void> {
    this.#handshake ??= this.#runHandshake(isScriptMissing, hasRestarted).finally(() => {
      this.#handshake = undefined;
    });
    return this.#handshake;
  }

  async #runHandshake(isScriptMissing: boolean, hasRestarted: boolean): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost;
    if (this.#token === '') await this.inspect();
    const beginsEpoch = isScriptMissing && this.#epochGeneration !== this.connection.generation;
    const keys = this.#keys[scripts.handshake.extraKeys];
    const identity = this.settings.create ? randomBytes(12).toString('base64url') : '';
    const epoch = beginsEpoch ? '1' : '0';
    const jump = randomInt(MAX_EPOCH_JUMP);
    const needsResults = this.#hasResults ? '0' : '1';
    const args = [LAYOUT_VERSION, this.#token, identity, epoch, this.#rootMeta, 'root', this.settings.ttlMs];
    const moreArgs = [jump, needsResults, this.client];
    const reply = await this.connection
      .run(scripts.handshake, keys, [...args, hasRestarted ? '1' : '0', ...moreArgs])
      .catch((error: unknown) => {
        if (!isMissingScript(error)) throw error;
        return this.connection.runSource(scripts.handshake, keys, [...args, '1', ...moreArgs]);
      });
    const [kind, a, b, c] = splitReply(reply).map((part) => replyText(part));
    if (kind === 'K') this.#accept(a ?? '', wholeNumber(b, 'a counter'), c ?? '');
    else this.#refuse(kind as string, a ?? '', b ?? '');
    if (isScriptMissing) this.#epochGeneration = this.connection.generation;
  }

  /** @param knownEpochEnd the counter at which the epoch that this client knows ended, or '' */
  #accept(token: string, counter: number, knownEpochEnd: string): void {
    if (!/^[^:]+:\d+$/.test(token) || !/^\d*$/.test(knownEpochEnd)) throw corruptReply('an identity');
    // This client has seen writes beyond the end of the known epoch: they were lost with the server's memory.
    if (knownEpochEnd !== '' && Number(knownEpochEnd) < this.#highestCounter) throw this.#fail(WENT_BACK);
    this.#token = token;
    this.#highestCounter = Math.max(this.#highestCounter, counter);
    this.#hasResults = true;
  }

  #refuse(kind: string, a: string, b: string): never {
    if (kind === 'T')
      throw new StorageError(
        'corrupt',
        `The key ${JSON.stringify(a)} holds a ${b}: something else uses this namespace. Choose another namespace or keyPrefix`,
      );
    if (kind === 'V')
      throw new StorageError(
        'version',
        `The filesystem has the layout ${a || 'of something else'}; this version knows ${LAYOUT_VERSION}`,
      );
    if (kind === 'P')
      throw new StorageError(
        'lost',
        `The head of the filesystem is gone, parts of it are left (${JSON.stringify(a)}). Remove them, or choose another namespace`,
      );
    if (kind !== 'N') throw corruptReply('a reply of no known kind');
    throw this.#fail('The filesystem is gone from the server: it was removed, or has expired');
  }

  /**
   * Makes every later `run` fail, and returns the error: once lost, the filesystem that this client knew does not come
   * back.
   */
  #fail(message: string): StorageError {
    this.#lost ??= new StorageError('lost', message);
    return this.#lost;
  }
}

/** Thrown when the filesystem exists, but this state of it does not. */
export class StateGoneError extends StorageError {
  constructor() {
    super(
      'lost',
      'This state of the filesystem is gone: a checkpoint that was dropped, or a fork that was not used for too long',
    );
  }
}

/**
 * Returns the parts of a reply. A text has one part in each line: the commit script returns its results in this form,
 * because a list takes longer to parse.
 */
function splitReply(reply: unknown, mayHaveHappened = false): Reply {
  if (Buffer.isBuffer(reply)) return reply.toString('latin1').split('\n');
  if (!Array.isArray(reply)) throw corruptReply('a reply of another form', mayHaveHappened);
  return reply;
}

export function replyText(part: Reply[number] | undefined): string {
  return Buffer.isBuffer(part) ? part.toString('utf8') : String(part);
}
