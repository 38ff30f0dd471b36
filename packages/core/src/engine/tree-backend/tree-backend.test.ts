import { describe, expect, it } from 'vitest';
import type { Batch, Check, LoadRequest, LoadResult, Write } from '../../backend.js';
import { sampleBackend as backend } from '../../testing/sample-backend.js';
import { rootMeta } from '../defaults.js';
import type { TreeBackend } from './tree-backend.js';

const meta = rootMeta(0);
const batch = (operationId: string, writes: readonly Write[], checks: readonly Check[] = []): Batch => ({
  operationId,
  checks,
  writes,
  limits: {},
});
const makeFile: Write = { kind: 'create', path: '/f', id: 'f', type: 'file', meta };
const makeDirectory: Write = { kind: 'create', path: '/d', id: 'd', type: 'directory', meta };
const load = async (from: TreeBackend, request: LoadRequest): Promise<LoadResult | undefined> =>
  (await from.load([request]))[0];

describe('a backend over a tree in memory', () => {
  it('makes a file without content an empty one', async () => {
    const tree = backend();
    expect(await tree.commit(batch('1', [makeFile]))).toMatchObject({ kind: 'ok' });
    const result = await load(tree, { kind: 'path', path: '/f', content: 10 });
    expect(result).toMatchObject({ kind: 'path', content: new Uint8Array(0) });
  });

  it('makes an empty file under any size limit, and refuses one that is too large', async () => {
    const tree = backend();
    const limits = { maxFileSize: 2 };
    expect(await tree.commit({ ...batch('1', [makeFile]), limits })).toMatchObject({ kind: 'ok' });
    const write: Write = { kind: 'write', path: '/f', size: 3, parts: [{ offset: 0, bytes: new Uint8Array(3) }], meta };
    expect(await tree.commit({ ...batch('2', [write]), limits })).toEqual({
      kind: 'limit',
      limit: 'maxFileSize',
      allowed: 2,
      used: 0,
      requested: 3,
    });
  });

  it('applies nothing of a batch with a write that fails', async () => {
    const tree = backend();
    const missing: Write = { kind: 'remove', path: '/missing', time: 1 };
    await expect(tree.commit(batch('1', [makeFile, missing]))).rejects.toThrow(TypeError);
    const result = await load(tree, { kind: 'path', path: '/f', content: 10 });
    expect(result).toMatchObject({ kind: 'path', nodes: [{}, null] });
  });

  it('reports a node as gone if its path leads to another one or to another kind', async () => {
    const tree = backend();
    await tree.commit(batch('1', [makeFile, makeDirectory]));
    const [f, d] = [
      { path: '/f', id: 'f' },
      { path: '/d', id: 'd' },
    ];
    expect(await load(tree, { kind: 'content', at: d, offset: 0, length: 1 })).toEqual({ kind: 'gone' });
    expect(await load(tree, { kind: 'list', at: f, after: undefined, limit: 1 })).toEqual({ kind: 'gone' });
    expect(await load(tree, { kind: 'tree', at: f, budget: 1, contents: false })).toEqual({ kind: 'gone' });
    expect(await load(tree, { kind: 'tree', at: { path: '/d', id: 'f' }, budget: 1, contents: false })).toEqual({
      kind: 'gone',
    });
  });

  it("fails every check of a file's entries", async () => {
    const tree = backend();
    await tree.commit(batch('1', [makeFile]));
    const checks: Check[] = [
      { kind: 'empty', path: '/f', id: 'f' },
      { kind: 'entry', path: '/f', id: 'f' },
      { kind: 'tree', path: '/f', id: 'f', version: 1 },
    ];
    expect(await tree.commit(batch('2', [], checks))).toEqual({ kind: 'conflict', checks: [0, 2] });
  });

  it('remembers the results of the last ten thousand batches, and that a batch was given up', async () => {
    const tree = backend();
    const first = await tree.commit(batch('first', [makeFile]));
    expect(await tree.outcome('never')).toBe('absent');
    await expect(tree.commit(batch('never', [makeDirectory]))).rejects.toMatchObject({ kind: 'unavailable' });
    for (let i = 0; i < 9_998; i++) await tree.commit(batch(`${i}`, []));
    expect(await tree.outcome('first')).toEqual(first);
    expect(await tree.commit(batch('first', [makeFile]))).toEqual(first);
    await tree.commit(batch('one more', []));
    expect(await tree.outcome('first')).toBe('absent');
  });

  it('rejects every call after an abort or after it is closed', async () => {
    const tree = backend();
    const aborted = { signal: AbortSignal.abort('enough') };
    await expect(tree.load([], aborted)).rejects.toBe('enough');
    await expect(tree.commit(batch('1', [makeFile]), aborted)).rejects.toBe('enough');
    expect(await tree.outcome('1')).toBe('absent');
    await tree.close();
    await expect(tree.load([])).rejects.toMatchObject({ kind: 'closed' });
    await expect(tree.commit(batch('2', []))).rejects.toMatchObject({ kind: 'closed' });
    await expect(tree.outcome('2')).rejects.toMatchObject({ kind: 'closed' });
    await expect(tree.fork()).rejects.toMatchObject({ kind: 'closed' });
  });
});
