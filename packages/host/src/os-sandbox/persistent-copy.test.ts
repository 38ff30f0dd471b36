import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
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
