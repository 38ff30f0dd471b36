import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { Sandbox } from '@scratchfs/sandbox';
import { runInOsSandbox } from '../os-sandbox/run-in-os-sandbox.js';

/** Tries to run a command on a machine without an OS sandbox, and prints the outcome. */
const [folder = ''] = process.argv.slice(2);
const outcomes: string[] = [];
for (const requireOsSandbox of [true, false]) {
  const fs = await openFileSystem(new MemoryStorage(), { files: { '/a': 'a' } });
  const sandbox = new Sandbox(fs, { root: { root: '/' }, requireOsSandbox });
  const canary = join(folder, 'canary');
  const outcome = await runInOsSandbox(sandbox, `touch ${canary}`).then(
    () => 'ran',
    (error: Error) => error.name,
  );
  outcomes.push(existsSync(canary) ? 'ran' : outcome);
}
writeFileSync(1, JSON.stringify(outcomes));
