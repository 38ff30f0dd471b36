import { asyncStorage, type FileSystem, isStorageError, OutcomeUnknownError, openFileSystem } from '@scratchfs/core';
import { s3Backend } from '@scratchfs/s3';
import { differences, dump, recount } from '@scratchfs/testkit';
import { describe, expect, it } from 'vitest';
import { type Fault, HttpProxy } from './proxy/http-proxy.js';
import { clientOf, freshPlace, hasBucket, type Place } from './servers/test-bucket.js';

const OPERATIONS: Readonly<Record<string, (fs: FileSystem) => Promise<unknown>>> = {
  append: (fs) => fs.appendFile('/d/f', ' more'),
  'cp -r': (fs) => fs.cp('/d', '/copy', { recursive: true }),
  rename: (fs) => fs.rename('/d', '/moved'),
  'rm -r': (fs) => fs.rm('/d', { recursive: true }),
  read: (fs) => fs.readText('/d/f'),
};

const FAULTS: readonly Fault[] = ['dropped', 'done and dropped', 'cut', 'done and 500', 503, 409, 412];

describe.skipIf(!hasBucket)('Faults on the way to the store', () => {
  async function withFileSystem<T>(place: Place, attempts: number, work: (fs: FileSystem) => Promise<T>): Promise<T> {
    const client = clientOf(place, { maxAttempts: attempts });
    const { bucket, prefix } = place;
    const backend = s3Backend(client, { bucket, prefix, clock: () => 5, timeoutMs: 5_000 });
    try {
      return await work(await openFileSystem(asyncStorage(backend), { clock: () => 5 }));
    } finally {
      await backend.close();
      client.destroy();
    }
  }

  async function prepare(place: Place): Promise<void> {
    await withFileSystem(place, 1, async (fs) => {
      await fs.mkdir('/d');
      await fs.writeFile('/d/f', 'some text');
    });
  }

  const stateAt = (place: Place) => withFileSystem(place, 1, dump);

  for (const attempts of [1, 3]) {
    for (const [name, operation] of Object.entries(OPERATIONS)) {
      // What the SDK does by itself is the same for all.
      if (attempts > 1 && name !== 'append') continue;
      it.concurrent(`${name}, each request of it disturbed, the SDK sending ${attempts} times: before or after`, {
        timeout: 240_000,
      }, async () => {
        const proxy = await HttpProxy.start(freshPlace().endpoint ?? '');
        const model = freshPlace();
        await prepare(model);
        const before = await stateAt(model);
        await withFileSystem(model, 1, operation);
        const after = await stateAt(model);
        let faults = 0;
        for (const fault of FAULTS) {
          for (let at = 1; ; at++) {
            const place = freshPlace();
            await prepare(place);
            let requests = 0;
            const outcome = await withFileSystem({ ...place, endpoint: proxy.endpoint }, attempts, async (fs) => {
              proxy.plan = () => {
                requests += 1;
                return requests === at ? fault : 'none';
              };
              return operation(fs).then(
                () => 'done',
                (error: unknown) =>
                  error instanceof OutcomeUnknownError ? 'unknown' : isStorageError(error) ? 'failed' : String(error),
              );
            });
            if (requests < at) break;
            faults += 1;
            proxy.plan = () => 'none';
            const state = await stateAt(place);
            expect(differences({ ...state, stats: recount(state) }, state)).toEqual([]);
            const isBefore = differences(before, state).length === 0;
            const isAfter = differences(after, state).length === 0;
            const isRight =
              outcome === 'done'
                ? isAfter
                : outcome === 'failed'
                  ? isBefore
                  : outcome === 'unknown' && (isBefore || isAfter);
            expect({ fault, at, outcome, isRight }).toEqual({ fault, at, outcome, isRight: true });
          }
        }
        await proxy.stop();
        expect(faults).toBeGreaterThan(FAULTS.length * 2);
        console.log(`${name}: ${faults} faults`);
      });
    }
  }
});
