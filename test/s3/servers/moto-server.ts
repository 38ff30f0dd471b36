import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { MOTO_FOLDER } from './find-server.js';
import { freePort } from './free-port.js';
import type { TestServer } from './test-bucket.js';
import { waitUntilReady } from './wait-until-ready.js';

/** Starts moto, which keeps buckets in memory. It is ready within a second and accepts any credentials. */
export async function startMoto(): Promise<TestServer> {
  const port = await freePort();
  const python = ['chroot', MOTO_FOLDER, 'python3'] as const;
  const { stdout } = await promisify(execFile)(python[0], [
    ...python.slice(1),
    '-c',
    'import moto; print(moto.__version__)',
  ]);
  const child = spawn(python[0], [...python.slice(1), '-m', 'moto.server', '-H', '127.0.0.1', '-p', `${port}`], {
    stdio: 'ignore',
  });
  const ended = new AbortController();
  child.once('exit', (code) => ended.abort(new Error(`moto ended with ${code}`)));
  const endpoint = `http://127.0.0.1:${port}`;
  await waitUntilReady(endpoint, ended.signal);
  return {
    name: `moto ${stdout.trim()}`,
    endpoint,
    stop: async () => {
      if (ended.signal.aborted) return;
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}
