import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { redisProgram } from './find-redis.js';
import { keptFolder, spawnKept } from './server-keeper.js';

export interface RedisServerOptions {
  /** Default: nothing is written to disk. `always`: a write is on disk before it is acknowledged. */
  readonly appendOnly?: 'everysec' | 'always' | undefined;
  readonly password?: string | undefined;
  /** Further settings of redis.conf, by key. */
  readonly config?: Readonly<Record<string, string>> | undefined;
  /** Port of the master that this server replicates. */
  readonly replicaOf?: number | undefined;
  readonly cluster?: boolean | undefined;
}

const READY_WITHIN_MS = 60_000;
const START_ATTEMPTS = 3;
const FIRST_PORT = 10_000;
/** Processes share a range of ports only if the remainders of their ids are equal. */
const PORT_RANGES = 200;
const PORTS_PER_RANGE = 50;

/**
 * A real redis-server started by the tests: on a free port of loopback, with a folder in the system's temporary
 * directory.
 */
export class RedisServer {
  #child: ChildProcess | undefined;
  #control: Redis | undefined;

  private constructor(
    readonly port: number,
    readonly folder: string,
    readonly options: RedisServerOptions,
  ) {}

  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    for (let attempt = 1; ; attempt++) {
      const server = new RedisServer(await freePort(), keptFolder(), options);
      try {
        await server.start();
        return server;
      } catch (error) {
        await server.stop();
        // Another process may have taken the port since it was found to be free.
        if (attempt === START_ATTEMPTS) throw error;
      }
    }
  }

  get url(): string {
    const { password } = this.options;
    return `redis://${password === undefined ? '' : `:${password}@`}127.0.0.1:${this.port}`;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  /** A client for what a test does to the server directly. It reconnects after a restart. */
  get control(): Redis {
    if (this.#control === undefined) {
      this.#control = new Redis(this.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
      this.#control.on('error', () => undefined);
    }
    return this.#control;
  }

  /** Returns the CPU time of the server's main thread, in milliseconds; undefined except on Linux. */
  cpuMs(): number | undefined {
    try {
      return Number(readFileSync(`/proc/${this.#child?.pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
    } catch {
      return undefined;
    }
  }

  /** Starts the server, for the first time or after {@link kill}, and waits until it replies. */
  async start(): Promise<void> {
    const child = spawnKept(redisProgram(), [...this.#arguments()]);
    this.#child = child;
    let ended: string | undefined;
    child.once('error', (error) => (ended = String(error)));
    child.once('exit', (code, signal) => {
      ended = `it ended with ${code ?? signal}: see ${join(this.folder, 'redis.log')}`;
      if (this.#child === child) this.#child = undefined;
    });
    const probe = new Redis(this.url, { retryStrategy: () => 10, maxRetriesPerRequest: null });
    probe.on('error', () => undefined);
    try {
      const deadline = performance.now() + READY_WITHIN_MS;
      for (let isReady = false; !isReady; ) {
        if (ended !== undefined) throw new Error(`redis-server did not start: ${ended}`);
        if (performance.now() > deadline) throw new Error('redis-server does not answer');
        isReady = await Promise.race([
          probe.ping().then(
            () => true,
            () => false,
          ),
          sleep(500, false),
        ]);
      }
    } finally {
      probe.disconnect();
    }
  }

  /**
   * Ends the process by a signal. After SIGKILL, the default, nothing is flushed and no connection is closed properly.
   */
  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const end = once(child, 'exit');
    child.ref();
    child.kill(signal);
    await end;
  }

  /** Suspends the process: connections stay open without replies until {@link resume}. */
  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }
  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    this.#control?.disconnect();
    this.#control = undefined;
    this.resume();
    await this.kill();
  }

  *#arguments(): Iterable<string> {
    const { appendOnly, password, config = {}, replicaOf, cluster } = this.options;
    const lines: Record<string, string> = {
      port: String(this.port),
      bind: '127.0.0.1',
      dir: this.folder,
      logfile: 'redis.log',
      save: '',
      appendonly: appendOnly === undefined ? 'no' : 'yes',
      ...(appendOnly === undefined ? {} : { appendfsync: appendOnly }),
      ...(password === undefined ? {} : { requirepass: password, masterauth: password }),
      ...(replicaOf === undefined ? {} : { replicaof: `127.0.0.1 ${replicaOf}`, 'repl-diskless-sync-delay': '0' }),
      ...(cluster === true
        ? { 'cluster-enabled': 'yes', 'cluster-config-file': 'nodes.conf', 'cluster-node-timeout': '2000' }
        : {}),
      ...config,
    };
    for (const [key, value] of Object.entries(lines)) {
      yield `--${key}`;
      // A directive with several words takes them as separate arguments.
      if (key === 'replicaof') yield* value.split(' ');
      else yield value;
    }
  }
}

let portsTried = 0;

/**
 * Returns a free port. It is below those that the system gives to connections and for `listen(0)`, and in a range that
 * few other processes use, so that a server that was killed finds its port free again. A cluster also uses the port
 * 10,000 above.
 */
async function freePort(): Promise<number> {
  const first = FIRST_PORT + (process.pid % PORT_RANGES) * PORTS_PER_RANGE;
  for (let tries = 1; ; tries++) {
    const port = first + (portsTried++ % PORTS_PER_RANGE);
    const probe = createServer();
    try {
      await once(probe.listen(port, '127.0.0.1'), 'listening');
    } catch (error) {
      if (tries === PORTS_PER_RANGE) throw error;
      continue;
    }
    probe.close();
    await once(probe, 'close');
    return port;
  }
}
