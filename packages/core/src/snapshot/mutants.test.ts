import { describe, expect, it } from 'vitest';
import { isStorageError } from '../errors.js';
import { seal, takeApart } from '../testing/reseal.js';
import { directory, entriesOf, file, type SampleNode, sourceOf, symlink } from '../testing/sample-tree.js';
import { decodeSnapshot } from './decode.js';
import { encodeSnapshot } from './encode.js';
import { COLUMNS, packIndex } from './packed-index.js';
import type { DecodedEntry } from './snapshot-entry.js';

/** Number of mutants of each kind. `npm run campaign -- memory/damaged-snapshots` runs more. */
const MUTANTS = Number(process.env['SNAPSHOT_MUTANTS'] ?? 1000);
const SEED = Number(process.env['SNAPSHOT_SEED'] ?? 1);

/** Returns a random number generator (mulberry32) that gives integers from 0 to `below` - 1. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const NAMES = ['a', 'b', '__proto__', 'src', 'index.ts', '\u{1f600}', '\uffff', 'é', 'a-much-longer-name.test.tsx'];

function sample(random: (below: number) => number): Uint8Array<ArrayBuffer> {
  const leaves: SampleNode[] = [];
  const make = (depth: number): SampleNode => {
    const kind = random(depth === 0 ? 1 : 6);
    const times = { mtime: random(3), ctime: random(2) + 0.5, mode: random(0o10000) };
    if (kind < 2 && depth < 4) {
      const children = new Map<string, SampleNode>();
      for (let i = random(6); i >= 0; i--) children.set(NAMES[random(NAMES.length)] as string, make(depth + 1));
      return directory(children, times);
    }
    if (kind === 5 && leaves.length > 0) return leaves[random(leaves.length)] as SampleNode;
    const leaf = kind === 4 ? symlink('../a', times) : file('x'.repeat(random(40)), times);
    leaves.push(leaf);
    return leaf;
  };
  return encodeSnapshot(entriesOf(make(0)));
}

/** Makes one to four changes: replaces, removes, inserts or increments a byte, or repeats up to 15 bytes. */
function mutated(bytes: Uint8Array, random: (below: number) => number): Uint8Array<ArrayBuffer> {
  let list = [...bytes];
  for (let i = random(4); i >= 0; i--) {
    const at = random(list.length + 1);
    const how = random(5);
    if (how === 0) list[at] = random(256);
    else if (how === 1) list.splice(at, 1);
    else if (how === 2) list.splice(at, 0, random(256));
    else if (how === 3) list.splice(at, 0, ...list.slice(at, at + random(16)));
    else list = [...list.slice(0, at), ((list[at] ?? 0) + 1) & 255, ...list.slice(at + 1)];
  }
  return Uint8Array.from(list);
}

type Outcome = 'refused' | 'same' | 'other state';

/** Requires that the bytes are refused, or are exactly those that the encoder writes for the decoded entries. */
function outcome(bytes: Uint8Array<ArrayBuffer>, original: Uint8Array): Outcome {
  const before = process.cpuUsage();
  const entries = entriesRead(bytes);
  // The bound is hundreds of times the usual CPU time: it only finds work that a hostile length causes.
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(2000);
  if (entries === undefined) return 'refused';
  const again = encodeSnapshot(entries.map(sourceOf));
  if (!equal(again, bytes)) throw new Error('accepted, but not what the encoder makes of it');
  return equal(bytes, original) ? 'same' : 'other state';
}

function entriesRead(bytes: Uint8Array<ArrayBuffer>): DecodedEntry[] | undefined {
  try {
    return [...decodeSnapshot(bytes).entries()];
  } catch (error) {
    if (isStorageError(error, 'corrupt') || isStorageError(error, 'version')) return undefined;
    throw error;
  }
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

function run(name: string, mutate: (bytes: Uint8Array, random: (below: number) => number) => Uint8Array<ArrayBuffer>) {
  const counts = { refused: 0, same: 0, 'other state': 0 };
  for (let number = 0; number < MUTANTS; number++) {
    const random = randomFrom(SEED * 1_000_003 + number);
    const bytes = sample(random);
    try {
      counts[outcome(mutate(bytes, random), bytes)]++;
    } catch (cause) {
      throw new Error(`${name}: mutant ${number} of seed ${SEED}`, { cause });
    }
  }
  return counts;
}

describe(`${MUTANTS} mutants of snapshots`, () => {
  it('with checksums that no longer match are all refused', () => {
    expect(run('raw', mutated)['other state']).toBe(0);
  }, 600_000);

  it('with a changed index and new checksums are refused or are snapshots of another state', () => {
    const counts = run('index', (bytes, random) => {
      const { index, content } = takeApart(bytes);
      return seal(mutated(index, random), content);
    });
    expect(counts.refused).toBeGreaterThan(MUTANTS / 2);
  }, 600_000);

  it('with a changed column and new checksums are refused or are snapshots of another state', () => {
    const counts = run('column', (bytes, random) => {
      const { columns, content, count } = takeApart(bytes);
      const name = COLUMNS[random(COLUMNS.length)] as (typeof COLUMNS)[number];
      const changed = { ...columns, [name]: mutated(columns[name], random) };
      return seal(packIndex(random(10) === 0 ? random(count * 2) : count, changed), content);
    });
    expect(counts.refused).toBeGreaterThan(MUTANTS / 10);
    expect(counts['other state']).toBeGreaterThan(0);
  }, 600_000);
});
