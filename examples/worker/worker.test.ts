import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

describe('The Worker in workerd', () => {
  let worker: Miniflare;
  let bundle: string;
  const root = mkdtempSync(join(tmpdir(), 'scratchfs-worker-'));

  function start(): Miniflare {
    return new Miniflare({
      // A named module, as wrangler creates it. The package of a URL's storage is imported by a name that is only known
      // at run time.
      modules: [{ type: 'ESModule', path: 'worker.js', contents: bundle }],
      compatibilityDate: '2025-01-01',
      durableObjects: { AGENTS: { className: 'Agent', useSQLite: true } },
      durableObjectsPersist: root,
    });
  }

  beforeAll(async () => {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL('worker.ts', import.meta.url))],
      bundle: true,
      write: false,
      format: 'esm',
      target: 'es2022',
      conditions: ['@scratchfs/source', 'workerd', 'worker'],
    });
    bundle = outputFiles[0]?.text ?? '';
    worker = start();
    await worker.ready;
  });

  afterAll(async () => {
    await worker?.dispose();
    rmSync(root, { recursive: true, force: true });
  });

  async function call(method: string, path: string, body?: string): Promise<[status: number, text: string]> {
    const response = await worker.dispatchFetch(`http://edge.invalid${path}`, { method, body: body ?? null });
    return [response.status, await response.text()];
  }

  it("keeps an agent's files from one request to the next", async () => {
    expect((await call('PUT', '/ada/notes/today.md', 'Call Grace'))[0]).toBe(201);
    expect(await call('GET', '/ada/notes/today.md')).toEqual([200, 'Call Grace']);
    expect(await call('GET', '/ada/')).toEqual([200, '["notes"]']);
  });

  it('keeps the files when the runtime is started again', async () => {
    await worker.dispose();
    worker = start();
    expect(await call('GET', '/ada/notes/today.md')).toEqual([200, 'Call Grace']);
  });

  it('keeps agents apart', async () => {
    expect((await call('GET', '/grace/notes/today.md'))[0]).toBe(404);
    expect((await call('GET', '/grace/..%2F..%2Fada/notes/today.md'))[0]).toBe(404);
    expect((await call('GET', '/grace/%E0%A4%A'))[0]).toBe(400);
  });

  it('returns a filesystem error as a status, and keeps nothing of the failed request', async () => {
    const [status, text] = await call('PUT', '/ada/big.bin', 'x'.repeat(1_000_001));
    expect(status).toBe(507);
    expect(text).toMatch(/^ENOSPC: .*maxTotalSize/);
    expect((await call('PUT', '/ada/new/big.bin', 'x'.repeat(1_000_001)))[0]).toBe(507);
    expect(await call('GET', '/ada/')).toEqual([200, '["notes"]']);
    expect((await call('PUT', '/ada/notes', 'over a directory'))[0]).toBe(400);
    expect((await call('POST', '/ada/notes'))[0]).toBe(405);
  });

  it('loses nothing in concurrent requests of one agent', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const answers = await Promise.all(names.map((name) => call('PUT', `/karen/${name}`, name)));
    expect(answers.map(([status]) => status)).toEqual([201, 201, 201, 201]);
    expect(await call('GET', '/karen/')).toEqual([200, '["a","b","c","d"]']);
  });

  it('removes files', async () => {
    expect((await call('DELETE', '/ada/notes'))[0]).toBe(200);
    expect((await call('GET', '/ada/notes/today.md'))[0]).toBe(404);
  });

  it('contains no code that generates code, which Workers forbid', () => {
    expect(bundle).toContain('scratchfs_heads');
    expect(bundle).not.toMatch(/\bnew Function\b|\beval\(/);
  });
});
