import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ContainerClient } from '@azure/storage-blob';

const program = createRequire(import.meta.url).resolve('azurite/dist/src/blob/main.js');
const OPTIONS = ['--silent', '--disableTelemetry', '--skipApiVersionCheck'];

/** Account of every Azurite and its key, as its manual names them. */
const ACCOUNT = 'devstoreaccount1';
const KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

/** Returns the connection string of the emulator's account at an address. */
export function connectionString(endpoint: string, key = KEY): string {
  return `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${key};BlobEndpoint=${endpoint}/${ACCOUNT};`;
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

  /** Creates a container and returns its client, which has the SDK's own settings. */
  async createContainer(name: string): Promise<ContainerClient> {
    const container = new ContainerClient(this.connection, name);
    await container.create();
    return container;
  }

  /** Ends the server. Unless it is killed, it first writes what it has. */
  async end(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    if (this.#server.exitCode !== null || this.#server.signalCode !== null) return;
    const ended = once(this.#server, 'exit');
    this.#server.kill(signal);
    await ended;
  }

  /** Starts a server that has ended again, at the same address with the same data. */
  async restart(): Promise<void> {
    ({ server: this.#server } = await launch(this.folder, this.port, this.options));
  }

  async stop(): Promise<void> {
    await this.end('SIGKILL');
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function launch(folder: string, atPort: number, options: readonly string[]) {
  const args = [program, '--blobPort', String(atPort), ...OPTIONS, ...options];
  const server = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  // It goes on printing, so its output is read until it ends.
  const port = await new Promise<number>((resolve, reject) => {
    server.stdout.setEncoding('utf8').on('data', (text: string) => {
      const found = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
    server.once('exit', () => reject(new Error('Azurite ended before it listened')));
  });
  return { server, port };
}
