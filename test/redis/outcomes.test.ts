import { setTimeout as sleep } from 'node:timers/promises';
import { type Batch, type Check, StorageError } from '@scratchfs/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CommitQueue } from '../../packages/redis/src/commit/commit-queue.js';
import { runIdempotent } from '../../packages/redis/src/commit/idempotent-command.js';
import type { Sequences } from '../../packages/redis/src/commit/sequences.js';
import { MAIN_STATE } from '../../packages/redis/src/connection/keys.js';
import { runStateCommand } from '../../packages/redis/src/connection/state-commands.js';
import type { SharedResources } from '../../packages/redis/src/shared-resources.js';
import { freshNamespace, type RedisLocation, withClient } from './clients.js';
import { batch, file, type Interceptor, interceptCommits, isPrivateField } from './intercepted-commits.js';
import { RedisServer } from './servers/redis-server.js';
import { hasOwnServer } from './servers/test-server.js';

const STAGED_WRITES = 300;

/** More writes than fit into one request. */
const large = batch(
  'large',
  Array.from({ length: STAGED_WRITES }, (_, i) => `/large${i}`),
);

describe.skipIf(!hasOwnServer)('The outcome of an operation that the client has stopped waiting for', () => {
  let server: RedisServer;
  let place: RedisLocation;
  let shared: SharedResources;
  let sequences: Sequences;
  let commits: CommitQueue;
  let around: Interceptor;
  /** Objects that wait to be freed, as last reported to the commit queue. */
  let waiting: number;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    place = { url: server.url, namespace: freshNamespace() };
    around = (run) => run();
    waiting = 0;
    ({ shared, sequences, commits } = interceptCommits(place, (...request) => around(...request), {
      onGarbage: (objects) => (waiting = objects),
    }));
    await commits.commit(batch('first', ['/first']), undefined);
    return () => shared.release();
  });

  /** Returns the fields of the head that were created for commits in progress. */
  const lent = async (): Promise<string[]> => {
    const head = (await server.control.call('HKEYS', `scratchfs:{${place.namespace}}:m`)) as string[];
    return head.filter(isPrivateField);
  };
  const dropResults = async (): Promise<void> => {
    const keys = (await server.control.call('KEYS', `*{${place.namespace}}:u:*`)) as string[];
    for (const key of keys) await server.control.call('DEL', key);
  };
  const names = (): Promise<number> => withClient(place, async (fs) => (await fs.readdir('/')).length);

  it('is correct if the commit is given up at any of its staging steps', async () => {
    let steps = 0;
    for (let at = 1; at < 20; at++) {
      steps = 0;
      let outcome: unknown;
      const operationId = `large ${at}`;
      around = async (run, script, field) => {
        const answer = await run();
        if (script === 'commit' && field.startsWith('p/') && ++steps === at)
          outcome = await commits.outcome(operationId);
        return answer;
      };
      const ended = await commits.commit({ ...large, operationId }, undefined).catch(() => 'rejected');
      if (outcome === undefined) {
        expect(at).toBeGreaterThan(3);
        expect([ended, await names()]).toEqual([expect.objectContaining({ kind: 'ok' }), STAGED_WRITES + 1]);
        return;
      }
      expect([ended, outcome, await names()], `step ${at}`).toEqual(['rejected', 'absent', 1]);
    }
    expect.unreachable('There is no last step');
  });

  it('is the actual one if the reply arrives and is confirmed to the server during the query', async () => {
    const sent = batch('x', ['/x']);
    let answer: Promise<unknown> | undefined;
    let started = (): void => {};
    const isSent = new Promise<void>((resolve) => (started = resolve));
    around = async (run, script) => {
      if (script === 'commit') started();
      if (script === 'outcome') {
        await answer;
        for (let i = 0; i < 40; i++) await commits.commit(batch(`more ${i}`, [`/more${i}`]), undefined);
      }
      return run();
    };
    answer = commits.commit(sent, undefined);
    await isSent;
    expect(await commits.outcome('x')).toEqual(await answer);
  });

  it('is absent if other clients had invalidated the staged commit and that reply was lost', async () => {
    let isLost = false;
    around = async (run, script, field) => {
      if (script !== 'commit' || field !== MAIN_STATE || isLost) return run();
      isLost = true;
      await withClient(place, (other) => other.writeFile('/other', ''));
      await run();
      throw new StorageError('timeout', 'The answer was lost');
    };
    await expect(commits.commit(large, undefined)).rejects.toMatchObject({ kind: 'timeout' });
    expect([await commits.outcome('large'), await names()]).toEqual(['absent', 2]);
  });

  it('stays absent if the server is killed and forgets that the operation was given up', async () => {
    let sent: Promise<unknown> = Promise.resolve();
    around = (run, script) => {
      const answer = run();
      if (script === 'commit') sent = answer;
      return answer;
    };
    // Another client holds the lock for a large commit, so this request waits.
    await runStateCommand(shared.session, MAIN_STATE, 'lock', [1_000]);
    commits.commit(batch('x', ['/x']), undefined).catch(() => {});
    await server.control.call('SAVE');
    const outcome = await commits.outcome('x');
    await server.kill();
    await server.start();
    expect(await sent.catch((error: unknown) => error)).toMatchObject({ kind: 'lost' });
    expect([outcome, await commits.outcome('x'), await names()]).toEqual(['absent', 'absent', 1]);
  });

  it('stays absent if a step in progress finds a conflict', async () => {
    const checks: Check[] = [{ kind: 'entry', path: '/first', id: null }];
    let outcome: unknown;
    around = async (run, script, field) => {
      const answer = await run();
      if (script === 'commit' && field.startsWith('p/')) outcome ??= await commits.outcome('large');
      return answer;
    };
    await expect(commits.commit({ ...large, checks }, undefined)).rejects.toThrow('given up');
    expect([outcome, await commits.outcome('large')]).toEqual(['absent', 'absent']);
  });

  it('is absent if the operation is aborted before it begins, or before it is repeated', async () => {
    const early = AbortSignal.abort(new Error('aborted early'));
    await expect(commits.commit({ ...large, operationId: 'early' }, { signal: early })).rejects.toThrow(
      'aborted early',
    );
    const stop = new AbortController();
    around = async (run, script, field) => {
      if (script === 'commit' && field === MAIN_STATE && !stop.signal.aborted) {
        await withClient(place, (other) => other.writeFile('/other', ''));
        stop.abort(new Error('aborted late'));
      }
      return run();
    };
    await expect(commits.commit(large, { signal: stop.signal })).rejects.toThrow('aborted late');
    const outcomes = [await commits.outcome('early'), await commits.outcome('large')];
    expect([...outcomes, await names()]).toEqual(['absent', 'absent', 2]);
  });

  it('and content that was sent ahead of a commit that never happens is freed', async () => {
    const big = (operationId: string): Batch => ({ ...batch(operationId, []), writes: [file('/big', 2_000_000)] });
    const both = (operationId: string): Batch => ({
      ...large,
      operationId,
      writes: [...big('').writes, ...large.writes],
    });
    const isStep = (script: string, field: string): boolean => script === 'commit' && field.startsWith('p/');
    const isLast = (script: string, field: string): boolean => script === 'commit' && field === MAIN_STATE;
    const refused = async (work: Promise<unknown>): Promise<unknown> => expect(work).rejects.toThrow();

    // The commit is given up while it is staged, and in its last step.
    for (const [operationId, isThen] of [
      ['step', isStep],
      ['last', isLast],
    ] as const) {
      around = async (run, script, field) => {
        if (isThen(script, field)) expect(await commits.outcome(operationId)).toBe('absent');
        return run();
      };
      await refused(commits.commit(both(operationId), undefined));
      await expect.poll(lent, { interval: 10 }).toEqual([]);
    }

    // Aborted while parts of its content are in transit, one of which arrives late.
    const stop = new AbortController();
    const arrived: Promise<unknown>[] = [];
    around = async (run, script) => {
      if (script !== 'stageContent') return run();
      stop.abort(new Error('aborted'));
      const late = sleep(50).then(run);
      arrived.push(late);
      return late;
    };
    await refused(commits.commit(both('aborted'), { signal: stop.signal }));
    await expect.poll(() => arrived.length).toBeGreaterThan(0);
    await Promise.all(arrived);
    await expect.poll(lent, { interval: 10 }).toEqual([]);

    // Refused by a server without free memory, which the client learns only from the reply.
    around = async (run, script, field) => {
      if (isLast(script, field)) await server.control.call('CONFIG', 'SET', 'maxmemory', '1');
      return run();
    };
    try {
      for (const sent of [big('full'), both('full and prepared')]) {
        await server.control.call('CONFIG', 'SET', 'maxmemory', '0');
        await expect(commits.commit(sent, undefined)).rejects.toThrow('no memory left');
        expect(await lent()).not.toEqual([]);
        expect(await commits.outcome(sent.operationId)).toBe('absent');
        await expect.poll(lent, { interval: 10 }).toEqual([]);
        await expect.poll(() => waiting, { interval: 10 }).toBeGreaterThan(0);
        waiting = 0;
      }
    } finally {
      await server.control.call('CONFIG', 'SET', 'maxmemory', '0');
    }
  });

  it('is unknown after too many later operations, whether a reply had arrived or not', async () => {
    const none = (operationId: string): Batch => ({
      ...batch(operationId, []),
      checks: [{ kind: 'entry', path: '/none', id: 'none' }],
      writes: [{ kind: 'remove', path: '/none', time: 0 }],
    });
    const send = async (count: number, name: string): Promise<void> => {
      for (let i = 0; i < count; i += 500)
        await Promise.allSettled(
          Array.from({ length: 500 }, (_, k) => commits.commit(none(`${name} ${i + k}`), undefined)),
        );
    };
    await commits.commit(batch('answered', ['/answered']), undefined);
    await send(5_000, 'answered');
    expect(await commits.outcome('never sent')).toBe('absent');
    await send(10_000, 'answered again');
    expect(await commits.outcome('answered')).toBe('unknown');
    expect(await commits.outcome('never sent')).toBe('unknown');

    // An operation that is still queued is known.
    let go = (): void => {};
    const after = new Promise<void>((resolve) => (go = resolve));
    const waits = commits.commit(batch('waits', ['/waits']), undefined, after).catch(() => 'rejected');
    expect(await commits.outcome('waits')).toBe('absent');
    go();
    expect([await waits, await names()]).toEqual(['rejected', 2]);
  });

  it('is unknown for an operation that never got a reply and was forgotten', async () => {
    around = async (run) => {
      await run();
      throw new StorageError('timeout', 'The answer was lost');
    };
    await commits.commit(batch('lost', ['/lost']), undefined).catch(() => {});
    around = async () => {
      throw new StorageError('timeout', 'The request was lost');
    };
    for (let i = 0; i < 111_000; i += 500)
      await Promise.allSettled(
        Array.from({ length: 500 }, (_, k) => commits.commit(batch(`${i + k}`, ['/y']), undefined)),
      );
    around = (run) => run();
    expect([await commits.outcome('lost'), await names()]).toEqual(['unknown', 2]);
  });

  it('is unknown if the server has lost all results', async () => {
    around = async (run) => {
      await run();
      throw new StorageError('timeout', 'The answer was lost');
    };
    await commits.commit(batch('x', ['/x']), undefined).catch(() => {});
    around = (run) => run();
    await dropResults();
    expect([await commits.outcome('x'), await names()]).toEqual(['unknown', 2]);
  });

  describe('on a machine that has slept for longer than results are kept', () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['Date'] });
      return () => void vi.useRealTimers();
    });

    const sleepForADay = async (): Promise<void> => {
      vi.setSystemTime(Date.now() + 90_000_000);
      await dropResults();
    };

    it.each(['remembers its scripts', 'has forgotten its scripts too'])(
      'is unknown, and the repeated request does nothing, if the server %s',
      async (what) => {
        // The first request is still in transit, so the repeated one carries the values of the time when it began.
        const { connection } = shared;
        const send = connection.run.bind(connection);
        let isFirst = true;
        Object.assign(connection, {
          run: async (...args: Parameters<typeof send>) => {
            if (args[0].name !== 'commit' || !isFirst) return send(...args);
            isFirst = false;
            await send(...args);
            await withClient(place, (other) => other.rm('/x'));
            await sleepForADay();
            if (what !== 'remembers its scripts') await server.control.call('SCRIPT', 'FLUSH');
            return send(...args);
          },
        });
        const failure = await commits.commit(batch('x', ['/x']), undefined).catch((error: unknown) => error);
        expect(failure).toMatchObject({ kind: 'unavailable', mayHaveHappened: true });
        expect([await commits.outcome('x'), await names()]).toEqual(['unknown', 1]);
        expect(await commits.commit(batch('y', ['/y']), undefined)).toMatchObject({ kind: 'ok' });
      },
    );

    it('is unknown for operations begun before the server remembered this client again, and known for later ones', async () => {
      around = async (run, script) => {
        await run();
        throw new StorageError('timeout', `The answer of ${script} was lost`);
      };
      await commits.commit(batch('x', ['/x']), undefined).catch(() => {});
      around = (run) => run();
      await sleepForADay();
      expect(await commits.commit(batch('y', ['/y']), undefined)).toMatchObject({ kind: 'ok' });
      vi.setSystemTime(Date.now() + 1);
      around = async () => {
        throw new StorageError('timeout', 'The request was lost');
      };
      await commits.commit(batch('z', ['/z']), undefined).catch(() => {});
      around = (run) => run();
      expect([await commits.outcome('x'), await commits.outcome('z'), await names()]).toEqual(['unknown', 'absent', 3]);
    });

    it('is unknown for a rollback too, which is not repeated', async () => {
      const { session } = shared;
      await runIdempotent(session, sequences, MAIN_STATE, 'create', ['c', '', 0, -1]);
      around = async (run, script) => {
        const answer = await run();
        if (script !== 'states') return answer;
        await withClient(place, (other) => other.writeFile('/after', ''));
        await sleepForADay();
        throw new StorageError('timeout', 'The answer was lost');
      };
      const restored = runIdempotent(session, sequences, MAIN_STATE, 'restore', ['c', -1, -1]);
      await expect(restored).rejects.toMatchObject({ kind: 'timeout', mayHaveHappened: true });
      expect(await names()).toBe(2);
    });
  });

  it('and writes that a server without free memory refused leave nothing behind', async () => {
    await server.control.call('CONFIG', 'SET', 'maxmemory', '1');
    const outcomes = new Set<unknown>();
    try {
      for (let i = 0; i < 500; i++) {
        await expect(commits.commit(batch(`${i}`, [`/${i}`]), undefined)).rejects.toThrow('no memory left');
        outcomes.add(await commits.outcome(`${i}`));
      }
    } finally {
      await server.control.call('CONFIG', 'SET', 'maxmemory', '0');
    }
    const [key] = (await server.control.call('KEYS', `*{${place.namespace}}:u:*`)) as string[];
    expect([[...outcomes], await names()]).toEqual([['absent'], 1]);
    expect(Number(await server.control.call('HLEN', key ?? ''))).toBeLessThan(50);
  });

  it('and a server without free memory still serves checks and accepts confirmations of results', async () => {
    const checks = Array.from({ length: 700 }, (_, i): Check => ({ kind: 'entry', path: `/absent${i}`, id: null }));
    const look = (operationId: string) => commits.commit({ ...batch(operationId, []), checks }, undefined);
    await look('before');
    await Promise.all(Array.from({ length: 30 }, (_, i) => commits.commit(batch(`${i}`, [`/${i}`]), undefined)));
    await server.control.call('CONFIG', 'SET', 'maxmemory', '1');
    try {
      for (let i = 0; i < 3; i++) expect(await look(`full ${i}`)).toMatchObject({ kind: 'ok' });
    } finally {
      await server.control.call('CONFIG', 'SET', 'maxmemory', '0');
    }
  });
});
