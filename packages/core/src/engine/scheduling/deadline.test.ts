import { describe, expect, it } from 'vitest';
import { bounded, SharedDeadline, systemTimer, type Timer, unlessAborted } from './deadline.js';

/** Returns an abort controller and a function that returns how many abort listeners its signal has. */
function counted(): { controller: AbortController; listeners: () => number } {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...args);
  };
  return { controller, listeners: () => listeners };
}

const never = (): Promise<never> => new Promise<never>(() => {});

describe('the system timer', () => {
  it('sleeps for the given time, and removes its abort listener', async () => {
    const { controller, listeners } = counted();
    await systemTimer.sleep(1, controller.signal);
    expect(listeners()).toBe(0);
  });

  it('wakes at an abort, and does not begin after one', async () => {
    const { controller, listeners } = counted();
    const sleep = systemTimer.sleep(1_000_000, controller.signal);
    controller.abort();
    await sleep;
    expect(listeners()).toBe(0);
    await systemTimer.sleep(1_000_000, controller.signal);
  });

  it('calls back unless it is cancelled', async () => {
    const called: string[] = [];
    const cancel = systemTimer.after?.(0, () => called.push('cancelled'));
    cancel?.();
    await new Promise<void>((resolve) => systemTimer.after?.(1, resolve));
    expect(called).toEqual([]);
  });
});

describe.each<[string, Timer]>([
  ['with a timer of callbacks', systemTimer],
  ['with a timer that only sleeps', { sleep: systemTimer.sleep }],
])('bounded(), %s', (_, timer) => {
  it('returns the result of the call, and leaves no listener', async () => {
    const { controller, listeners } = counted();
    expect(await bounded(timer, 1_000, controller.signal, async () => 7)).toBe(7);
    expect(listeners()).toBe(0);
  });

  it('rejects at its deadline, and aborts the signal of the call', async () => {
    let stopped: unknown;
    const late = bounded(timer, 1, undefined, ({ signal }) => {
      signal?.addEventListener('abort', () => (stopped = signal.reason));
      return never();
    });
    await expect(late).rejects.toMatchObject({ name: 'StorageError', kind: 'timeout' });
    expect(stopped).toMatchObject({ kind: 'timeout' });
  });

  it("rejects at an abort, even at one during the call's synchronous part", async () => {
    const { controller, listeners } = counted();
    const aborted = bounded(timer, 1_000, controller.signal, never);
    controller.abort('enough');
    await expect(aborted).rejects.toBe('enough');
    expect(listeners()).toBe(0);
    const other = new AbortController();
    const atOnce = bounded(timer, 1_000, other.signal, () => {
      other.abort('at once');
      return never();
    });
    await expect(atOnce).rejects.toBe('at once');
  });

  it('rejects with the error of the call, whether it rejects or throws', async () => {
    const error = new Error('no');
    await expect(bounded(timer, 1_000, undefined, () => Promise.reject(error))).rejects.toBe(error);
    const throwing = (): never => {
      throw error;
    };
    await expect(bounded(timer, 1_000, undefined, throwing)).rejects.toBe(error);
  });

  it('is not begun after an abort', async () => {
    let calls = 0;
    const call = async (): Promise<void> => {
      calls += 1;
    };
    await expect(bounded(timer, 1_000, AbortSignal.abort('before'), call)).rejects.toBe('before');
    expect(calls).toBe(0);
  });
});

it('any number of calls and pauses add one listener to their signal, and each can end by itself', async () => {
  const { controller, listeners } = counted();
  const { signal } = controller;
  const calls = Array.from({ length: 20 }, () => bounded(systemTimer, 1_000, signal, never));
  let finish = (): void => {};
  const work = new Promise<void>((resolve) => (finish = resolve));
  const works = Array.from({ length: 20 }, () => unlessAborted(signal, work));
  const pauses = Array.from({ length: 20 }, () => systemTimer.sleep(1_000_000, signal));
  expect(listeners()).toBe(1);
  expect(await bounded(systemTimer, 1_000, signal, async () => 7)).toBe(7);
  expect(listeners()).toBe(1);
  controller.abort('enough');
  const reason = { status: 'rejected', reason: 'enough' };
  expect(await Promise.allSettled([...calls, ...works])).toEqual(Array.from({ length: 40 }, () => reason));
  await Promise.all(pauses);
  finish();
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(listeners()).toBe(0);
});

describe.each<[string, Timer]>([
  ['with a timer of callbacks', systemTimer],
  ['with a timer that only sleeps', { sleep: systemTimer.sleep }],
])('a deadline shared by several calls, %s', (_, timer) => {
  it('lets calls that finish return, and aborts the others', async () => {
    const deadline = new SharedDeadline(timer, 1);
    const stopped: unknown[] = [];
    const finished = deadline.bound(async (call) => {
      stopped.push(call);
      return 7;
    });
    const late = [0, 1].map((at) =>
      deadline.bound((call) => {
        stopped.push(call);
        if (at === 0) call.signal?.addEventListener('abort', () => stopped.push(call.signal?.reason));
        return never();
      }),
    );
    expect(await finished).toBe(7);
    for (const call of late) await expect(call).rejects.toMatchObject({ name: 'StorageError', kind: 'timeout' });
    expect(stopped).toMatchObject([
      { isAborted: false, signal: { aborted: false } },
      { isAborted: true, signal: { aborted: true } },
      { isAborted: true, signal: { aborted: true, reason: { kind: 'timeout' } } },
      { kind: 'timeout' },
    ]);
  });

  it('rejects with the error of the call, whether it rejects or throws, and accepts the next one', async () => {
    const deadline = new SharedDeadline(timer, 1_000_000);
    const error = new Error('no');
    await expect(deadline.bound(() => Promise.reject(error))).rejects.toBe(error);
    const throwing = (): never => {
      throw error;
    };
    await expect(deadline.bound(throwing)).rejects.toBe(error);
    expect(await deadline.bound(async () => 7)).toBe(7);
  });
});

it('a deadline leaves no timer after all calls have ended, and gives each call its own signal', async () => {
  let timers = 0;
  const after = (): (() => void) => {
    timers += 1;
    return () => (timers -= 1);
  };
  const deadline = new SharedDeadline({ sleep: systemTimer.sleep, after }, 1);
  const signals = new Set<AbortSignal | undefined>();
  const calls = [1, 2, 3].map((result) =>
    deadline.bound(async ({ signal }) => {
      signals.add(signal);
      return result;
    }),
  );
  expect(timers).toBe(1);
  expect(await Promise.all(calls)).toEqual([1, 2, 3]);
  expect([timers, signals.size]).toEqual([0, 3]);
});

describe('unlessAborted()', () => {
  it('waits for the work', async () => {
    const { controller, listeners } = counted();
    expect(await unlessAborted(undefined, Promise.resolve(1))).toBe(1);
    expect(await unlessAborted(controller.signal, Promise.resolve(2))).toBe(2);
    await expect(unlessAborted(controller.signal, Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(listeners()).toBe(0);
  });

  it('does not wait after an abort, leaves no listener, and ignores a later failure of the work', async () => {
    const { controller, listeners } = counted();
    let fail = (_: Error): void => {};
    const work = new Promise<never>((__, reject) => {
      fail = reject;
    });
    const waiting = unlessAborted(controller.signal, work);
    controller.abort('enough');
    await expect(waiting).rejects.toBe('enough');
    const before = listeners();
    await expect(unlessAborted(controller.signal, work)).rejects.toBe('enough');
    expect(listeners()).toBe(before);
    fail(new Error('too late'));
    await new Promise((resolve) => setTimeout(resolve, 0));
  });
});
