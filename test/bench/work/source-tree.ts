import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Subject } from '../subjects/subject.js';

const root = process.env.SCRATCHFS_BENCH_TREE ?? fileURLToPath(new URL('../../..', import.meta.url));

/** Returns a real source tree: the files of this repository, or of `SCRATCHFS_BENCH_TREE`, as git lists them. */
export function sourceTree(): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  for (const name of execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0')) {
    const path = join(root, name);
    if (name !== '' && statSync(path, { throwIfNoEntry: false })?.isFile()) files.set(`/${name}`, readFileSync(path));
  }
  return files;
}

/** Writes `copies` of the tree, each under its own directory. */
export async function plant(subject: Subject, tree: ReadonlyMap<string, Uint8Array>, copies = 1): Promise<string[]> {
  const paths: string[] = [];
  for (let copy = 0; copy < copies; copy++) {
    for (const [path, bytes] of tree) {
      const planted = `/copy-${copy}${path}`;
      await subject.mkdir(dirname(planted));
      await subject.write(planted, bytes);
      paths.push(planted);
    }
  }
  return paths;
}

/** Returns a generator of reproducible random numbers, 0 ≤ n < 1. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Returns a generator of indices below `count`, a few of them frequent (Zipf's law). */
export function zipf(count: number, random: () => number): () => number {
  const sums: number[] = [];
  let total = 0;
  for (let rank = 1; rank <= count; rank++) sums.push((total += 1 / rank));
  return () => {
    const wanted = random() * total;
    let low = 0;
    let high = count - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] as number) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
