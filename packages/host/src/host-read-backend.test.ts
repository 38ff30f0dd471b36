import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { HostReadBackend } from './host-read-backend.js';

it('close waits for checks that are at work', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'scratchfs-host-'));
  try {
    const backend = new HostReadBackend(directory, false, false);
    const checks = Array.from({ length: 20_000 }, () => ({ kind: 'entry', path: '/a/b', id: null }) as const);
    const commit = backend.commit({ operationId: 'id', checks, writes: [], limits: {} });
    let isClosed = false;
    const closing = backend.close().then(() => {
      isClosed = true;
    });
    await commit.then(({ kind }) => expect(kind).toBe('ok'));
    expect(isClosed).toBe(false);
    await closing;
  } finally {
    rmSync(directory, { recursive: true });
  }
});

it('a tree request lists all directories depth first if the budget is large enough', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'scratchfs-host-'));
  const backend = new HostReadBackend(directory, false, false);
  try {
    const expected = [''];
    for (let i = 100; i < 200; i++) {
      mkdirSync(join(directory, `d${i}`, 'inside'), { recursive: true });
      expected.push(`d${i}`, `d${i}/inside`);
    }
    const [root] = await backend.load([{ kind: 'path', path: '/', content: 0 }]);
    const id = (root?.kind === 'path' && root.nodes[0]?.id) || '';
    const [tree] = await backend.load([{ kind: 'tree', at: { path: '/', id }, budget: 1_000_000, contents: false }]);
    expect(tree?.kind === 'tree' && tree.listings.map(({ path }) => path)).toEqual(expected);
  } finally {
    await backend.close();
    rmSync(directory, { recursive: true });
  }
});
