import type { Limits } from '@scratchfs/core';
import { Random } from '@scratchfs/testkit';
import { grow, type QuotaReport } from '../../faults/quota.js';
import { type Place, withClient } from '../clients.js';

export interface Filling {
  readonly place: Place;
  readonly writers: readonly number[];
  readonly seed: number;
  readonly perWriter: number;
  readonly limits: Limits;
}

/** Some writers that fill a filesystem up to its limits, each with a client of its own. */
export async function fill({ place, writers, seed, perWriter, limits }: Filling): Promise<QuotaReport> {
  const report: QuotaReport = { operations: 0, refused: 0, gaveUp: 0, problems: [] };
  const filling = writers.map((writer) =>
    withClient(place, (fs) => grow(fs, new Random(seed * 100 + writer), perWriter, report), { limits }),
  );
  await Promise.all(filling);
  return report;
}
