import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url));
const LOADER = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

/** The jobs of a process, by name. Arguments and results go through structured cloning. */
export type JobTable = Readonly<Record<string, (argument: never) => Promise<unknown>>>;

export interface JobMessage {
  readonly call: number;
  readonly name: string;
  readonly argument: unknown;
}
export type ReplyMessage =
  | { readonly call: number; readonly value: unknown }
  | { readonly call: number; readonly error: string };

/** Runs jobs on behalf of this process. */
export interface Worker<Jobs extends JobTable> {
  run<K extends keyof Jobs & string>(name: K, argument: Parameters<Jobs[K]>[0]): Promise<Awaited<ReturnType<Jobs[K]>>>;
  close(): void;
}

/** Another Node process that runs jobs. It ends with this process. */
export class WorkerProcess<Jobs extends JobTable> implements Worker<Jobs> {
  readonly #child: ChildProcess;
  readonly #calls = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #count = 0;

  /**
   * @param jobs the URL of a module that exports them as `jobs`
   * @param packages the sources or the built packages
   */
  constructor(jobs: URL, packages: 'source' | 'built' = 'source') {
    const conditions = packages === 'source' ? ['--conditions=@scratchfs/source'] : [];
    const execArgv = [...conditions, '--import', LOADER, '--no-warnings'];
    this.#child = fork(WORKER, [jobs.href], { execArgv, serialization: 'advanced' });
    this.#child.on('message', (message: ReplyMessage) => {
      const call = this.#calls.get(message.call);
      this.#calls.delete(message.call);
      if ('error' in message) call?.reject(new Error(message.error));
      else call?.resolve(message.value);
    });
    this.#child.on('exit', (code, signal) => {
      for (const { reject } of this.#calls.values()) reject(new Error(`The worker ended with ${code ?? signal}`));
      this.#calls.clear();
    });
  }

  run<K extends keyof Jobs & string>(name: K, argument: Parameters<Jobs[K]>[0]): Promise<Awaited<ReturnType<Jobs[K]>>> {
    this.#count += 1;
    const message: JobMessage = { call: this.#count, name, argument };
    return new Promise((resolve, reject) => {
      this.#calls.set(message.call, { resolve: resolve as (value: unknown) => void, reject });
      this.#child.send(message);
    });
  }

  /** Kills the process, whatever it is doing. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  close(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}

/** Runs one job in a separate process on the built packages. */
export async function inProcess<Jobs extends JobTable, K extends keyof Jobs & string>(
  jobs: URL,
  name: K,
  argument: Parameters<Jobs[K]>[0],
): Promise<Awaited<ReturnType<Jobs[K]>>> {
  const worker = new WorkerProcess<Jobs>(jobs, 'built');
  try {
    return await worker.run(name, argument);
  } finally {
    worker.close();
  }
}

/** Several workers that run the same kind of job concurrently. */
export class Pool<Jobs extends JobTable> {
  constructor(readonly workers: readonly Worker<Jobs>[]) {}

  /** Runs one job in each worker, concurrently. */
  all<K extends keyof Jobs & string>(
    name: K,
    argument: (worker: number) => Parameters<Jobs[K]>[0],
  ): Promise<Awaited<ReturnType<Jobs[K]>>[]> {
    return Promise.all(this.workers.map((worker, index) => worker.run(name, argument(index))));
  }

  close(): void {
    for (const worker of this.workers) worker.close();
  }
}

/** Workers in separate processes. */
export class ProcessPool<Jobs extends JobTable> extends Pool<Jobs> {
  declare readonly workers: readonly WorkerProcess<Jobs>[];

  /** @param jobs the URL of a module that exports them as `jobs` */
  constructor(size: number, jobs: URL) {
    super(Array.from({ length: size }, () => new WorkerProcess<Jobs>(jobs)));
  }
}
