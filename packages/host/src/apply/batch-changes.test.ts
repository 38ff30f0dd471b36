import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NodeRecord, Part } from '@scratchfs/core';
import { expect, it } from 'vitest';
import { HostBackend } from '../host-backend.js';

it('a journaled batch fails with a conflict if a file changes after its preconditions were checked', async () => {
  const root = mkdtempSync(join(tmpdir(), 'scratchfs-batch-'));
  const backend = new HostBackend(root, false, 'break', 'read-only');
  try {
    for (const name of ['a', 'b']) writeFileSync(join(root, name), name);
    const [a, b] = (await Promise.all(
      ['/a', '/b'].map(async (path) => {
        const [result] = await backend.load([{ kind: 'path', path, content: 0 }]);
        return result?.kind === 'path' ? result.nodes.at(-1) : undefined;
      }),
    )) as [NodeRecord, NodeRecord];
    const change = (path: string, { meta }: NodeRecord) => ({ kind: 'write' as const, path, size: 1, meta });
    const parts: Part[] = [{ offset: 0, bytes: Buffer.from('x') }];
    // Another process writes after the first file was read, which is when its parts are needed.
    const first = Object.defineProperty({ ...change('/a', a), parts }, 'parts', {
      get: () => {
        writeFileSync(join(root, 'b'), 'edited');
        return parts;
      },
    });
    const result = await backend.commit({
      operationId: '1',
      checks: [
        { kind: 'entry', path: '/a', id: a.id, version: a.version },
        { kind: 'entry', path: '/b', id: b.id, version: b.version },
      ],
      writes: [first, { ...change('/b', b), parts }],
      limits: {} as never,
      journaled: true,
    });
    expect(result).toEqual({ kind: 'conflict', checks: [1] });
    expect(['a', 'b'].map((name) => readFileSync(join(root, name), 'utf8'))).toEqual(['a', 'edited']);
  } finally {
    await backend.close();
    rmSync(root, { recursive: true, force: true });
  }
});
