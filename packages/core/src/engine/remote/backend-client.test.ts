import { describe, expect, it } from 'vitest';
import type { Backend, Batch, CommitResult } from '../../backend.js';
import { OutcomeUnknownError, StorageError } from '../../errors.js';
import { BackendClient, type BackendClientOptions } from './backend-client.js';

type Reply<T> = T | Error | 'never';

/** A backend that gives one prepared reply per call and records the calls. */
function scripted({
  commits = [],
  outcomes = [],
}: {
  commits?: Reply<CommitResult>[];
  outcomes?: Reply<CommitResult | 'absent' | 'unknown'>[];
}) {
  const sent: string[] = [];
  const asked: string[] = [];
  const reply = <T>(script: Reply<T>[]): Promise<T> => {
    const next = script.shift();
    if (next === undefined) throw new Error('There was one call more than expected');
    if (next === 'never') return new Promise<T>(() => {});
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next as T);
  };
  const backend = {
    commit: ({ operationId }: Batch) => {
      sent.push(operationId);
      return reply(commits);
    },
    outcome: (operationId: string) => {
      asked.push(operationId);
      return reply(outcomes);
    },
  };
  return { backend: backend as unknown as Backend, sent, asked };
}

/** Options with a timer whose sleeps of up to 200 ms, listed in `pauses`, end immediately; others end at an abort. */
function options(given: Partial<BackendClientOptions> = {}): { options: BackendClientOptions; pauses: number[] } {
  const pauses: number[] = [];
  let numbers = 0;
  const timer = {
    sleep: (ms: number, signal: AbortSignal) => {
      if (ms <= 200) pauses.push(ms);
      return ms <= 200
        ? Promise.resolve()
        : new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    },
  };
  const random = (below: number): number => (below === 1000 ? 0 : numbers++ % below);
  return { options: { timeoutMs: 30_000, retries: 2, random, timer, ...given }, pauses };
}

const atOnce = { sleep: () => Promise.resolve() };
const OK: CommitResult = { kind: 'ok', version: 7 };
const write = { kind: 'remove', path: '/a', time: 1 } as const;
const batch: Batch = { operationId: 'first', checks: [], writes: [write], limits: {} };
const lost = (): StorageError => new StorageError('unavailable', 'The line is down');

describe('a batch', () => {
  it.each<CommitResult>([
    OK,
    { kind: 'conflict', checks: [0] },
    { kind: 'limit', limit: 'maxFileSize', allowed: 1, used: 0, requested: 2 },
  ])('that gets the reply %j is sent once', async (result) => {
    const { backend, sent, asked } = scripted({ commits: [result] });
    expect(await new BackendClient(backend, options().options).commit(batch, undefined)).toEqual(result);
    expect([sent, asked]).toEqual([['first'], []]);
  });

  it('whose reply was lost has happened if its outcome says so', async () => {
    const { backend, sent, asked } = scripted({ commits: [lost()], outcomes: [OK] });
    expect(await new BackendClient(backend, options().options).commit(batch, undefined)).toEqual(OK);
    expect([sent, asked]).toEqual([['first'], ['first']]);
  });

  it('that never happened is sent again under another id', async () => {
    const { backend, sent, asked } = scripted({
      commits: [lost(), new StorageError('timeout', 'Late'), OK],
      outcomes: ['absent', 'absent'],
    });
    const { options: given, pauses } = options();
    expect(await new BackendClient(backend, given).commit(batch, undefined)).toEqual(OK);
    expect(new Set(sent).size).toBe(3);
    expect(asked).toEqual(sent.slice(0, 2));
    expect(pauses).toEqual([5, 10]);
  });

  it('is given up after the configured number of retries', async () => {
    const last = lost();
    const { backend, sent } = scripted({ commits: [lost(), lost(), last], outcomes: ['absent', 'absent', 'absent'] });
    // The storage has said that it did not happen.
    await expect(new BackendClient(backend, options().options).commit(batch, undefined)).rejects.toMatchObject({
      message: last.message,
      retryable: true,
      mayHaveHappened: false,
    });
    expect(sent.length).toBe(3);
  });

  it('without writes is sent again without asking for its outcome', async () => {
    const { backend, sent, asked } = scripted({ commits: [lost(), OK] });
    expect(await new BackendClient(backend, options().options).commit({ ...batch, writes: [] }, undefined)).toEqual(OK);
    expect([sent, asked]).toEqual([['first', 'first'], []]);
  });

  it.each([new StorageError('corrupt', 'Damaged'), new TypeError('A mistake'), new OutcomeUnknownError('first')])(
    'that was refused with %s is not sent again',
    async (error) => {
      const { backend, sent, asked } = scripted({ commits: [error] });
      await expect(new BackendClient(backend, options().options).commit(batch, undefined)).rejects.toBe(error);
      expect([sent, asked]).toEqual([['first'], []]);
    },
  );

  it('whose outcome the storage cannot tell is unknown, and says its id', async () => {
    const cause = lost();
    const { backend } = scripted({ commits: [cause], outcomes: ['unknown'] });
    const error = await new BackendClient(backend, options().options)
      .commit(batch, undefined)
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({ operationId: 'first', retryable: false, cause });
  });

  it('that was aborted and whose outcome does not arrive in time is unknown', async () => {
    const { backend, asked } = scripted({ commits: ['never'], outcomes: ['never'] });
    const controller = new AbortController();
    // Only the short wait for the outcome after an abort passes.
    const timer = {
      sleep: (ms: number, stop: AbortSignal) =>
        ms === 800
          ? Promise.resolve()
          : new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve())),
    };
    const error = new BackendClient(backend, options({ timer }).options)
      .commit(batch, controller.signal)
      .catch((caught: unknown) => caught);
    controller.abort();
    expect(await error).toBeInstanceOf(OutcomeUnknownError);
    expect(asked).toEqual(['first']);
  });

  it('whose outcome cannot be asked for is unknown, after as many attempts to ask as there are retries', async () => {
    const { backend, asked } = scripted({
      commits: [lost()],
      outcomes: [lost(), new StorageError('closed', 'Closed'), lost()],
    });
    await expect(new BackendClient(backend, options().options).commit(batch, undefined)).rejects.toBeInstanceOf(
      OutcomeUnknownError,
    );
    expect(asked.length).toBe(3);
  });

  it('is asked about again if the request for its outcome was lost', async () => {
    const { backend } = scripted({ commits: [lost()], outcomes: [lost(), OK] });
    expect(await new BackendClient(backend, options().options).commit(batch, undefined)).toEqual(OK);
  });

  it('fails with the error of the request for its outcome if that is a programming mistake', async () => {
    const mistake = new TypeError('A mistake');
    const { backend } = scripted({ commits: [lost()], outcomes: [mistake] });
    await expect(new BackendClient(backend, options().options).commit(batch, undefined)).rejects.toBe(mistake);
  });

  it('whose reply is late is asked about', async () => {
    const { backend, asked } = scripted({ commits: ['never'], outcomes: [OK] });
    let sleeps = 0;
    const timer = {
      // The deadline of the commit passes, that of the request for its outcome does not.
      sleep: (_: number, signal: AbortSignal) =>
        sleeps++ === 0
          ? Promise.resolve()
          : new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
    };
    expect(await new BackendClient(backend, options({ timer }).options).commit(batch, undefined)).toEqual(OK);
    expect(asked).toEqual(['first']);
  });
});

describe('an aborted batch', () => {
  const aborting = (commits: Reply<CommitResult>[], outcomes: Reply<CommitResult | 'absent' | 'unknown'>[]) => {
    const controller = new AbortController();
    const script = scripted({ commits, outcomes });
    const { commit } = script.backend;
    const backend = {
      ...script.backend,
      commit: (sent: Batch) => {
        const committed = commit(sent);
        controller.abort(new Error('Enough'));
        return committed;
      },
    } as Backend;
    return { ...script, result: new BackendClient(backend, options().options).commit(batch, controller.signal) };
  };

  it('has succeeded if it had been applied', async () => {
    const { result, asked } = aborting(['never'], [OK]);
    expect(await result).toEqual(OK);
    expect(asked).toEqual(['first']);
  });

  it('fails with the reason of the abort if it had not been applied, and is not sent again', async () => {
    const { result, sent } = aborting(['never'], ['absent']);
    await expect(result).rejects.toThrow('Enough');
    expect(sent.length).toBe(1);
  });

  it('is unknown if one request for its outcome does not settle it', async () => {
    const { result, asked } = aborting(['never'], [lost()]);
    await expect(result).rejects.toBeInstanceOf(OutcomeUnknownError);
    expect(asked.length).toBe(1);
  });

  it('is not sent at all if the signal was aborted before', async () => {
    const { backend, sent, asked } = scripted({});
    const signal = AbortSignal.abort(new Error('Before'));
    await expect(new BackendClient(backend, options().options).commit(batch, signal)).rejects.toThrow('Before');
    expect([sent, asked]).toEqual([[], []]);
  });
});

describe('a request that changes nothing', () => {
  const run = (errors: Error[], signal?: AbortSignal) => {
    let calls = 0;
    const { options: given, pauses } = options();
    const result = new BackendClient(scripted({}).backend, given).retrying(signal, async () => {
      const error = errors[calls++];
      if (error !== undefined) throw error;
      return 'result';
    });
    return { result, pauses, calls: () => calls };
  };

  it('is sent again after transient failures, first immediately and then after growing pauses', async () => {
    const { result, pauses } = run([lost(), new StorageError('conflict', 'Faster')]);
    expect(await result).toBe('result');
    expect(pauses).toEqual([0, 5]);
  });

  it('is given up after the configured number of retries', async () => {
    const { result, calls } = run([lost(), lost(), lost(), lost()]);
    await expect(result).rejects.toMatchObject({ message: 'The line is down', retryable: true });
    expect(calls()).toBe(3);
  });

  it('never says that something may have happened', async () => {
    const failures = [
      lost(),
      new StorageError('timeout', 'Late'),
      new StorageError('unavailable', 'No', { retryable: false }),
    ];
    for (const failure of failures)
      await expect(run(Array(3).fill(failure)).result).rejects.toMatchObject({
        message: failure.message,
        kind: failure.kind,
        retryable: failure.retryable,
        mayHaveHappened: false,
      });
  });

  it.each([new StorageError('corrupt', 'Damaged'), new TypeError('A mistake')])(
    'fails with %s immediately',
    async (error) => {
      const { result, calls } = run([error]);
      await expect(result).rejects.toBe(error);
      expect(calls()).toBe(1);
    },
  );

  it('ends with the reason of an abort, whatever failed', async () => {
    const controller = new AbortController();
    const requests = new BackendClient(scripted({}).backend, options().options);
    const result = requests.retrying(controller.signal, async () => {
      controller.abort(new Error('Enough'));
      throw lost();
    });
    await expect(result).rejects.toThrow('Enough');
  });
});

describe('a change that has the same effect when it is made twice', () => {
  const repeated = (errors: readonly Error[]) => {
    const left = [...errors];
    return new BackendClient(scripted({}).backend, options().options).repeated(undefined, async () => {
      const error = left.shift();
      if (error !== undefined) throw error;
      return 'done';
    });
  };
  const unsent = new StorageError('unavailable', 'Not sent', { mayHaveHappened: false });

  it('is sent again if its reply was lost, marked as a repeat', async () => {
    expect(await repeated([lost(), lost()])).toEqual({ result: 'done', wasLost: true });
    expect(await repeated([unsent])).toEqual({ result: 'done', wasLost: false });
  });

  it('is unknown only if at least one reply was lost and no attempt succeeded', async () => {
    await expect(repeated([lost(), unsent, unsent, unsent, unsent])).rejects.toBeInstanceOf(OutcomeUnknownError);
    await expect(repeated([unsent, unsent, unsent, unsent, unsent])).rejects.toBe(unsent);
  });
});

describe('a change whose outcome the storage does not record', () => {
  const once = (error: Error) =>
    new BackendClient(scripted({}).backend, options().options).once(undefined, () => Promise.reject(error));

  it('is unknown if its reply was lost', async () => {
    const cause = lost();
    await expect(once(cause)).rejects.toMatchObject({ name: 'OutcomeUnknownError', cause });
  });

  it('fails with the error that refused it', async () => {
    const error = new StorageError('corrupt', 'Damaged');
    await expect(once(error)).rejects.toBe(error);
  });

  it('is sent again if it certainly did not happen, and then fails with the last error', async () => {
    const error = new StorageError('unavailable', 'Not sent', { mayHaveHappened: false });
    await expect(once(error)).rejects.toBe(error);
    let sent = 0;
    const requests = new BackendClient(scripted({}).backend, options().options);
    const result = requests.once(undefined, async () => {
      if (++sent < 3) throw error;
      return 'done';
    });
    expect(await result).toBe('done');
    expect(sent).toBe(3);
  });

  it('returns the result of the storage', async () => {
    const requests = new BackendClient(scripted({}).backend, options().options);
    expect(await requests.once(undefined, async () => 'done')).toBe('done');
  });
});

describe.each(['once', 'repeated'] as const)('a change (%s) that is aborted after it was sent', (how) => {
  const enough = new Error('Enough');
  /** Pauses and the wait for a reply after an abort end immediately. */
  const timer = {
    sleep: (ms: number, stop: AbortSignal) =>
      ms <= 800 ? Promise.resolve() : new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve())),
  };
  const aborted = async (call: (signal: AbortSignal) => Promise<unknown>, given = options().options) => {
    const controller = new AbortController();
    let sent = 0;
    const result = new BackendClient(scripted({}).backend, given)[how](controller.signal, ({ signal }) => {
      sent += 1;
      controller.abort(enough);
      return call(signal as AbortSignal);
    });
    const outcome = await result.then(
      (done) => (how === 'once' ? done : (done as { result: unknown }).result),
      (error: unknown) => error,
    );
    expect(sent).toBe(1);
    return outcome;
  };

  it('has succeeded if the reply arrives shortly after the abort', async () => {
    expect(await aborted(async () => 'done')).toBe('done');
  });

  it('gets an aborted signal, and did not happen if the storage says so', async () => {
    const unsent = new StorageError('unavailable', 'Not sent', { mayHaveHappened: false });
    const stopped = async (signal: AbortSignal): Promise<never> => {
      expect(signal.reason).toBe(enough);
      throw unsent;
    };
    expect(await aborted(stopped)).toBe(enough);
    expect(await aborted(stopped, options({ retries: 0 }).options)).toBe(enough);
  });

  it('is unknown if its reply is lost, incomplete or late', async () => {
    expect(await aborted(() => Promise.reject(lost()))).toBeInstanceOf(OutcomeUnknownError);
    expect(await aborted(async (signal) => signal.throwIfAborted())).toBeInstanceOf(OutcomeUnknownError);
    const never = (): Promise<never> => new Promise(() => {});
    expect(await aborted(never, options({ timer }).options)).toBeInstanceOf(OutcomeUnknownError);
  });

  it('is not sent if it was aborted before', async () => {
    const requests = new BackendClient(scripted({}).backend, options().options);
    const call = (): Promise<never> => Promise.reject(new Error('It was sent'));
    await expect(requests[how](AbortSignal.abort(enough), call)).rejects.toBe(enough);
  });
});

describe('a pause', () => {
  it('grows to 200 ms, with a random length between half of that and all of it', async () => {
    const { options: given, pauses } = options({ random: () => 999 });
    const requests = new BackendClient(scripted({}).backend, given);
    for (const attempt of [0, 1, 5, 6, 100]) await requests.pause(attempt, undefined);
    expect(pauses.map(Math.round)).toEqual([0, 10, 160, 200, 200]);
  });

  it('ends with an abort', async () => {
    const requests = new BackendClient(scripted({}).backend, options({ timer: atOnce }).options);
    await expect(requests.pause(1, AbortSignal.abort(new Error('Enough')))).rejects.toThrow('Enough');
  });
});
