import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openWorkspace } from '@scratchfs/workspace';
import { median } from './median.js';

// The start of the built programs: processor time of whole processes, medians of interleaved runs. An empty module stands
// beside them, because that much of each figure is Node itself.
// Usage: npm run bench -- startup [directory, default that of the benchmark workspace] [rounds, default 7]

const directory = process.argv[2] ?? join(tmpdir(), 'scratchfs-bench-workspace');
const rounds = Number(process.argv[3] ?? 7);
if (!existsSync(directory)) throw new Error(`There is no directory ${directory}: npm run bench -- workspace makes one`);

const root = fileURLToPath(new URL('../..', import.meta.url));
const state = mkdtempSync(join(tmpdir(), 'scratchfs-bench-startup-'));
process.env['XDG_STATE_HOME'] = state;

/** Makes a process write the microseconds of its processor time to descriptor 3 when it ends. */
const REPORT = `data:text/javascript,${encodeURIComponent(
  "import { writeSync } from 'node:fs'; process.on('exit', () => { const { user, system } = process.cpuUsage(); writeSync(3, String(user + system)); });",
)}`;

/** First request of an MCP client; the server ends when its input does. */
const INITIALIZE = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
})}\n`;

const cli = join(root, 'packages', 'cli', 'dist', 'bin.js');
const mcp = join(root, 'packages', 'mcp', 'dist', 'bin.js');
const SUBJECTS: readonly { readonly name: string; readonly args: readonly string[]; readonly input?: string }[] = [
  { name: 'an empty module', args: ['data:text/javascript,'] },
  { name: 'scratchfs --help', args: [cli, '--help'] },
  { name: 'scratchfs log', args: [cli, 'log'] },
  { name: 'scratchfs status', args: [cli, 'status'] },
  { name: 'scratchfs-mcp, first answer', args: [mcp, directory], input: INITIALIZE },
];

interface Cost {
  readonly cpuMs: number;
  readonly wallMs: number;
}

async function costOf({ name, args, input }: (typeof SUBJECTS)[number]): Promise<Cost> {
  const start = performance.now();
  const isEmpty = args[0]?.startsWith('data:') === true;
  const given = isEmpty ? ['--import', REPORT, '--eval', ''] : ['--import', REPORT, ...args];
  const child = spawn(process.execPath, given, { cwd: directory, stdio: ['pipe', 'pipe', 'inherit', 'pipe'] });
  let report = '';
  child.stdio[3]?.on('data', (chunk: Buffer) => {
    report += chunk.toString();
  });
  child.stdout?.once('data', () => child.stdin?.end());
  child.stdout?.resume();
  if (input === undefined) child.stdin?.end();
  else child.stdin?.write(input);
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${name} ended with ${code}`);
  return { cpuMs: Number(report) / 1000, wallMs: performance.now() - start };
}

try {
  const workspace = await openWorkspace(directory);
  const attempt = await workspace.attempt();
  for (let i = 0; i < 30; i++) await attempt.fileSystem.writeFile(`/bench-startup-${i}`, 'x');
  await workspace.close();
  const costs = SUBJECTS.map(() => [] as Cost[]);
  for (let round = 0; round < rounds; round++)
    for (const [i, subject] of SUBJECTS.entries()) costs[i]?.push(await costOf(subject));
  for (const [i, { name }] of SUBJECTS.entries()) {
    const [cpu, wall] = (['cpuMs', 'wallMs'] as const).map((key) =>
      median((costs[i] as Cost[]).map((cost) => cost[key])),
    );
    console.log(
      `${name.padEnd(30)} processor ${cpu?.toFixed(0).padStart(5)} ms, wall ${wall?.toFixed(0).padStart(5)} ms`,
    );
  }
} finally {
  rmSync(state, { recursive: true, force: true });
}
