import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  type GitObject,
  type GitObjectStore,
  HistoryError,
  type ObjectFormat,
  type ObjectId,
  type ObjectType,
  type RepositoryCall,
  type StoredObject,
} from '@scratchfs/history';
import { absent } from '../host-error.js';
import type { Git } from './git.js';

interface Request {
  readonly id: ObjectId;
  readonly command: 'contents' | 'info';
  readonly resolve: (answer: GitObject | boolean | undefined) => void;
  readonly reject: (error: Error) => void;
}

const MAX_OBJECT_BYTES = 256 * 2 ** 20;
const IDLE_MS = 10_000;
const LF = 10;

/**
 * Object store of a repository on disk, read through the user's git, which knows packs and alternates. It is read-only
 * and copies nothing. One `git cat-file` process serves requests and ends some seconds after the last one. While idle,
 * it does not keep the event loop alive.
 */
export class GitObjects implements GitObjectStore {
  #process: ChildProcessWithoutNullStreams | undefined;
  #pending: Request[] = [];
  #chunks: Buffer[] = [];
  #length = 0;
  /** Number of received bytes at which parsing is tried again. */
  #wanted = 1;
  #idle: NodeJS.Timeout | undefined;
  /** Number of bytes of a too large object that are still to be skipped. */
  #unwanted = 0;
  #shallowFile: string | undefined;
  #shallow: { readonly state: string; readonly ids: ReadonlySet<ObjectId> } | undefined;

  constructor(
    readonly git: Git,
    readonly format: ObjectFormat,
    readonly maxObjectBytes = MAX_OBJECT_BYTES,
    readonly idleMs = IDLE_MS,
  ) {}

  async read(id: ObjectId, call?: RepositoryCall): Promise<GitObject | undefined> {
    return (await this.#ask('contents', id, call)) as GitObject | undefined;
  }

  async has(id: ObjectId, call?: RepositoryCall): Promise<boolean> {
    return (await this.#ask('info', id, call)) as boolean;
  }

  async write(): Promise<void> {
    throw new TypeError('This object store is read-only: objects cannot be written to a repository on disk');
  }

  /** See {@link GitObjectStore.list}. Sizes and times are unknown, since nothing is pruned here: they are 0. */
  async *list(prefix: string, call?: RepositoryCall): AsyncGenerator<StoredObject> {
    const ids = await this.git.text(['rev-parse', `--disambiguate=${prefix}`], call);
    for (const id of ids.split('\n')) if (id !== '') yield { id: id as ObjectId, bytes: 0, writtenAt: 0 };
  }

  /**
   * Returns the ids of the shallow boundary. Returns the same set until the boundary changes, for example because the
   * user fetches more of the history.
   */
  async shallow(): Promise<ReadonlySet<ObjectId>> {
    this.#shallowFile ??= resolve(this.git.cwd, await this.git.text(['rev-parse', '--git-path', 'shallow']));
    const stat = await lstat(this.#shallowFile, { bigint: true }).catch(absent);
    const state = stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
    if (this.#shallow?.state !== state) {
      const text = (await readFile(this.#shallowFile, 'latin1').catch(absent)) ?? '';
      this.#shallow = { state, ids: new Set(text.split('\n').filter((line) => line !== '') as ObjectId[]) };
    }
    return this.#shallow.ids;
  }

  /** Ends the process. Requests in flight reject; a later request starts another process. */
  close(): void {
    clearTimeout(this.#idle);
    this.#process?.kill();
    this.#fail(new HistoryError('not-found', 'The repository has been closed'));
  }

  #ask(command: Request['command'], id: ObjectId, call?: RepositoryCall): Promise<GitObject | boolean | undefined> {
    call?.signal?.throwIfAborted();
    if (this.#process === undefined && !existsSync(this.git.cwd)) return Promise.reject(gone(id));
    const child = (this.#process ??= this.#start());
    return new Promise((answer, reject) => {
      if (this.#pending.length === 0) hold(child, true);
      clearTimeout(this.#idle);
      this.#pending.push({ id, command, resolve: answer, reject });
      child.stdin.write(`${command} ${id}\n`);
    });
  }

  #start(): ChildProcessWithoutNullStreams {
    const child = spawn('git', ['cat-file', '--batch-command'], {
      cwd: this.git.cwd,
      env: this.git.env(),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString('utf8')).slice(-1_000)));
    child.stdout.on('data', (chunk: Buffer) => {
      if (this.#process === child) this.#take(chunk);
    });
    child.stdin.on('error', () => undefined);
    const end = (cause?: unknown): void => {
      if (this.#process !== child) return;
      const why = said.trim() === '' ? '' : `: ${JSON.stringify(said.trim())}`;
      this.#fail(new HistoryError('corrupt', `git stopped reading objects${why}`, { cause }));
    };
    child.on('error', end);
    child.on('close', () => end());
    hold(child, false);
    return child;
  }

  #fail(error: Error): void {
    const pending = this.#pending;
    this.#process = undefined;
    this.#pending = [];
    this.#chunks = [];
    this.#length = 0;
    this.#wanted = 1;
    this.#unwanted = 0;
    for (const { reject } of pending) reject(error);
  }

  #take(received: Buffer): void {
    const chunk = received.subarray(this.#unwanted);
    this.#unwanted -= received.length - chunk.length;
    // Even an empty slice would keep all received bytes in memory.
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#wanted) return;
    let bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    this.#wanted = 1;
    for (let request = this.#pending[0]; request !== undefined; request = this.#pending[0]) {
      const used = this.#answer(request, bytes);
      if (used === 0) break;
      bytes = bytes.subarray(used);
      this.#pending.shift();
    }
    this.#chunks = [bytes];
    this.#length = bytes.length;
    if (this.#pending.length > 0 || this.#process === undefined) return;
    hold(this.#process, false);
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.close(), this.idleMs).unref();
  }

  /** Settles one request if its response is complete. Returns the number of bytes consumed, 0 if more are needed. */
  #answer({ id, command, resolve, reject }: Request, bytes: Buffer): number {
    const end = bytes.indexOf(LF);
    if (end < 0) {
      this.#wanted = bytes.length + 1;
      return 0;
    }
    const [, type, size] = bytes.toString('latin1', 0, end).split(' ');
    if (size === undefined && !existsSync(this.git.cwd)) {
      reject(gone(id));
      return end + 1;
    }
    if (size === undefined || command === 'info') {
      resolve(command === 'info' ? size !== undefined : undefined);
      return end + 1;
    }
    const next = end + 1 + Number(size) + 1;
    if (Number(size) > this.maxObjectBytes) {
      reject(new HistoryError('too-large', `Object ${id} has ${size} bytes, more than ${this.maxObjectBytes}`, { id }));
      this.#unwanted = Math.max(0, next - bytes.length);
      return Math.min(next, bytes.length);
    }
    if (bytes.length < next) {
      this.#wanted = next;
      return 0;
    }
    resolve({ type: type as ObjectType, body: Uint8Array.from(bytes.subarray(end + 1, next - 1)) });
    return next;
  }
}

function gone(id: ObjectId): HistoryError {
  return new HistoryError('not-found', `There is no object ${id}, and a repository that was taken in is gone`, { id });
}

/** Sets whether the process keeps the event loop alive. */
function hold(child: ChildProcessWithoutNullStreams, isHeld: boolean): void {
  const streams = [child, child.stdin, child.stdout, child.stderr] as unknown as { ref(): void; unref(): void }[];
  for (const stream of streams) {
    if (isHeld) stream.ref();
    else stream.unref();
  }
}
