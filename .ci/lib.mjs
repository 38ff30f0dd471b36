import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const cache = join(root, '.cache');
export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    for (const child of running) kill(child);
    process.exit(signal === 'SIGINT' ? 130 : 143);
  });
}

// Except on Windows, a child leads its own process group, so that its descendants end with it.
function kill(child) {
  try {
    if (process.platform === 'win32') child.kill();
    else process.kill(-child.pid, 'SIGKILL');
  } catch {}
}

// CPU seconds of the ended programs when the last of them ended.
let usedBefore = cpuSeconds();

/**
 * Runs a command in the repository and resolves to its exit code and the CPU seconds that it and its descendants used.
 * If the command cannot be started, the exit code is 127. `quiet: true` returns its output instead of showing it;
 * `stdout: 2` shows all of it on standard error; `timeoutMs` ends it with code 124.
 */
export function run(command, args, { env = {}, cwd = root, quiet = false, stdout = 'inherit', timeoutMs = 0 } = {}) {
  return new Promise((resolve) => {
    let child;
    try {
      child = spawn(command, args, {
        cwd,
        env: { ...process.env, ...env },
        stdio: quiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', stdout, 'inherit'],
        detached: process.platform !== 'win32',
        shell: process.platform === 'win32',
      });
    } catch (error) {
      if (!quiet) console.error(String(error));
      resolve({ code: 127, output: String(error), cpu: undefined });
      return;
    }
    running.add(child);
    let output = '';
    let late = false;
    let cpu;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    const timer =
      timeoutMs > 0 &&
      setTimeout(() => {
        late = true;
        kill(child);
      }, timeoutMs);
    const settle = (code) => {
      clearTimeout(timer);
      running.delete(child);
      resolve({ code: late ? 124 : code, output, cpu });
    };
    child.on('error', (error) => {
      output += String(error);
      if (!quiet) console.error(String(error));
      settle(127);
    });
    child.on('exit', () => {
      const used = cpuSeconds();
      cpu = used === undefined ? undefined : used - usedBefore;
      usedBefore = used;
    });
    child.on('close', (code, signal) => {
      // Without this line a killed program looks like one that failed silently.
      if (signal !== null && !late) output += `${command} was ended by ${signal}\n`;
      if (signal !== null && !late && !quiet) console.error(`${command} was ended by ${signal}`);
      settle(code ?? 1);
    });
  });
}

/** Runs the pnpm version that package.json pins, without requiring an installation. */
export function pnpm(args, options) {
  return run('npx', ['--yes', manifest.packageManager, ...args], options);
}

/** Returns the path of a tool in the workspace's own node_modules. */
export function bin(name, where = root) {
  return join(where, 'node_modules', '.bin', process.platform === 'win32' ? `${name}.cmd` : name);
}

export function seconds(startedMs) {
  return `${((performance.now() - startedMs) / 1000).toFixed(1)} s`;
}

/** Returns CPU seconds of the ended programs, or undefined if the system does not report them. */
export function cpuSeconds() {
  try {
    const fields = readFileSync('/proc/self/stat', 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
    // Fields 16 and 17 of proc(5), in ticks of 10 ms.
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return undefined;
  }
}

export function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 20)) return;
  console.error(`scratchfs needs Node 20.20 or newer; this is ${process.version}.`);
  process.exit(1);
}

/**
 * Installs a Debian package with apt-get if this process may. Returns why it could not, or undefined. Servers in it are
 * not started: the tests start their own.
 */
export async function installWithApt(name) {
  const mayInstall = process.platform === 'linux' && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if (!mayInstall) return `there is no ${name} on this machine`;
  console.log(`  installing ${name} with apt-get…`);
  const apt = (...args) =>
    run('apt-get', args, { env: { DEBIAN_FRONTEND: 'noninteractive' }, quiet: true, timeoutMs: 15 * 60_000 });
  const policy = '/usr/sbin/policy-rc.d';
  const isOurs = !existsSync(policy);
  if (isOurs) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    await apt('update', '-qq');
    const { code, output } = await apt('install', '-qq', '-y', '--no-install-recommends', name);
    return code === 0 ? undefined : `apt-get could not install ${name}: ${output.trim().split('\n').at(-1)}`;
  } finally {
    if (isOurs) rmSync(policy);
  }
}
