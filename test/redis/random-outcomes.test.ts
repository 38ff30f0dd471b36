import { setTimeout as sleep } from 'node:timers/promises';
import { type Batch, type Check, StorageError } from '@scratchfs/core';
import { Random } from '@scratchfs/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAIN_STATE } from '../../packages/redis/src/connection/keys.js';
import { runStateCommand } from '../../packages/redis/src/connection/state-commands.js';
import { freshNamespace, type RedisLocation, withClient } from './clients.js';
import {
  batch,
  file,
  type Intercepted,
  type Interceptor,
  interceptCommits,
  isPrivateField,
} from './intercepted-commits.js';
import { RedisServer } from './servers/redis-server.js';
import { hasOwnServer } from './servers/test-server.js';

/** `OUTCOME_ROUNDS` sets the number of rounds, `OUTCOME_SEED` the first seed. */
const ROUNDS = Number(process.env['OUTCOME_ROUNDS'] ?? 60);
const SEED = Number(process.env['OUTCOME_SEED'] ?? 20_261_124);
/** Concurrent rounds: most of a round is waiting. */
const CONCURRENT_OPERATIONS = 15;
const OPERATIONS = 40;
/** Writes of a batch that is large enough to be staged in several steps. */
const STAGED_WRITES = 180;
/** Bytes of a content that is large enough to be sent before its commit. */
const STAGED_CONTENT_BYTES = 600_000;

interface Operation {
  readonly batch: Batch;
  readonly path: string;
  /** Outcomes reported so far, in order. */
  readonly said: string[];
  isRemoved: boolean;
}

/** Two clients of one filesystem: the requests of one get lost, delayed or duplicated, those of the other do not. */
class Round {
  readonly wrong: string[] = [];
  readonly #random: Random;
  readonly #faulty: Intercepted;
  readonly #other: Intercepted;
  /** Requests that arrive later. */
  readonly #late: Promise<unknown>[] = [];
  #hasFaults = true;

  constructor(
    seed: number,
    private readonly server: RedisServer,
    private readonly place: RedisLocation,
  ) {
    this.#random = new Random(seed);
    // With a fast clock, sequence numbers are given up almost immediately.
    const speed = this.#random.pick([1, 1_000]);
    const around: Interceptor = (run, script) =>
      this.#hasFaults && (script === 'commit' || script === 'outcome') ? this.#disturbed(run) : run();
    this.#faulty = interceptCommits(place, around, { clock: () => performance.now() * speed });
    this.#other = interceptCommits(place, (run) => run());
  }

  async play(): Promise<void> {
    const random = this.#random;
    await this.#other.commits.commit(batch('first', ['/first']), undefined);
    const operations: Promise<Operation>[] = [];
    for (let i = 0; i < OPERATIONS; i++) {
      operations.push(this.#operate(`${i}`));
      if (random.chance(0.3)) this.#other.commits.commit(batch(`noise${i}`, [`/noise${i}`]), undefined).catch(() => {});
      if (random.chance(0.05)) runStateCommand(this.#other.shared.session, MAIN_STATE, 'lock', [100]).catch(() => {});
      // These two affect all rounds.
      if (random.chance(0.02 / CONCURRENT_OPERATIONS)) await this.server.control.call('SCRIPT', 'FLUSH');
      if (random.chance(0.03 / CONCURRENT_OPERATIONS))
        await this.server.control.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await sleep(random.below(15));
    }
    const done = await Promise.all(operations);
    while (this.#late.length > 0) await Promise.all(this.#late.splice(0));
    this.#hasFaults = false;
    for (const operation of done) await this.#ask(operation);
    await this.#judge(done);
    await this.#faulty.shared.release();
    await this.#other.shared.release();
  }

  async #disturbed(run: () => Promise<unknown>): Promise<unknown> {
    const random = this.#random;
    const dice = random.below(100);
    if (dice >= 45 && dice < 60) await sleep(random.below(60));
    // Duplicated, or arriving only after the caller has stopped waiting.
    if ((dice >= 70 && dice < 80) || dice >= 90)
      this.#late.push(
        sleep(random.below(250))
          .then(run)
          .catch(() => {}),
      );
    const answer = dice < 90 ? await run() : undefined;
    if ((dice >= 60 && dice < 70) || dice >= 90) await sleep(random.below(60));
    if (dice >= 80) throw new StorageError('timeout', 'The answer was lost');
    return answer;
  }

  async #operate(id: string): Promise<Operation> {
    const random = this.#random;
    const path = `/${id}`;
    const writes = [file(path, random.chance(0.1) ? STAGED_CONTENT_BYTES : 1)];
    if (random.chance(0.25)) for (let i = 1; i < STAGED_WRITES; i++) writes.push(file(`${path}-${i}`));
    const checks: Check[] = random.chance(0.2) ? [{ kind: 'entry', path: '/first', id: null }] : [];
    const operation: Operation = {
      batch: { operationId: id, checks, writes, limits: {} },
      path,
      said: [],
      isRemoved: false,
    };
    const stop = new AbortController();
    if (random.chance(0.3)) void sleep(random.below(80)).then(() => stop.abort(new Error('aborted')));
    const answer = this.#faulty.commits.commit(operation.batch, { signal: stop.signal });
    const asked = [1, 2, 3].filter(() => random.chance(0.6)).map(() => random.below(120));
    await Promise.all([
      answer.then((result) => operation.said.push(JSON.stringify(result))).catch(() => {}),
      ...asked.map((ms) => sleep(ms).then(() => this.#ask(operation))),
    ]);
    if (random.chance(0.7)) await this.#ask(operation);
    if (operation.said.at(-1)?.includes('"ok"') === true && random.chance(0.6)) await this.#remove(operation);
    return operation;
  }

  async #ask({ batch: { operationId }, said }: Operation): Promise<void> {
    try {
      const outcome = await this.#faulty.commits.outcome(operationId);
      said.push(typeof outcome === 'string' ? outcome : JSON.stringify(outcome));
    } catch (error) {
      if (!this.#hasFaults) said.push(`asked in vain: ${error}`);
    }
  }

  /** Removes the file. If the operation is applied a second time, the file comes back. */
  async #remove(operation: Operation): Promise<void> {
    const { path, batch } = operation;
    const removal: Batch = {
      operationId: `remove ${batch.operationId}`,
      checks: [{ kind: 'entry', path, id: path.slice(1) }],
      writes: [{ kind: 'remove', path, time: 0 }],
      limits: {},
    };
    const removed = await this.#other.commits.commit(removal, undefined);
    if (removed.kind !== 'ok') this.wrong.push(`${path} has happened and is not there`);
    operation.isRemoved = true;
  }

  async #judge(operations: readonly Operation[]): Promise<void> {
    const names = new Set(await withClient(this.place, (fs) => fs.readdir('/')));
    for (const { path, said, isRemoved } of operations) {
      const history = said.join(' | ');
      const known = said.filter((what) => what !== 'unknown');
      const isThere = names.has(path.slice(1));
      if (new Set(known).size > 1) this.wrong.push(`${path} is told in two ways: ${history}`);
      if (said.lastIndexOf('unknown') > said.findIndex((what) => what !== 'unknown') && known.length > 0)
        this.wrong.push(`${path} is known no more: ${history}`);
      const hasHappened = known[0]?.includes('"ok"');
      if (hasHappened === true && isThere === isRemoved)
        this.wrong.push(`${path} is applied twice, or not: ${history}`);
      if (hasHappened === false && isThere) this.wrong.push(`${path} has happened: ${history}`);
    }
    const lent = async (): Promise<string[]> => {
      const head = await this.server.control.call('HKEYS', `scratchfs:{${this.place.namespace}}:m`);
      return (head as string[]).filter(isPrivateField);
    };
    for (let i = 0; i < 1_500 && (await lent()).length > 0; i++) await sleep(20);
    for (const field of await lent()) this.wrong.push(`${field} is not given back`);
  }
}

describe.skipIf(!hasOwnServer)('The outcome of an operation whose requests get lost, delayed or duplicated', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  it('is reported correctly, and the same each time', { timeout: 60_000 + 2_000 * ROUNDS }, async () => {
    const wrong: string[] = [];
    for (let first = 0; first < ROUNDS; first += CONCURRENT_OPERATIONS) {
      const rounds = Array.from({ length: Math.min(CONCURRENT_OPERATIONS, ROUNDS - first) }, async (_, i) => {
        const round = new Round(SEED + first + i, server, { url: server.url, namespace: freshNamespace() });
        await round.play();
        for (const what of round.wrong) wrong.push(`${SEED + first + i}: ${what}`);
      });
      await Promise.all(rounds);
    }
    expect(wrong).toEqual([]);
  });
});
