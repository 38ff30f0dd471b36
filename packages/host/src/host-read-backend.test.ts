import { mkdtempSync, rmSync } from 'node:fs';
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
