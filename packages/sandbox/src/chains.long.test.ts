import { Random } from '@scratchfs/testkit';
import { expect, it } from 'vitest';
import { probeChain } from './testing/chains.js';

/** `npm run campaign -- sandbox/chains` runs two million. */
const PROBES = Number(process.env['SANDBOX_PROBES'] ?? 20_000);
/** First seed, so that a long run can be split. */
const FIRST_SEED = Number(process.env['SANDBOX_FIRST_SEED'] ?? 0);
const PER_CHAIN = 200;

it(`a child never has more rights than its parent, in ${PROBES} probes of random chains over changing trees`, () => {
  let allowed = 0;
  for (let i = 0; i * PER_CHAIN < PROBES; i++) {
    const seed = FIRST_SEED + i;
    const result = probeChain(new Random(seed), PER_CHAIN);
    expect(result.wrong, `seed ${seed}`).toEqual([]);
    allowed += result.allowed;
  }
  // A probe that is refused on both sides proves nothing.
  expect(allowed).toBeGreaterThan(PROBES / 20);
}, 3_600_000);
