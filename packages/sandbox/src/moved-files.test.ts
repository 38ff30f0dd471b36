import { type FileHandle, type FileSystem, type InitialFiles, isFsError } from '@scratchfs/core';
import { overlay } from '@scratchfs/core/layers';
import { describe, expect, it } from 'vitest';
import { Sandbox } from './sandbox.js';
import { asyncMemory, memory } from './testing/memory.js';

const FILES: InitialFiles = { '/work/a.txt': 'abcdef', '/private/customer-4711/key': 'key' };
const HIDDEN = 'customer-4711';

const BACKENDS: Readonly<Record<string, () => FileSystem | Promise<FileSystem>>> = {
  memory: () => memory(FILES),
  'asynchronous memory': () => asyncMemory(FILES),
  'an overlay': () => overlay(memory(FILES)),
};

type Use = (handle: FileHandle) => Promise<unknown>;

const USES: readonly Use[] = [
  (handle) => handle.read(new Uint8Array(2), 0),
  (handle) => handle.readFile(),
  (handle) => handle.write('x', 0),
  (handle) => handle.truncate(1),
  (handle) => handle.stat(),
  (handle) => handle.chmod(0o600),
  (handle) => handle.chown(1, 1),
  (handle) => handle.utimes(1, 1),
];

async function expectRefused(uses: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const [i, use] of uses.entries()) {
    const error: unknown = await use().catch((caught: unknown) => caught);
    if (!isFsError(error)) throw new Error(`The open file could be used after it was moved out: ${i}`);
    expect(error.path).toBe('/work/a.txt');
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain(HIDDEN);
  }
}

describe.each(Object.entries(BACKENDS))('over %s', (_name, create) => {
  it('an open file that was moved out of the sandbox is named as it was opened', async () => {
    const lower = await create();
    const { fileSystem } = new Sandbox(lower, { paths: { work: { root: '/work', mode: 'rw' } } });
    const handle = await fileSystem.open('/work/a.txt', 'r+');
    const reader = fileSystem.createReadStream('/work/a.txt', { highWaterMark: 1 }).getReader();
    await reader.read();
    await lower.rename('/work/a.txt', `/private/${HIDDEN}/a.txt`);
    await expectRefused([...USES.map((use) => () => use(handle)), () => reader.read()]);
  });

  it('an open file that a transaction moved out of the sandbox is named as it was opened', async () => {
    const lower = await create();
    await lower.transaction(async (inner) => {
      const { fileSystem } = new Sandbox(inner, { paths: { work: { root: '/work', mode: 'rw' } } });
      const handle = await fileSystem.open('/work/a.txt', 'r+');
      await inner.rename('/work/a.txt', `/private/${HIDDEN}/a.txt`);
      await expectRefused(USES.map((use) => () => use(handle)));
    });
  });
});
