import { existsSync } from 'node:fs';
import { createFileSystem } from 'scratchfs';
import { expect, it, vi } from 'vitest';
import { countWords } from './word-count.js';

const fileSystem = await vi.hoisted(async () => {
  const { createFileSystem } = await import('scratchfs');
  return createFileSystem();
});
vi.mock('node:fs', async () => {
  const { createNodeFs } = await import('@scratchfs/node-fs');
  const fs = createNodeFs(fileSystem);
  return { ...fs, default: fs };
});
vi.mock('node:fs/promises', async () => {
  const { default: fs } = await import('node:fs');
  return { ...fs.promises, default: fs.promises };
});

it('vi.mock gives code that imports node:fs our filesystem, with a checkpoint per test', async () => {
  const clean = fileSystem.checkpointSync();
  fileSystem.mkdirSync('/notes');
  fileSystem.writeFileSync('/notes/a.txt', 'one two');
  fileSystem.writeFileSync('/notes/b.txt', 'three\n');
  expect(await countWords('/notes', '/out/deep/report.txt')).toBe(3);
  expect(fileSystem.readTextSync('/out/deep/report.txt')).toBe('3 words\n');
  expect(existsSync('/out/deep/report.txt')).toBe(true);
  fileSystem.rollbackSync(clean);
  expect(existsSync('/out')).toBe(false);
  expect(fileSystem.toJSON()).toEqual(createFileSystem().toJSON());
});
