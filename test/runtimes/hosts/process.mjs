import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const here = dirname(dirname(fileURLToPath(import.meta.url)));
export const cache = join(here, '.cache');
const require = createRequire(import.meta.url);

/** Thrown if a runtime is not on this machine: its tests are skipped, with the message as the reason. */
export class NotHere extends Error {}

/** Runs a program. Resolves to its output; rejects on failure or timeout. */
export function run(program, args, { timeoutMs = 20 * 60_000, env = {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(stdout);
      else reject(new Error(`${program} ended with ${code ?? signal}:\n${stdout.slice(-4000)}${stderr.slice(-4000)}`));
    });
  });
}

/** Returns the report that a bundle of src/main-console.ts prints as its last line. */
export function readReport(output) {
  const line = output.split('\n').findLast((text) => text.startsWith('##REPORT '));
  if (!line) throw new Error(`No report in the output:\n${output.slice(-4000)}`);
  return JSON.parse(line.slice('##REPORT '.length));
}

/**
 * Returns the path of a file in the first installed npm package of `names`. A platform's package may be a dependency of
 * `parent`, which pnpm does not expose to us.
 */
export function fileOf(names, file, parent) {
  let paths = [here];
  if (parent) paths = [dirname(require.resolve(`${parent}/package.json`, { paths }))];
  for (const name of names) {
    try {
      const path = join(dirname(require.resolve(`${name}/package.json`, { paths })), file);
      if (existsSync(path)) return path;
    } catch {}
  }
  throw new NotHere(`no package for ${process.platform}-${process.arch} among ${names.join(', ')}`);
}
