import { HistoryError, isHistoryError } from './errors.js';
import type { ObjectId } from './object-id.js';
import type { ObjectReader } from './object-reader.js';
import type { Pruned, Repository, RepositoryCall, StoredObject } from './repository.js';
import { referencesOf, type TypedId } from './verify.js';

export interface PruneOptions extends RepositoryCall {
  /**
   * Objects that were written in the last `gracePeriodMs` milliseconds stay, with everything they refer to: a client may
   * be about to move a reference to them. Default: 3,600,000 (one hour).
   */
  readonly gracePeriodMs?: number | undefined;
  /** Delete nothing, only count. Default false. */
  readonly dryRun?: boolean | undefined;
}

export interface PruneResult extends Pruned {
  /** Number of objects that a reference or the grace period protects. */
  readonly kept: number;
}

const DEFAULT_GRACE_PERIOD_MS = 3_600_000;

/** Deletes the objects that neither a reference nor an object written in the grace period reaches. */
export async function prune(
  repository: Repository,
  reader: ObjectReader,
  now: number,
  options: PruneOptions,
): Promise<PruneResult> {
  const { gracePeriodMs = DEFAULT_GRACE_PERIOD_MS, dryRun = false, signal } = options;
  if (typeof gracePeriodMs !== 'number' || !(gracePeriodMs >= 0))
    throw new RangeError(`gracePeriodMs must be a number of milliseconds from 0 on, not ${String(gracePeriodMs)}`);
  if (typeof dryRun !== 'boolean') throw new TypeError(`dryRun must be true or false, not ${String(dryRun)}`);
  if (repository.prune === undefined)
    throw new HistoryError('unsupported', 'This repository cannot delete objects, so it cannot be pruned');
  const before = now - gracePeriodMs;
  const live = new Set<ObjectId>();
  const markReferences = async (): Promise<void> =>
    mark(live, reader, await tipsOf(repository, { signal }), { signal });
  // Most of the work is done before the repository begins to delete; later only what is new is read.
  await markReferences();
  let kept = 0;
  const select = async (listed: readonly StoredObject[]): Promise<ReadonlySet<ObjectId>> => {
    await markReferences();
    const recent = listed.filter(({ writtenAt }) => writtenAt >= before).map(({ id }) => id);
    // A commit in progress may not have stored everything yet.
    await mark(live, reader, recent, { signal, mayBeIncomplete: true });
    const ids = new Set(listed.map(({ id }) => id));
    const dead = new Set([...ids].filter((id) => !live.has(id)));
    kept = ids.size - dead.size;
    return dead;
  };
  const pruned = await repository.prune(select, { before, dryRun, signal });
  return { ...pruned, kept };
}

/** Returns the objects that references name directly. */
async function tipsOf(repository: Repository, call: RepositoryCall): Promise<ObjectId[]> {
  const tips: ObjectId[] = [];
  for (const name of new Set(['HEAD', ...(await repository.listRefs('', call))])) {
    const value = await repository.readRef(name, call);
    if (value !== undefined && 'id' in value) tips.push(value.id);
  }
  return tips;
}

/**
 * Adds objects and everything they refer to to `live`. Blobs that a tree names are not read.
 * @throws HistoryError `not-found` if an object to be read is missing, unless `mayBeIncomplete`
 */
async function mark(
  live: Set<ObjectId>,
  reader: ObjectReader,
  tips: readonly ObjectId[],
  { signal, mayBeIncomplete = false }: RepositoryCall & { readonly mayBeIncomplete?: boolean },
): Promise<void> {
  const pending: TypedId[] = [];
  const enter = (found: TypedId): void => {
    if (live.has(found.id)) return;
    live.add(found.id);
    if (found.type !== 'blob') pending.push(found);
  };
  for (const id of tips) enter({ id, type: undefined });
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    try {
      const object = await reader.object(next.id, { signal });
      for (const reference of await referencesOf(object, next.id, reader, { signal })) enter(reference);
    } catch (error) {
      if (!mayBeIncomplete || !isHistoryError(error, 'not-found')) throw error;
    }
  }
}
