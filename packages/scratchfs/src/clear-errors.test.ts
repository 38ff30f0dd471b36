import { asyncStorage, type Backend } from '@scratchfs/core';
import { diffSync, formatDiffSync } from '@scratchfs/core/diff';
import { mount, observe } from '@scratchfs/core/layers';
import { type ObjectStore, ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { globSync, grepSync } from '@scratchfs/core/search';
import { createSnapshotSync, restoreSnapshotSync } from '@scratchfs/core/snapshot';
import { asyncMemoryStorage } from '@scratchfs/memory';
import { describe, expect, it } from 'vitest';
import { createFileSystem } from './create-file-system.js';

describe('An error about a wrong argument says what is right', () => {
  it('for an unknown option of createFileSystem', () => {
    expect(() => createFileSystem({ storge: 1 } as never)).toThrow(
      "createFileSystem has no option 'storge'. It takes storage, files, closesStorage, limits, clock, random",
    );
  });

  it.each([undefined, null, {}, 5, { load: () => {}, commit: () => {} }])('for %j as a backend', (value) => {
    expect(() => asyncStorage(value as unknown as Backend)).toThrow(
      /^A backend must have the methods load, commit, outcome, close: .*outcome, close is missing$/,
    );
  });

  it('for a backend that declares no capabilities', () => {
    const methods = Object.fromEntries(['load', 'commit', 'outcome', 'close'].map((name) => [name, () => {}]));
    expect(() => asyncStorage(methods as unknown as Backend)).toThrow('A backend must declare its capabilities');
  });

  it.each([undefined, null, {}, 'store'])('for %j as an object store', (value) => {
    expect(() => new ObjectTreeBackend(value as unknown as ObjectStore)).toThrow(
      /^An object store must have the methods get, put, delete, list, readHead, swapHead: /,
    );
  });

  it('for a synchronous function on an asynchronous filesystem', async () => {
    const fs = await createFileSystem({ storage: asyncMemoryStorage({}) });
    const bytes = createSnapshotSync(createFileSystem());
    for (const asynchronous of [fs, observe(fs, () => {}), mount(fs, {})] as never[]) {
      const calls: Record<string, () => unknown> = {
        globSync: () => [...globSync(asynchronous, '**')],
        grepSync: () => [...grepSync(asynchronous, 'x')],
        createSnapshotSync: () => createSnapshotSync(asynchronous),
        restoreSnapshotSync: () => restoreSnapshotSync(asynchronous, bytes),
        diffSync: () => diffSync(asynchronous, 'one'),
        formatDiffSync: () => formatDiffSync(asynchronous, 'one'),
      };
      for (const [name, call] of Object.entries(calls)) {
        const text = `${name} needs a synchronous filesystem: on an asynchronous one, use ${name.slice(0, -4)}`;
        expect(call, name).toThrow(text);
      }
    }
  });
});
