import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);

/** Time limit for a start, in which a server that was killed recovers its data. */
const READY_WITHIN_MS = 60_000;
const START_ATTEMPTS = 3;

/** Returns the folder of PostgreSQL's programs; undefined if it is not installed. */
export function findPostgres(): string | undefined {
  const top = '/usr/lib/postgresql';
  const versions = existsSync(top) ? readdirSync(top).sort((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(top, version, 'bin')).find((bin) => existsSync(join(bin, 'postgres')));
}

/** A PostgreSQL server in a folder of its own. PostgreSQL refuses to run as root, so root starts it as `nobody`. */
export class PostgresServer {
  #server: ChildProcess | undefined;

  private constructor(
    readonly folder: string,
    readonly port: number,
    readonly user: { readonly uid?: number; readonly gid?: number },
    readonly isFlushed: boolean,
  ) {}

  /** @param isFlushed wait for the disk at each commit, as servers do that are not for tests */
  static async start(bin: string, isFlushed = false): Promise<PostgresServer> {
    const folder = await mkdtemp(join(tmpdir(), 'scratchfs-postgres-'));
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    if (user.uid !== undefined) await chown(folder, user.uid, user.gid as number);
    const data = join(folder, 'data');
    await run(join(bin, 'initdb'), ['-D', data, '-U', 'tester', '-A', 'trust', '-E', 'UTF8', '--no-sync'], {
      ...user,
      cwd: folder,
      env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
    });
    for (let attempt = 1; ; attempt++) {
      const server = new PostgresServer(folder, await freePort(), user, isFlushed);
      try {
        await server.launch(bin);
        return server;
      } catch (error) {
        await server.stop('SIGQUIT');
        // Another process may have taken the port since it was found to be free.
        if (attempt === START_ATTEMPTS) throw error;
      }
    }
  }

  get url(): string {
    return `postgres://tester@127.0.0.1:${this.port}/postgres`;
  }

  async launch(bin: string): Promise<void> {
    const args = ['-D', join(this.folder, 'data'), '-p', String(this.port), '-k', this.folder, '-h', '127.0.0.1'];
    // The tests kill the server, never the machine.
    const fsync = `fsync=${this.isFlushed ? 'on' : 'off'}`;
    const child = spawn(join(bin, 'postgres'), [...args, '-c', fsync, '-c', 'max_connections=60'], {
      ...this.user,
      cwd: this.folder,
      stdio: 'ignore',
      env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
    });
    this.#server = child;
    for (const end = performance.now() + READY_WITHIN_MS; ; ) {
      const client = new pg.Client({ connectionString: this.url });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await client.end();
        return;
      } catch (error) {
        if (child.exitCode !== null || performance.now() > end) throw error;
        await wait(50);
      }
    }
  }

  /** Kills the server, or has it end immediately without cleaning up (SIGQUIT). */
  async stop(signal: 'SIGKILL' | 'SIGQUIT'): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined || server.exitCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  }

  async close(): Promise<void> {
    await this.stop('SIGQUIT');
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
