import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WrittenBytes } from './written-bytes.js';

const MIB = 2 ** 20;
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'written-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it('counts what is written after the beginning, once the free space has decreased', async () => {
  writeFileSync(join(directory, 'before'), new Uint8Array(8 * MIB));
  await new Promise((resolve) => setTimeout(resolve, 20));
  let free = 1_000 * MIB;
  const written = new WrittenBytes([directory], 2 * MIB, () => free);
  writeFileSync(join(directory, 'small'), new Uint8Array(MIB));
  free -= 100 * MIB;
  // Another program has taken the rest.
  expect(await written.isExceeded()).toBe(false);
  writeFileSync(join(directory, 'large'), new Uint8Array(2 * MIB));
  expect(await written.isExceeded()).toBe(false);
  free -= 2 * MIB;
  expect(await written.isExceeded()).toBe(true);
});

it('is exceeded if the disk is almost full', async () => {
  let free = 1_000 * MIB;
  const written = new WrittenBytes([directory], 2_000 * MIB, () => free);
  free = MIB;
  expect(await written.isExceeded()).toBe(true);
});
