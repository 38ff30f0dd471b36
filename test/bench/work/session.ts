import { dirname } from 'node:path';
import { plant, seeded, sourceTree, zipf } from './source-tree.js';
import { done, sum, type Work } from './work.js';

const STEPS = 40_000;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Returns the name in a directory through which the path leads. */
const nameIn = (directory: string, path: string): string | undefined =>
  path.startsWith(`${directory}/`) ? path.slice(directory.length + 1).split('/')[0] : undefined;

type Step = readonly [kind: 'read' | 'stat' | 'edit' | 'list', path: string];

/**
 * Returns random steps: 70% reads, 15% stats, 10% edits (read a file, then write all of it back with a change), 5%
 * listings. A few files are used often, most of them rarely.
 */
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

/** An agent's operations on a source tree. */
export const session: Work = {
  title: 'agent session on a source tree',
  unit: 'ns',
  passes: 3,
  fits: () => true,
  prepare: async (make) => {
    const subject = await make();
    const tree = sourceTree();
    const planted = await plant(subject, tree);
    let steps = stepsOf(planted);
    const bytesOf = (path: string): Uint8Array => tree.get(path.slice('/copy-0'.length)) as Uint8Array;
    const listed = new Map<string, number>();
    const answers = {
      read: (path: string) => decoder.decode(bytesOf(path)).length,
      stat: (path: string) => bytesOf(path).length,
      edit: () => 0,
      list: (path: string) => {
        const known = listed.get(path) ?? new Set(planted.flatMap((one) => nameIn(path, one) ?? [])).size;
        listed.set(path, known);
        return known;
      },
    };
    const expected = steps.reduce((total, [kind, path]) => total + answers[kind](path), 0);
    // An edit keeps the length, also as text.
    const edit = (bytes: Uint8Array, path: string): unknown => {
      if ((bytes[0] ?? 128) < 128) bytes[0] = (bytes[0] as number) ^ 1;
      return done(subject.write(path, bytes));
    };
    const step = ([kind, path]: Step): unknown => {
      if (kind === 'stat') return subject.size(path);
      if (kind === 'read') return subject.readText(path);
      if (kind === 'list') return subject.list(path);
      const bytes = subject.read(path);
      return bytes instanceof Promise ? bytes.then((read) => edit(read, path)) : edit(bytes, path);
    };
    const renew = (): void => {
      steps = stepsOf(planted);
    };
    return { operations: STEPS, run: () => sum(subject, STEPS, (i) => step(steps[i] as Step)), expected, renew };
  },
};
