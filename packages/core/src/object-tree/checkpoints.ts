import type { BackendCall, CheckpointStore, LoadRequest, LoadResult } from '../backend.js';
import { exceededLimit, type Limited } from '../engine/exceeded-limit.js';
import { TreeReader, type Versions } from '../engine/tree-backend/tree-reader.js';
import { type Limits, limitsInForce } from '../limits.js';
import { type SharedStore, Tree } from '../tree/tree.js';
import type { CommitQueue } from './commit-queue.js';
import type { StateRecord } from './head.js';
import type { Heads } from './heads.js';
import type { StateLoader } from './state-loader.js';

/** Checkpoints: records in the head. Creating, restoring and dropping one only swaps the head. */
export class ObjectTreeCheckpoints implements CheckpointStore {
  readonly #commits: CommitQueue;
  readonly #heads: Heads;
  readonly #loader: StateLoader;
  readonly #shared: SharedStore;
  readonly #versions: Versions;
  /** Throws if the backend is closed or the call is aborted. */
  readonly #enter: (call: BackendCall | undefined) => void;

  constructor(
    commits: CommitQueue,
    heads: Heads,
    loader: StateLoader,
    shared: SharedStore,
    versions: Versions,
    enter: (call: BackendCall | undefined) => void,
    /** Forks the state of a checkpoint. */
    readonly fork: NonNullable<CheckpointStore['fork']>,
  ) {
    this.#commits = commits;
    this.#heads = heads;
    this.#loader = loader;
    this.#shared = shared;
    this.#versions = versions;
    this.#enter = enter;
  }

  async create(
    id: string,
    name: string | undefined,
    createdAt: number,
    max: number | undefined,
    call?: BackendCall,
  ): Promise<'ok' | 'exists' | 'limit'> {
    this.#enter(call);
    return this.#commits.edit((draft) => {
      if (draft.kept.some((kept) => kept.id === id)) return 'ok';
      if (name !== undefined && draft.kept.some((kept) => kept.name === name || kept.id === name)) return 'exists';
      const { maxCheckpoints } = limitsInForce(draft.limits, { maxCheckpoints: max });
      if (maxCheckpoints !== undefined && draft.kept.length >= maxCheckpoints) return 'limit';
      draft.kept = [...draft.kept, { id, name, createdAt, state: draft.base.head.state }];
      draft.keepState();
      return 'ok';
    }, call?.signal);
  }

  async list(
    call?: BackendCall,
  ): Promise<readonly { readonly id: string; readonly name: string | undefined; readonly createdAt: number }[]> {
    this.#enter(call);
    const { head } = await this.#heads.refresh();
    return head.kept.map(({ id, name, createdAt }) => ({ id, name, createdAt }));
  }

  async restore(id: string, limits: Limits, call?: BackendCall): Promise<'ok' | 'missing' | Limited> {
    this.#enter(call);
    return this.#commits.edit((draft) => {
      const kept = draft.kept.find((one) => one.id === id);
      if (kept === undefined) return 'missing';
      const limit = exceededLimit(
        totalsOf(draft.base.head.state),
        totalsOf(kept.state),
        limitsInForce(draft.limits, limits),
      );
      if (limit !== undefined) return limit;
      draft.restore(kept.state);
      return 'ok';
    }, call?.signal);
  }

  async drop(id: string, call?: BackendCall): Promise<boolean> {
    this.#enter(call);
    return this.#commits.edit((draft) => {
      const kept = draft.kept.filter((one) => one.id !== id);
      if (kept.length === draft.kept.length) return false;
      draft.kept = kept;
      draft.keepState();
      return true;
    }, call?.signal);
  }

  async load(
    id: string,
    requests: readonly LoadRequest[],
    call?: BackendCall,
  ): Promise<readonly LoadResult[] | 'missing'> {
    this.#enter(call);
    return this.#loader.onNewestHead(async ({ head }) => {
      const kept = head.kept.find((one) => one.id === id);
      if (kept === undefined) return 'missing';
      const tree = new Tree(this.#shared, await this.#heads.open(kept.state));
      return this.#loader.loadFrom(new TreeReader(tree, this.#versions), requests, call?.signal);
    });
  }
}

function totalsOf({ size, linkedSize, files, directories }: StateRecord) {
  return { size: size + linkedSize, files, directories };
}
