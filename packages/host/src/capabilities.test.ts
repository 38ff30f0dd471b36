import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileSystemSuite } from '@scratchfs/testkit';
import { afterAll, describe, it } from 'vitest';
import { hostFileSystem } from './host-file-system.js';

const top = mkdtempSync(join(tmpdir(), 'scratchfs-capabilities-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));

fileSystemSuite({
  name: 'hostFileSystem()',
  test: { describe, it },
  create: () => hostFileSystem(mkdtempSync(join(top, 'root-'))),
  sections: ['capabilities'],
});
