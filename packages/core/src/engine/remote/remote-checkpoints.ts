import type { Backend, BackendCall, CheckpointStore } from '../../backend.js';
import { FsError } from '../../errors.js';
import type { Checkpoint } from '../../file-system.js';
import { checkNow } from '../arguments.js';
import type { Context } from '../context.js';
import { errorOfLimit } from '../exceeded-limit.js';
import { limitError } from '../view/limit-error.js';
import { noCheckpoint, wantedCheckpoint } from '../wanted-checkpoint.js';
import type { BackendClient } from './backend-client.js';
import { checkpointBackend } from './checkpoint-backend.js';
import type { Ask } from './node-loader.js';
import type { RemoteQuota } from './remote-quota.js';

export class RemoteCheckpoints {
  readonly #backend: Backend;
  readonly #client: BackendClient;

  readonly #quota: RemoteQuota;

  constructor(backend: Backend, requests: BackendClient, quota: RemoteQuota) {
    this.#backend = backend;
    this.#client = requests;
    this.#quota = quota;
  }

  async create(context: Context, name: string | undefined, signal?: AbortSignal): Promise<Checkpoint> {
    const checkpointStore = this.#checkpointStore('checkpoint');
    const checkpoint: Checkpoint = Object.freeze({
      id: this.#client.newOperationId(),
      ...(name === undefined ? {} : { name }),
      createdAt: checkNow(context.clock()),
    });
    for (;;) {
      const { limits } = this.#quota;
      const max = limits.maxCheckpoints;
      const { result } = await this.#client.repeated(signal, (call) =>
        checkpointStore.create(checkpoint.id, name, checkpoint.createdAt, max, call),
      );
      if (result === 'ok') return checkpoint;
      if (result === 'exists')
        throw new FsError('EEXIST', { syscall: 'checkpoint', path: name, hint: 'A checkpoint has this name' });
      if (!(await this.#quota.areOthers(limits, signal))) throw await this.#full(max, name ?? '', signal);
    }
  }

  async list(signal?: AbortSignal): Promise<Checkpoint[]> {
    const checkpointStore = this.#checkpointStore('checkpoints');
    const list = await this.#asked(signal, (call) => checkpointStore.list(call));
    return list.map(({ id, name, createdAt }) =>
      Object.freeze({ id, ...(name === undefined ? {} : { name }), createdAt }),
    );
  }

  async restore(checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<void> {
    const checkpointStore = this.#checkpointStore('rollback');
    const id = await this.#idOf(checkpoint, 'rollback', signal);
    for (;;) {
      const { limits } = this.#quota;
      const result = await this.#client.once(signal, (call) => checkpointStore.restore(id, limits, call));
      if (result === 'ok') return;
      if (result === 'missing') throw noCheckpoint('rollback', id);
      if (!(await this.#quota.areOthers(limits, signal))) throw errorOfLimit(result, 'rollback', '/');
    }
  }

  async drop(checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<void> {
    const checkpointStore = this.#checkpointStore('drop');
    const id = await this.#idOf(checkpoint, 'drop', signal);
    const dropped = await this.#client.repeated(signal, (call) => checkpointStore.drop(id, call));
    if (!dropped.result && !dropped.wasLost) throw noCheckpoint('drop', id);
  }

  /** Returns a function that loads from a checkpoint. */
  async loaderOf(checkpoint: Checkpoint | string, syscall: string, signal: AbortSignal | undefined): Promise<Ask> {
    const checkpointStore = this.#checkpointStore(syscall);
    const id = await this.#idOf(checkpoint, syscall, signal);
    return async (requests, { signal: stopped }) => {
      const results = await this.#asked(stopped, (call) => checkpointStore.load(id, requests, call));
      if (results === 'missing') throw noCheckpoint(syscall, id);
      return results;
    };
  }

  /** Returns a read-only backend of a checkpoint's state. */
  async backendOf(checkpoint: Checkpoint | string, syscall: string, signal: AbortSignal | undefined): Promise<Backend> {
    const checkpointStore = this.#checkpointStore(syscall);
    const id = await this.#idOf(checkpoint, syscall, signal);
    return checkpointBackend(checkpointStore, id, this.#backend.capabilities.transactions);
  }

  /** Returns a function that forks the state of a checkpoint. */
  async forkOf(
    checkpoint: Checkpoint | string,
    signal: AbortSignal | undefined,
  ): Promise<(call: BackendCall) => Promise<Backend>> {
    const checkpointStore = this.#checkpointStore('fork');
    const { fork } = checkpointStore;
    if (fork === undefined) throw cannotFork('restore a snapshot of the checkpoint into another one');
    const id = await this.#idOf(checkpoint, 'fork', signal);
    return async (call) => {
      const backend = await fork.call(checkpointStore, id, call);
      if (backend === 'missing') throw noCheckpoint('fork', id);
      return backend;
    };
  }

  /**
   * Returns the error of a refused checkpoint, whose `used` is at least the limit although other clients may have
   * dropped checkpoints since.
   */
  async #full(max = 0, path: string, signal: AbortSignal | undefined): Promise<FsError> {
    const used = Math.max((await this.list(signal)).length, max);
    return limitError('ENOSPC', 'maxCheckpoints', used, used + 1, max, 'checkpoint', path);
  }

  #asked<T>(signal: AbortSignal | undefined, call: (call: BackendCall) => Promise<T>): Promise<T> {
    return this.#client.retrying(signal, call);
  }

  #checkpointStore(syscall: string): CheckpointStore {
    const { checkpointStore } = this.#backend;
    if (checkpointStore === undefined)
      throw new FsError('ENOTSUP', { syscall, hint: 'This storage keeps no checkpoints: use a snapshot' });
    return checkpointStore;
  }

  async #idOf(checkpoint: Checkpoint | string, syscall: string, signal: AbortSignal | undefined): Promise<string> {
    const wanted = wantedCheckpoint(checkpoint);
    if (typeof checkpoint !== 'string') return wanted;
    const known = (await this.list(signal)).find((one) => one.id === wanted || one.name === wanted);
    if (known === undefined) throw noCheckpoint(syscall, wanted);
    return known.id;
  }
}

export function cannotFork(instead: string): FsError {
  return new FsError('ENOTSUP', { syscall: 'fork', hint: `This storage cannot fork: ${instead}` });
}
