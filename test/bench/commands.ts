import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openWorkspace } from '@scratchfs/workspace';

// Time and CPU time of commands on an attempt. Usage: commands.ts [files]
const files = Number(process.argv[2] ?? 50_000);
const directory = mkdtempSync(join(tmpdir(), 'scratchfs-bench-'));

for (let i = 0; i < files; i++) {
  const folder = join(directory, `p${i % 50}`, `m${Math.trunc(i / 50) % 24}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `f${i}.ts`), `export const value${i} = ${i};\n`.repeat(40 + (i % 300)));
}
// Until then the files count as freshly changed and are read again.
await setTimeout(2_500);

async function measure(name: string, work: () => Promise<unknown>): Promise<void> {
  const begin = performance.now();
  const cpu = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(cpu);
  const ms = Math.round(performance.now() - begin);
  console.log(
    `${name.padEnd(40)}${String(ms).padStart(8)} ms${String(Math.round((user + system) / 1_000)).padStart(8)} ms CPU`,
  );
}

try {
  await using workspace = await openWorkspace(directory, { store: 'memory:' });
  const attempt = await workspace.attempt();
  await measure(`first command on ${files} files`, () => attempt.run('true'));
  await measure('second command', () => attempt.run('true'));
  await measure('command that changes a file', () => attempt.run('echo x >>p0/m0/f0.ts'));
  await measure('command that removes half of the tree', () => attempt.run('rm -rf p?'));
  await measure('undo of that', () => attempt.undo());
  await measure('command after the undo', () => attempt.run('true'));
} finally {
  rmSync(directory, { recursive: true, force: true });
}
