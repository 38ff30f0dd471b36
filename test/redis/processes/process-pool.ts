import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Jobs } from './jobs.js';

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url));
const LOADER = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

export interface JobMessage {
  readonly call: number;
  readonly name: keyof Jobs;
  readonly argument: unknown;
}
export type AnswerMessage =
  | { readonly call: number; readonly value: unknown }
  | { readonly call: number; readonly error: string };

type Argument<K extends keyof Jobs> = Parameters<Jobs[K]>[0];
type Answer<K extends keyof Jobs> = Awaited<ReturnType<Jobs[K]>>;

/** Another Node process that does jobs for us. It ends when we do. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #calls = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #count = 0;

  constructor() {
    const execArgv = ['--conditions=@scratchfs/source', '--import', LOADER];
    this.#child = fork(WORKER, { execArgv, serialization: 'advanced' });
    this.#child.on('message', (message: AnswerMessage) => {
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

  run<K extends keyof Jobs>(name: K, argument: Argument<K>): Promise<Answer<K>> {
    this.#count += 1;
    const message: JobMessage = { call: this.#count, name, argument };
    return new Promise((resolve, reject) => {
      this.#calls.set(message.call, { resolve: resolve as (value: unknown) => void, reject });
      this.#child.send(message);
    });
  }

  /** Ends it in the middle of whatever it does. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  close(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}

/** Several processes that do the same kind of job at once. */
export class ProcessPool {
  readonly workers: readonly WorkerProcess[];

  constructor(size: number) {
    this.workers = Array.from({ length: size }, () => new WorkerProcess());
  }

  /** One job in each process, at the same time. */
  all<K extends keyof Jobs>(name: K, argument: (worker: number) => Argument<K>): Promise<Answer<K>[]> {
    return Promise.all(this.workers.map((worker, index) => worker.run(name, argument(index))));
  }

  close(): void {
    for (const worker of this.workers) worker.close();
  }
}
