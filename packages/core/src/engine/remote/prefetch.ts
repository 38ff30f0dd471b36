import { type Need, NotLoaded } from '../source.js';

/** Bytes that the response to a request for a subtree should not exceed. */
export const PREFETCH_BYTES = 8 * 2 ** 20;

/**
 * Widens the requests of a {@link NotLoaded} from a listing to everything under the directory, contents included: for
 * walks that read everything. Returns other errors unchanged.
 */
export function withContents(error: unknown): unknown {
  return widened(error, true);
}

/** Like {@link withContents}, but only to all listings under the directory: for walks that read every listing. */
export function withListings(error: unknown): unknown {
  return widened(error, false);
}

function widened(error: unknown, contents: boolean): unknown {
  if (!(error instanceof NotLoaded)) return error;
  return new NotLoaded(
    error.needs.map((need) => ofTree(need, contents)),
    error.source,
    error.also,
  );
}

function ofTree(need: Need, contents: boolean): Need {
  if (need.kind !== 'list' || need.after !== undefined) return need;
  return { kind: 'tree', at: need.at, budget: PREFETCH_BYTES, contents };
}
