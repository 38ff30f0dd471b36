import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../../async-storage.js';
import type { Backend, LoadRequest } from '../../backend.js';
import { openFileSystem } from '../../create-file-system.js';
import type { FileSystem } from '../../file-system.js';
import { changedBackend, sampleBackend } from '../../testing/sample-backend.js';
import { SharedStore } from '../../tree/tree.js';
import { rootMeta } from '../defaults.js';
import { OpenFiles } from '../open-files.js';
import { NodeLoader } from './node-loader.js';

/**
 * Returns a client with an empty cache, on a storage that returns `page` names per request, and records its requests.
 */
async function far(paths: readonly string[], page = 5_000): Promise<{ fs: FileSystem; requests: LoadRequest[][] }> {
  const backend = sampleBackend();
  await openFileSystem(asyncStorage(backend), { files: Object.fromEntries(paths.map((path) => [path, path])) });
  const requests: LoadRequest[][] = [];
  const load: Backend['load'] = (loadRequests, call) => {
    requests.push([...loadRequests]);
    const paged = loadRequests.map((request) => (request.kind === 'list' ? { ...request, limit: page } : request));
    return backend.load(paged, call);
  };
  return { fs: await openFileSystem(asyncStorage(changedBackend(backend, { load }))), requests };
}

const lists = (requests: readonly LoadRequest[][]): LoadRequest[] =>
  requests.flat().filter(({ kind }) => kind === 'list');

describe('loads from a remote storage', () => {
  it.each([1, 2, 3, 7])('return a complete listing, even if it comes in pages of %i names', async (page) => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const { fs, requests } = await far(
      names.map((name) => `/d/${name}`),
      page,
    );
    expect(await fs.readdir('/d')).toEqual(names);
    expect(lists(requests).length).toBe(Math.ceil(names.length / page));
    requests.length = 0;
    expect(await fs.readdir('/d')).toEqual(names);
    expect(lists(requests)).toEqual([]);
  });

  it.each([
    [8, 16],
    [9, 9],
  ])('return its %i directories, from one state if they are few: %i requests', async (count, asked) => {
    const sent: LoadRequest[][] = [];
    const loader = new NodeLoader(new SharedStore(), new OpenFiles(), async (requests) => {
      sent.push([...requests]);
      return requests.map(() => ({ kind: 'gone' }) as const);
    });
    const root = { id: 'r', kind: 'directory', meta: rootMeta(0), version: 1, size: 0, links: 1 } as const;
    loader.cache.add({ kind: 'path', path: '/', content: 0 }, { kind: 'path', nodes: [root] }, 1);
    const loads = Array.from({ length: count }, (_, i) => ({
      kind: 'content' as const,
      at: { path: `/d${i}/f`, id: i },
      offset: 0,
      length: 1,
    }));
    await loader.loadWhole([...loads, { kind: 'path', path: '/x', content: 0 }]);
    expect(sent.map((one) => one.length)).toEqual([asked + 1]);
  });

  it.each([
    ['is empty', []],
    ['ends where the one before did', ['b']],
  ])('fail with `corrupt` if a later page of a listing %s', async (_, second) => {
    const backend = sampleBackend();
    await openFileSystem(asyncStorage(backend), { files: { '/d/a': '', '/d/b': '', '/d/c': '' } });
    let pages = 0;
    const load: Backend['load'] = async (requests, call) => {
      const results = await backend.load(requests, call);
      return results.map((result) => {
        if (result.kind !== 'list') return result;
        const names = ++pages === 1 ? ['a', 'b'] : second;
        return { ...result, names, nodes: result.nodes.slice(0, names.length), complete: false };
      });
    };
    const fs = await openFileSystem(asyncStorage(changedBackend(backend, { load })));
    await expect(fs.readdir('/d')).rejects.toMatchObject({ name: 'StorageError', kind: 'corrupt' });
    expect(pages).toBe(2);
  });
});
