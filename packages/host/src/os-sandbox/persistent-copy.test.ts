import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { hostFileSystem } from '../host-file-system.js';
import { changesOf } from './copy-changes.js';
import { type CopySource, PersistentCopy } from './persistent-copy.js';

it('a directory has the mode of the source, whatever the umask, and also after that changes', async () => {
  const top = mkdtempSync(join(tmpdir(), 'scratchfs-copy-'));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const [directory, wide] = [join(top, 'source'), join(top, 'source/wide')];
  mkdirSync(wide, { recursive: true });
  chmodSync(wide, 0o777);
  await using fileSystem = hostFileSystem(directory);
  const source: CopySource = { directory, visibilityOf: () => 'visible', fileSystem, differing: [] };
  using copy = await PersistentCopy.open(join(top, 'copies'));
  for (const mode of [0o777, 0o750, 0o777]) {
    chmodSync(wide, mode);
    await copy.update(source, { install: false, maxBytes: 1_000, signal: undefined });
    expect((await changesOf(copy, source)).changes).toEqual([]);
  }
});

const NOBODY = 65_534;

it.skipIf(process.getuid?.() !== 0)(
  'what another user keeps private is left out (only root can be another user)',
  async () => {
    const top = mkdtempSync(join(tmpdir(), 'scratchfs-private-'));
    onTestFinished(() => rmSync(top, { recursive: true, force: true }));
    chmodSync(top, 0o777);
    const directory = join(top, 'source');
    mkdirSync(join(directory, 'data/inside'), { recursive: true });
    for (const name of ['build', 'listed']) mkdirSync(join(directory, name));
    writeFileSync(join(directory, 'listed/inside'), 'secret');
    chmodSync(join(directory, 'listed'), 0o744);
    writeFileSync(join(directory, 'file'), 'secret', { mode: 0o600 });
    writeFileSync(join(directory, 'open'), 'open');
    for (const name of ['data', 'build']) chmodSync(join(directory, name), 0o700);
    process.setegid?.(NOBODY);
    process.seteuid?.(NOBODY);
    try {
      await using fileSystem = hostFileSystem(directory, { readonly: true });
      const visibilityOf: CopySource['visibilityOf'] = (path) => (path === 'build' ? 'ignored' : 'visible');
      const source: CopySource = { directory, visibilityOf, fileSystem, differing: [] };
      using copy = await PersistentCopy.open(join(top, 'copies'));
      await copy.update(source, { install: false, maxBytes: 1_000, signal: undefined });
      expect(readdirSync(copy.files, { recursive: true }).sort()).toEqual(['build', 'data', 'listed', 'open']);
      expect((await changesOf(copy, source)).changes).toEqual([]);
      for (const name of ['data', 'listed']) {
        const given = new Map([...copy.index.entries].filter(([path]) => path === name));
        expect(await copy.isSourceAsGiven(source, name, given)).toBe(false);
      }
      process.seteuid?.(0);
      chmodSync(join(directory, 'open'), 0o600);
      process.seteuid?.(NOBODY);
      await copy.update(source, { install: false, maxBytes: 1_000, signal: undefined });
      expect(readdirSync(copy.files).sort()).toEqual(['build', 'data', 'listed']);
      expect((await changesOf(copy, source)).changes).toEqual([]);
      const changed = { ...source, differing: ['data', 'file', 'open'] };
      await copy.update(changed, { install: false, maxBytes: 1_000, signal: undefined });
      expect((await changesOf(copy, changed)).changes).toEqual([]);
    } finally {
      process.seteuid?.(0);
      process.setegid?.(0);
    }
  },
);
