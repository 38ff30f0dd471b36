import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const program = createRequire(import.meta.url).resolve('azurite/dist/src/blob/main.js');
const OPTIONS = ['--silent', '--disableTelemetry', '--skipApiVersionCheck'];

/** Account of every Azurite and its key, as its manual names them. */
const ACCOUNT = 'devstoreaccount1';
const KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

/** Returns the connection string of the emulator's account at an address. */
export function connectionString(endpoint: string): string {
  return `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${KEY};BlobEndpoint=${endpoint}/${ACCOUNT};`;
}

/** Azurite, the emulator of Azure Blob Storage, in a process of its own. Its data is in memory or in a folder. */
export class AzuriteServer {
  #server: ChildProcess;

  private constructor(
    server: ChildProcess,
    readonly port: number,
    readonly folder: string,
    readonly options: readonly string[],
  ) {
    this.#server = server;
  }

  /** @param options Options of the emulator; `--inMemoryPersistence` keeps the data in memory */
  static async start(...options: string[]): Promise<AzuriteServer> {
    const folder = await mkdtemp(join(tmpdir(), 'scratchfs-azurite-'));
    const { server, port } = await launch(folder, 0, options);
    return new AzuriteServer(server, port, folder, options);
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get connection(): string {
    return connectionString(this.endpoint);
  }

  async kill(): Promise<void> {
    if (this.#server.exitCode !== null || this.#server.signalCode !== null) return;
    const ended = once(this.#server, 'exit');
    this.#server.kill('SIGKILL');
    await ended;
  }

  /** Starts a killed server again, at the same address with the same data. */
  async restart(): Promise<void> {
    ({ server: this.#server } = await launch(this.folder, this.port, this.options));
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function launch(folder: string, port: number, options: readonly string[]) {
  const args = [program, '--blobPort', String(port), ...OPTIONS, ...options];
  const server = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const text of server.stdout.setEncoding('utf8')) {
    const found = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1];
    if (found === undefined) continue;
    server.stdout.resume();
    return { server, port: Number(found) };
  }
  throw new Error('Azurite ended before it listened');
}
