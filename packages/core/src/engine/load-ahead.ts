import type { Want } from '../backend.js';
import { Missing } from './source.js';

/** Bytes asked for at once. */
export const BUDGET = 8 * 2 ** 20;

/** For walks that read everything: where a listing is missing, all beneath is asked for with it, contents too. */
export function withContents(error: unknown): unknown {
  if (!(error instanceof Missing)) return error;
  return new Missing(error.wants.map(ofTree), error.source, error.also);
}

function ofTree(want: Want): Want {
  if (want.kind !== 'list' || want.after !== undefined) return want;
  return { kind: 'tree', at: want.at, budget: BUDGET, contents: true };
}
