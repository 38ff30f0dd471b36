import { Random } from '@scratchfs/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isNode20 } from '../testing/node-version.js';
import { CALLS, HANDLE_CALLS } from '../testing/sweep/calls.js';
import type { Form } from '../testing/sweep/case.js';
import { KNOWN_DIFFERENCES } from '../testing/sweep/known-differences.js';
import { Comparison, casesOf } from '../testing/sweep/sweep.js';
import { hostWorld, laterWorld, memoryWorld, type World } from '../testing/sweep/world.js';

/** Forms over each storage, the number of calls with random arguments, and n if only every n-th call is tested. */
const SWEEPS: readonly (readonly [string, Form, () => Promise<World>, number, number])[] = [
  ['memory, at once', 'sync', memoryWorld, 3, 1],
  ['memory, with a callback', 'callback', memoryWorld, 3, 1],
  ['memory, as a promise', 'promise', memoryWorld, 3, 1],
  ['memory, as a method of FileHandle', 'handle', memoryWorld, 3, 1],
  ['memory, promisified', 'promisified', memoryWorld, 3, 1],
  ['a far storage, as a promise', 'promise', laterWorld, 0, 3],
];

const SEED = 20_261_122;
/** Functions that promisify treats specially. */
const PROMISIFIED = /^(exists|open|read|readFile|readv|stat|write|writev)$/;

function callsOf(form: Form) {
  if (form === 'handle') return [...CALLS.filter(({ method }) => method !== undefined), ...HANDLE_CALLS];
  return CALLS.filter(
    ({ name, forms }) => (form !== 'promisified' || PROMISIFIED.test(name)) && (forms?.includes(form) ?? true),
  );
}

// Later versions of Node differ in places.
describe.skipIf(!isNode20)('every function behaves as in Node 20 with every kind of argument', () => {
  const umask = process.umask(0o022);
  const { noDeprecation } = process;
  beforeAll(() => {
    process.noDeprecation = true;
  });
  afterAll(() => {
    process.umask(umask);
    process.noDeprecation = noDeprecation ?? false;
  });
  const met = new Set<string>();

  it.each(SWEEPS)('over %s', { timeout: 600_000 }, async (_, form, ours, mixed, every) => {
    const comparison = new Comparison(form, hostWorld, ours);
    const random = new Random(SEED);
    const found: unknown[] = [];
    let drawn = 0;
    for (const call of callsOf(form)) {
      for (const one of casesOf(call, form, random, mixed)) {
        if (drawn++ % every !== 0) continue;
        const difference = await comparison.differs(one);
        if (difference !== undefined) found.push(difference);
      }
    }
    await comparison.close();
    for (const sentence of comparison.met) met.add(sentence);
    expect(found.slice(0, 5)).toEqual([]);
  });

  it('except for the known differences, all of which appear', () => {
    expect(KNOWN_DIFFERENCES.map(({ sentence }) => sentence).filter((sentence) => !met.has(sentence))).toEqual([]);
  });

  it('a function that returns something else is reported', async () => {
    const comparison = new Comparison('sync', hostWorld, async () => {
      const world = await memoryWorld();
      const { fs } = world;
      return {
        ...world,
        fs: { ...fs, rmdirSync: (path: string) => fs.rmSync(path, { recursive: true }) } as typeof fs,
      };
    });
    const call = CALLS.find(({ name }) => name === 'rmdir') as (typeof CALLS)[number];
    let differences = 0;
    for (const one of casesOf(call, 'sync', new Random(SEED), 0))
      differences += (await comparison.differs(one)) === undefined ? 0 : 1;
    await comparison.close();
    expect(differences).toBeGreaterThan(5);
  });
});
