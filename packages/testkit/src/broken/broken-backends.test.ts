import { type Backend, backendOf } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import { faultAt, faultyBackend } from '../faults/faulty-backend.js';
import { memoryStorage } from '../memory-file-system.js';
import { backendSuite } from '../suite/backend-suite.js';
import { collectTests } from '../suite/runner.js';
import { BROKEN_BACKENDS } from './broken-backends.js';

/** `stopAtFirst`: one failure is enough, and the others may take long because the engine tries again. */
async function failuresOf(create: () => Backend, stopAtFirst = false): Promise<string[]> {
  const runner = collectTests();
  backendSuite({ test: runner, create });
  const results = await runner.run({ stopAtFirst });
  expect(runner.tests.length).toBeGreaterThan(20);
  return results
    .filter(({ error }) => error !== undefined)
    .map(({ name, error }) => `${name}: ${(error as Error).message}`);
}

const memory = (): Backend => backendOf(memoryStorage({ clock: () => 0 }));

describe('backendSuite', () => {
  it('passes the backend in memory', async () => expect(await failuresOf(memory)).toEqual([]));
  it('passes it when every call arrives twice', async () => {
    expect(await failuresOf(() => withSignals(faultyBackend(memory(), () => 'twice')))).toEqual([]);
  });
  it('fails one that fails once', async () => {
    expect(await failuresOf(() => faultyBackend(memory(), faultAt(2, 'before')))).not.toEqual([]);
  });
  for (const [name, broken] of Object.entries(BROKEN_BACKENDS)) {
    it(`catches a backend that ${name}`, async () =>
      expect(await failuresOf(() => broken(memory()), true)).not.toEqual([]));
  }
});

/** Makes `load` and `commit` check the signal before they begin. */
function withSignals(backend: Backend): Backend {
  return new Proxy(backend, {
    get(target, key) {
      const value = Reflect.get(target, key, target) as unknown;
      if (key !== 'load' && key !== 'commit') return typeof value === 'function' ? value.bind(target) : value;
      return async (argument: never, call?: { signal?: AbortSignal }) => {
        call?.signal?.throwIfAborted();
        return (value as (argument: never, call?: object) => unknown).call(target, argument, call);
      };
    },
  });
}
