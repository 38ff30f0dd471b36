import { describe, expect, it } from 'vitest';
import type { FileSystem, SyncFileSystem } from '../file-system.js';
import { mount } from './mount.js';
import { observe } from './observe.js';
import { readonly } from './readonly.js';
import { CALLBACK, Reflection } from './reflection.js';
import { promises, sample } from './sample-file-system.js';

const FILES = { '/d/f': 'text', '/g': 'more' };

const forms: Readonly<Record<string, (base: SyncFileSystem) => FileSystem>> = {
  'a filesystem of the engine': (base) => readonly(base),
  'another layer': (base) => readonly(observe(base, () => {})),
  'a mount': (base) => readonly(mount(base, { '/m': sample({ '/x': 'y' }) })),
  'a filesystem of promises': (base) => readonly(promises(base)),
};

/** What might be a path and content, a place to read into, a callback, or a question about everything. */
const ARGUMENTS = [
  [],
  ['/g', 'x'],
  ['/g', '/h'],
  ['/d', { recursive: true }],
  ['/g', 'r'],
  [CALLBACK],
  [CALLBACK, []],
  [CALLBACK, {}],
  [undefined, CALLBACK],
  [undefined, undefined, CALLBACK],
  [new Uint8Array(4), 0],
  ['x'],
  ['before'],
];

for (const [form, layer] of Object.entries(forms)) {
  describe(`what can be reached from a read-only view of ${form}`, () => {
    it('lets nobody write', async () => {
      const base = sample(FILES);
      base.checkpointSync('before');
      const held = { files: base.toJSON(), root: base.statSync('/'), file: base.statSync('/g'), limits: base.limits };
      const before = structuredClone(JSON.parse(JSON.stringify(held)));
      const fs = layer(base);
      const reflection = new Reflection();
      for (const reached of [
        fs,
        await fs.open('/g'),
        fs.createReadStream('/g'),
        fs.watch('/'),
        fs.walk('/'),
        fs.fork(),
      ])
        reflection.add(await reached);
      await fs.transaction(async (inside) => reflection.add(inside)).catch(() => {});
      await reflection.explore(ARGUMENTS);
      expect(reflection.found.size).toBeGreaterThan(100);
      reflection.vandalize();
      const after = { files: base.toJSON(), root: base.statSync('/'), file: base.statSync('/g'), limits: base.limits };
      expect(JSON.parse(JSON.stringify(after))).toEqual(before);
      expect(base.checkpointsSync().map(({ name }) => name)).toEqual(['before']);
    });
  });
}
