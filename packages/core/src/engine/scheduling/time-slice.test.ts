import { expect, test, vi } from 'vitest';
import { runInSlices, SLICE_MS, type Steps, Yielder } from './time-slice.js';

function withClock(body: (advance: (ms: number) => void) => Promise<void>): () => Promise<void> {
  return async () => {
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    try {
      await body((ms) => {
        now += ms;
      });
    } finally {
      clock.mockRestore();
    }
  };
}

test(
  'a yielder pauses only when its slice is used up, and then begins a new one',
  withClock(async (advance) => {
    const yielder = new Yielder();
    expect(yielder.isDue).toBe(false);
    advance(SLICE_MS);
    expect(yielder.isDue).toBe(true);
    let ran = false;
    setTimeout(() => {
      ran = true;
    }, 0);
    await yielder.pauseIfDue();
    expect(ran).toBe(true);
    expect(yielder.isDue).toBe(false);
  }),
);

test(
  'a pause throws the reason of a signal that was aborted',
  withClock(async (advance) => {
    const controller = new AbortController();
    const yielder = new Yielder(controller.signal);
    controller.abort(new Error('stop'));
    await yielder.pauseIfDue();
    advance(SLICE_MS);
    await expect(yielder.pauseIfDue()).rejects.toThrow('stop');
  }),
);

test(
  'runInSlices() leaves the event loop free between slices and returns the result of the steps',
  withClock(async (advance) => {
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const steps = function* (): Steps<string> {
      for (let i = 0; i < 4; i++) {
        advance(SLICE_MS);
        yield;
      }
      return 'done';
    };
    try {
      expect(await runInSlices(steps(), undefined)).toBe('done');
      expect(turns).toBeGreaterThan(1);
    } finally {
      clearInterval(timer);
    }
  }),
);
