import { dirname } from 'node:path';
import { plant, seeded, sourceTree, zipf } from './source-tree.js';
import { done, sum, type Work } from './work.js';

const STEPS = 40_000;

type Step = readonly [kind: 'read' | 'stat' | 'edit' | 'list', path: string];

/** 70% reads, 15% stats, 10% edits (read, then write the changed whole), 5% listings; few files are frequent. */
function stepsOf(paths: readonly string[]): Step[] {
  const random = seeded(7);
  const next = zipf(paths.length, random);
  return Array.from({ length: STEPS }, () => {
    const path = Buffer.from(paths[next()] as string).toString('utf8');
    const dice = random();
    if (dice < 0.7) return ['read', path];
    if (dice < 0.85) return ['stat', path];
    if (dice < 0.95) return ['edit', path];
    return ['list', dirname(path)];
  });
}

/** What an agent does with a source tree. */
export const session: Work = {
  title: 'agent session on a source tree',
  unit: 'ns',
  passes: 3,
  fits: () => true,
  prepare: async (make) => {
    const subject = await make();
    const tree = sourceTree();
    const steps = stepsOf(await plant(subject, tree));
    const sizeOf = (path: string): number => tree.get(path.slice('/copy-0'.length))?.length ?? 0;
    let expected = 0;
    for (const [kind, path] of steps) if (kind === 'stat') expected += sizeOf(path);
    const edit = (bytes: Uint8Array, path: string): unknown => {
      if (bytes.length > 0) bytes[0] = (bytes[0] as number) ^ 1;
      return done(subject.write(path, bytes));
    };
    const step = ([kind, path]: Step): unknown => {
      if (kind === 'stat') return subject.size(path);
      if (kind === 'read') return done(subject.readText(path));
      if (kind === 'list') return done(subject.list(path));
      const bytes = subject.read(path);
      return bytes instanceof Promise ? bytes.then((read) => edit(read, path)) : edit(bytes, path);
    };
    return { operations: STEPS, run: () => sum(subject, STEPS, (i) => step(steps[i] as Step)), expected };
  },
};
