import { type BigIntStats, lstatSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncStorage, type CallOptions, type FileSystem, fileSystemOn, type NodeId } from '@scratchfs/core';
import { IN_STEPS } from '@scratchfs/core/internal';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HostBackend } from './host-backend.js';
import { NodeIds } from './node-ids.js';

class OpenBackend extends HostBackend {
  idAt(path: string): NodeId {
    return this.ids.of(lstatSync(this.root.child(path), { bigint: true }));
  }
  get known(): NodeIds {
    return this.ids;
  }
}

function opened(): { readonly root: string; readonly backend: OpenBackend; readonly fs: FileSystem } {
  const root = mkdtempSync(join(tmpdir(), 'scratchfs-ids-'));
  const backend = new OpenBackend(root, false, 'break', 'read-only');
  onTestFinished(async () => {
    await backend.close();
    rmSync(root, { recursive: true, force: true });
  });
  return { root, backend, fs: fileSystemOn(asyncStorage(backend)) };
}

const stat = (path: string) => lstatSync(path, { bigint: true });

describe('the inode of a replaced file, which the system may reuse, does not keep its id', () => {
  const steps: CallOptions & { readonly [IN_STEPS]: true } = { [IN_STEPS]: true };
  const CHANGES: readonly (readonly [string, (fs: FileSystem) => Promise<unknown>])[] = [
    ['writeFile()', (fs) => fs.writeFile('/f', 'new')],
    [
      'a transaction in steps',
      (fs) =>
        fs.transaction(async (branch) => {
          await branch.writeFile('/f', 'new');
          await branch.writeFile('/g', 'new');
        }, steps),
    ],
  ];
  it.each(CHANGES)('%s', async (_, change) => {
    const { root, backend, fs } = opened();
    writeFileSync(join(root, 'f'), 'old');
    writeFileSync(join(root, 'g'), 'old');
    const before = stat(join(root, 'f'));
    const id = backend.idAt('f');
    await change(fs);
    expect(backend.idAt('f')).toBe(id);
    expect(backend.known.of(before)).not.toBe(id);
  });

  it('after a file that had reused the inode was removed', () => {
    const ids = new NodeIds();
    const old = { dev: 1n, ino: 1n } as BigIntStats;
    const id = ids.of(old);
    ids.renew(old);
    ids.give({ ...old, ino: 2n } as BigIntStats, id);
    ids.give(old, 'another file');
    ids.forget(old);
    expect(ids.of(old)).not.toBe(id);
  });
});

it('a file that gets back the inode from which its id is made has that id', () => {
  const ids = new NodeIds();
  const file = { dev: 1n, ino: 1n } as BigIntStats;
  const id = ids.of(file);
  ids.renew(file);
  ids.give(file, id);
  expect(ids.of(file)).toBe(id);
});
