import { type Need, NotLoaded } from '../source.js';

/** Bytes that the response to a request for a subtree should not exceed. */
export const PREFETCH_BYTES = 8 * 2 ** 20;

/** For walks that read everything: if a listing is missing, requests everything under it, contents too. */
export function withContents(error: unknown): unknown {
  return widened(error, true);
}

/** For walks that read every listing: if one is missing, requests all listings under it. */
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
