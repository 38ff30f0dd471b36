import type { Backend, BackendCall, CheckpointStore, LoadRequest, LoadResult } from '../../backend.js';
import { type Limits, limitsInForce } from '../../limits.js';
import { Tree, type TreeState } from '../../tree/tree.js';
import type { Limited } from '../exceeded-limit.js';
import type { MemoryExecutor } from '../memory/memory-executor.js';
import { TreeReader, type Versions } from './tree-reader.js';

export class TreeCheckpoints implements CheckpointStore {
  readonly #held = new Map<
    string,
    { readonly id: string; readonly name: string | undefined; readonly createdAt: number; readonly state: TreeState }
  >();

  constructor(
    readonly executor: MemoryExecutor,
    readonly versions: Versions,
    /** Throws if the backend is closed, or the call is aborted. */
    readonly enter: (call: BackendCall | undefined) => void,
    readonly forkOf: (state: TreeState) => Backend,
  ) {
    executor.keepers.push(() => [...this.#held.values()].map(({ state }) => state));
  }

  async create(
    id: string,
    name: string | undefined,
    createdAt: number,
    max: number | undefined,
    call?: BackendCall,
  ): Promise<'ok' | 'exists' | 'limit'> {
    this.enter(call);
    if (this.#held.has(id)) return 'ok';
    for (const held of this.#held.values())
      if (name !== undefined && (held.name === name || held.id === name)) return 'exists';
    const { maxCheckpoints } = limitsInForce(this.executor.quota.limits, { maxCheckpoints: max });
    if (maxCheckpoints !== undefined && this.#held.size >= maxCheckpoints) return 'limit';
    this.#held.set(id, { id, name, createdAt, state: this.executor.tree.freeze() });
    return 'ok';
  }

  async list(
    call?: BackendCall,
  ): Promise<readonly { readonly id: string; readonly name: string | undefined; readonly createdAt: number }[]> {
    this.enter(call);
    return [...this.#held.values()].map(({ id, name, createdAt }) => ({ id, name, createdAt }));
  }

  async restore(id: string, limits: Limits, call?: BackendCall): Promise<'ok' | 'missing' | Limited> {
    this.enter(call);
    const held = this.#held.get(id);
    if (held === undefined) return 'missing';
    return this.executor.restore(held.state, limitsInForce(this.executor.quota.limits, limits)) ?? 'ok';
  }

  async drop(id: string, call?: BackendCall): Promise<boolean> {
    this.enter(call);
    return this.#held.delete(id);
  }

  async fork(id: string, call?: BackendCall): Promise<Backend | 'missing'> {
    this.enter(call);
    const held = this.#held.get(id);
    return held === undefined ? 'missing' : this.forkOf(held.state);
  }

  async load(
    id: string,
    requests: readonly LoadRequest[],
    call?: BackendCall,
  ): Promise<readonly LoadResult[] | 'missing'> {
    this.enter(call);
    const held = this.#held.get(id);
    if (held === undefined) return 'missing';
    const reader = new TreeReader(new Tree(this.executor.tree.shared, held.state), this.versions);
    return requests.map((request) => reader.load(request));
  }
}
