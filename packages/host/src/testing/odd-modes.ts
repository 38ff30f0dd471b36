import { readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { Sandbox } from '@scratchfs/sandbox';
import { runInOsSandbox } from '../os-sandbox/run-in-os-sandbox.js';

/** Runs commands that leave modes which obstruct reading and removing, and prints the outcome of each. */
const copies = (): number => readdirSync(tmpdir()).filter((name) => name.startsWith('scratchfs-os-')).length;
const outcomes: Record<string, unknown> = {};
for (const script of process.argv.slice(2)) {
  const fs = await openFileSystem(new MemoryStorage(), { files: { '/x': 'x', '/d/y': 'y' } });
  const sandbox = new Sandbox(fs, { root: { root: '/' } });
  const before = copies();
  outcomes[script] = await runInOsSandbox(sandbox, script).then(
    ({ exitCode, changes: { added, removed, changed }, refused }) => ({ exitCode, added, removed, changed, refused }),
    String,
  );
  if (copies() !== before) outcomes[script] = 'its copy is left';
}
writeFileSync(1, JSON.stringify(outcomes));
