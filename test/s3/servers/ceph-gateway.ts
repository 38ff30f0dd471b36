import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CEPH_FOLDER } from './find-server.js';
import { freePort } from './free-port.js';
import type { TestServer } from './test-bucket.js';
import { STARTED_WITHIN_MS, waitUntilReady } from './wait-until-ready.js';

const run = promisify(execFile);

export const ACCESS_KEY = 'test';
export const SECRET_KEY = 'testtest';

const ATTEMPTS = 10;

/** A private Ceph gateway: a monitor, a store in memory and the gateway, in a chroot, on free ports. */
export class CephGateway implements TestServer {
  readonly endpoint: string;
  readonly name: string;
  readonly #folder: string;
  readonly #children: readonly ChildProcess[];

  private constructor(endpoint: string, version: string, folder: string, children: readonly ChildProcess[]) {
    this.endpoint = endpoint;
    this.name = `Ceph gateway ${version}`;
    this.#folder = folder;
    this.#children = children;
  }

  /**
   * Starts a gateway. A store that starts right after its monitor sometimes ends with "wrong fsid" (Ceph 20.2.4, one
   * start in about 12), so a failed start is repeated on other ports.
   */
  static async start(): Promise<CephGateway> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await CephGateway.#startOnce();
      } catch (error) {
        if (attempt === ATTEMPTS) throw error;
        console.warn(`The Ceph gateway did not start, attempt ${attempt} of ${ATTEMPTS}: ${String(error)}`);
      }
    }
  }

  static async #startOnce(): Promise<CephGateway> {
    const [monitor, gateway] = [await freePort(), await freePort()];
    mkdirSync(join(CEPH_FOLDER, 'run-tests'), { recursive: true });
    const id = `${process.pid}-${gateway}`;
    const inside = `/run-tests/${id}`;
    const folder = join(CEPH_FOLDER, inside);
    for (const name of ['mon', 'osd', 'log', 'run']) mkdirSync(join(folder, name), { recursive: true });
    await mountOnce('proc', ['-t', 'proc', 'proc']);
    await mountOnce('dev', ['--bind', '/dev']);
    const fsid = randomUUID();
    const osd = randomUUID();
    writeFileSync(join(folder, 'ceph.conf'), settings(inside, fsid, monitor, gateway));
    const conf = `${inside}/ceph.conf`;
    const children: ChildProcess[] = [];
    const oneEnded = new AbortController();
    const begin = (program: string, ...args: string[]): void => {
      const child = spawn('nice', ['-n', '5', 'chroot', CEPH_FOLDER, program, '-c', conf, ...args], {
        stdio: 'ignore',
      });
      child.once('exit', (code) => oneEnded.abort(new Error(`${program} ended with ${code}`)));
      children.push(child);
    };
    const does = (program: string, ...args: string[]): Promise<unknown> =>
      inChroot(oneEnded.signal, program, '-c', conf, ...args);
    try {
      await inChroot(
        oneEnded.signal,
        'monmaptool',
        '--create',
        '--clobber',
        '--fsid',
        fsid,
        '--addv',
        'a',
        `[v1:127.0.0.1:${monitor}]`,
        `${inside}/monmap`,
      );
      await does('ceph-mon', '-i', 'a', '--mkfs', '--monmap', `${inside}/monmap`);
      begin('ceph-mon', '-i', 'a', '-f');
      await does('ceph', '--connect-timeout', '30', 'osd', 'new', osd);
      await does('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', osd);
      begin('ceph-osd', '-i', '0', '-f');
      await does('ceph', 'osd', 'crush', 'add', 'osd.0', '1.0', 'root=default', 'host=localhost');
      const user = ['--uid=test', '--display-name=test', `--access-key=${ACCESS_KEY}`, `--secret=${SECRET_KEY}`];
      await does('radosgw-admin', 'user', 'create', ...user);
      begin('radosgw', '-n', 'client.rgw', '-f');
      const endpoint = `http://127.0.0.1:${gateway}`;
      await waitUntilReady(endpoint, oneEnded.signal);
      return new CephGateway(endpoint, await cephVersion(), folder, children);
    } catch (error) {
      await stopAll(children, folder);
      throw error;
    }
  }

  async stop(): Promise<void> {
    await stopAll(this.#children, this.#folder);
  }
}

/** Returns the version that `radosgw --version` prints. */
async function cephVersion(): Promise<string> {
  const { stdout } = await run('chroot', [CEPH_FOLDER, 'radosgw', '--version']);
  return /version (\S+)/.exec(stdout)?.[1] ?? 'unknown';
}

async function inChroot(signal: AbortSignal, program: string, ...args: string[]): Promise<void> {
  const options = { timeout: STARTED_WITHIN_MS, signal };
  try {
    await run('nice', ['-n', '5', 'chroot', CEPH_FOLDER, program, ...args], options);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

/** Stops the gateway first, then the processes it depends on. */
async function stopAll(children: readonly ChildProcess[], folder: string): Promise<void> {
  for (const child of [...children].reverse()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    await Promise.race([ended, sleep(5_000)]);
    child.kill('SIGKILL');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
  // The last process unmounts: deleting the folder must not delete this machine's devices through the mounts.
  if (readdirSync(dirname(folder)).length > 0) return;
  for (const name of ['dev', 'proc']) await run('umount', [join(CEPH_FOLDER, name)]).catch(() => {});
}

async function mountOnce(name: string, args: readonly string[]): Promise<void> {
  const target = join(CEPH_FOLDER, name);
  mkdirSync(target, { recursive: true });
  const isMounted = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .some((line) => line.split(' ')[1] === target);
  if (!isMounted) {
    await run('mount', [...args, target]);
    // Read-only protects the device files themselves; writing to the devices still works.
    await run('mount', ['-o', 'remount,bind,ro', target]);
  }
  if (!existsSync(target)) throw new Error(`${target} cannot be mounted`);
}

function settings(inside: string, fsid: string, monitor: number, gateway: number): string {
  return `[global]
fsid = ${fsid}
mon host = [v1:127.0.0.1:${monitor}]
ms bind msgr2 = false
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 1000
osd objectstore = memstore
memstore device bytes = 4294967296
run dir = ${inside}/run
admin socket = ${inside}/run/$name.asok
pid file = ${inside}/run/$name.pid
log file = ${inside}/log/$name.log
mon data = ${inside}/mon
osd data = ${inside}/osd
[client]
keyring = /dev/null
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:${gateway}
`;
}
