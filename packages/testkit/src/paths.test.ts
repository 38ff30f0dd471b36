import { isFsError, normalizePath } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import { ModelError, modelPath } from './model/model-path.js';
import { Random } from './random.js';

// The full run, with a million paths and ten million calls of the fast path: `npm run campaign -- paths`.
const COUNT = Number(process.env.PATHS ?? 20_000);
const LONGEST_MS = 60_000 + COUNT;
const SEED = Number(process.env.PATHS_SEED ?? 1);
const PIECES = [
  '/',
  '\\',
  '.',
  '..',
  'a',
  'bc',
  ' ',
  '…',
  '😀',
  '\ud800',
  '\0',
  '__proto__',
  '~',
  'C:',
  'x'.repeat(90),
  'é'.repeat(128),
];

function outcome(work: () => string): string {
  try {
    return work();
  } catch (error) {
    if (error instanceof TypeError) return 'TypeError';
    if (isFsError(error)) return error.code;
    if (error instanceof ModelError) return error.code;
    throw error;
  }
}

/** A second implementation of the path rules. A name may have 255 bytes. */
function secondReading(path: string): string {
  const names = modelPath(path);
  if (names.some((name) => new TextEncoder().encode(name).length > 255)) throw new ModelError('ENAMETOOLONG');
  return `/${names.join('/')}`;
}

function cpuOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The best of up to thirty runs, or the first within a limit, because other processes slow the machine. */
function best(work: () => void, enough: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 30 && least >= enough; run++) least = Math.min(least, cpuOf(work));
  return least;
}

function looked(path: string): number {
  let sum = 0;
  for (let i = 0; i < path.length; i++) sum = (sum + path.charCodeAt(i)) | 0;
  return sum;
}

describe('path rules', () => {
  it(
    `are total, idempotent and equal to a second reading on ${COUNT} random strings (seed ${SEED})`,
    () => {
      const random = new Random(SEED);
      let normal = 0;
      for (let i = 0; i < COUNT; i++) {
        let path = random.chance(0.7) ? '/' : '';
        for (let n = random.below(12); n > 0; n--) path += random.pick(PIECES) + (random.chance(0.4) ? '/' : '');
        const found = outcome(() => normalizePath(path));
        const expected = outcome(() => secondReading(path));
        if (found !== expected) expect(found, JSON.stringify(path)).toBe(expected);
        if (!found.startsWith('/')) continue;
        normal += 1;
        if (normalizePath(found) !== found) expect(normalizePath(found)).toBe(found);
      }
      expect(normal).toBeGreaterThan(COUNT / 4);
    },
    LONGEST_MS,
  );

  it.each([
    ['\\src\\file.txt', '/src/file.txt'],
    ['src/file.txt', '/src/file.txt'],
    ['/src/', '/src'],
    ['/src/./file.txt', '/src/file.txt'],
    ['/src/../file.txt', '/file.txt'],
    ['/../../x', '/x'],
    ['/', '/'],
    ['//', '/'],
    ['...', '/...'],
  ])('%s is %s', (path, normal) => expect(normalizePath(path)).toBe(normal));

  it.each([
    ['a megabyte of separators', '/'.repeat(2 ** 20)],
    ['a megabyte of backslashes', '\\'.repeat(2 ** 20)],
    ['a megabyte of one name', `/${'a'.repeat(2 ** 20)}`],
    ['a megabyte of short names', '/a'.repeat(2 ** 19)],
    ['a megabyte of steps up', '/..'.repeat(2 ** 20 / 3)],
    ['a megabyte up and down', '/a/..'.repeat(2 ** 20 / 5)],
    ['a megabyte of dots', '/.'.repeat(2 ** 19)],
  ])('%s takes less than 50 ms', (_, path) => {
    // First measures the machine: reading the path once, unit by unit, takes it one or two milliseconds.
    const limit = Math.max(50, 30 * best(() => void looked(path), 0));
    expect(best(() => void outcome(() => normalizePath(path)), limit)).toBeLessThan(limit);
  });

  it(
    'a path that is normal is not copied, and many of them grow nothing',
    () => {
      const path = '/packages/core/src/engine/operations/read.ts';
      for (let i = 0; i < 100_000; i++) normalizePath(path);
      const grown = Array.from({ length: 3 }, () => {
        const before = process.memoryUsage().heapUsed;
        for (let i = 0; i < (COUNT * 10) / 3; i++) normalizePath(path);
        return process.memoryUsage().heapUsed - before;
      });
      // The engine may compile code during one of the runs; copies of the path would take megabytes in all of them.
      expect(Math.min(...grown)).toBeLessThan(2 ** 20);
    },
    LONGEST_MS,
  );
});
