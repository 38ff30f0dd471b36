import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { type Triple, triples } from '../testing/sample-triples.js';
import { mergeText } from './merge-text.js';

const folder = mkdtempSync(join(tmpdir(), 'merge-text-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (data: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(data);

/** Merges all triples in git, as files of three commits. Returns the texts and the numbers of those in conflict. */
function mergedByGit(cases: readonly Triple[]): { texts: string[]; conflicts: Set<number> } {
  const git = (args: string[], input?: string): Buffer =>
    spawnSync('git', args, { cwd: folder, env, input, maxBuffer: 2 ** 30 }).stdout;
  git(['init', '-q', '-b', 'main']);
  const commits: string[] = ['feature done'];
  const dump = (mark: number, from: number | undefined, side: keyof Triple): void => {
    const branch = side === 'base' ? 'base' : side;
    commits.push(
      `commit refs/heads/${branch}\nmark :${mark}\ncommitter A <a@b> ${1_700_000_000 + mark} +0000\ndata 1\nx`,
    );
    if (from !== undefined) commits.push(`from :${from}`);
    for (const [i, triple] of cases.entries())
      commits.push(`M 100644 inline f${i}\ndata ${bytes(triple[side]).length}\n${triple[side]}`);
  };
  dump(1, undefined, 'base');
  dump(2, 1, 'ours');
  dump(3, 1, 'theirs');
  commits.push('done\n');
  git(['fast-import', '--quiet', '--force'], commits.join('\n'));
  const merged = git([
    '-c',
    'merge.renames=false',
    'merge-tree',
    '--write-tree',
    '--name-only',
    '--no-messages',
    '-z',
    'ours',
    'theirs',
  ]);
  const [tree = '', ...names] = merged
    .toString('utf8')
    .split('\0')
    .filter((part) => part !== '');
  const listed = git(['ls-tree', tree]).toString('utf8').trim().split('\n');
  const ids = new Map(listed.map((line) => [line.split('\t')[1] as string, line.split(/\s/)[2] as string]));
  const wanted = cases.map((_, i) => ids.get(`f${i}`) as string);
  const out = git(['cat-file', '--batch'], `${wanted.join('\n')}\n`);
  const texts: string[] = [];
  for (let at = 0; at < out.length; ) {
    const end = out.indexOf(10, at);
    const size = Number(out.subarray(at, end).toString().split(' ')[2]);
    texts.push(out.subarray(end + 1, end + 1 + size).toString('utf8'));
    at = end + 2 + size;
  }
  return { texts, conflicts: new Set(names.map((name) => Number(name.slice(1)))) };
}

/** Counts the triples for which git and `mergeText` disagree, and those in conflict. */
function compareWithGit(cases: readonly Triple[]): {
  otherVerdict: number;
  otherBytes: number;
  conflicts: Set<number>;
} {
  const { texts, conflicts } = mergedByGit(cases);
  let otherVerdict = 0;
  let otherBytes = 0;
  for (const [i, { base, ours, theirs }] of cases.entries()) {
    const merged = mergeText(bytes(base), bytes(ours), bytes(theirs), { labels: { ours: 'ours', theirs: 'theirs' } });
    if (merged.conflicts > 0 !== conflicts.has(i)) otherVerdict += 1;
    else if (text(merged.bytes) !== texts[i]) otherBytes += 1;
  }
  return { otherVerdict, otherBytes, conflicts };
}

describe('mergeText()', () => {
  it.each([64, 65, 66])('agrees with git merge on two lines that each occur %i times', (count) => {
    const base = Array.from({ length: count }, () => ['p', 'q']).flat();
    const edit = fc.tuple(fc.nat(2 * count - 1), fc.nat(3), fc.array(fc.constantFrom('x', 'y'), { maxLength: 1 }));
    const side = fc.array(edit, { minLength: 1, maxLength: 3 }).map((edits) => {
      const lines = [...base];
      for (const [at, removed, added] of edits) lines.splice(at, removed, ...added);
      return `${lines.join('\n')}\n`;
    });
    const triple = fc.record({ base: fc.constant(`${base.join('\n')}\n`), ours: side, theirs: side });
    expect(compareWithGit(fc.sample(triple, { numRuns: 200, seed: 3 }))).toMatchObject({
      otherVerdict: 0,
      otherBytes: 0,
    });
  });

  it('agrees with git merge on generated triples, byte for byte', () => {
    const cases = fc.sample(triples, { numRuns: Number(process.env.MERGES ?? 3_000), seed: 7 });
    const { conflicts, ...others } = compareWithGit(cases);
    expect(others).toEqual({ otherVerdict: 0, otherBytes: 0 });
    expect(conflicts.size).toBeGreaterThan(cases.length / 10);
    expect(conflicts.size).toBeLessThan(cases.length * 0.9);
  });

  it('agrees with git merge-file on generated triples', () => {
    const cases = fc.sample(triples, { numRuns: Number(process.env.MERGE_FILES ?? 150), seed: 11 });
    for (const triple of cases) {
      for (const side of ['base', 'ours', 'theirs'] as const) writeFileSync(join(folder, side), triple[side]);
      const { status, stdout } = spawnSync('git', ['merge-file', '-p', '-q', 'ours', 'base', 'theirs'], {
        cwd: folder,
        env,
      });
      const merged = mergeText(bytes(triple.base), bytes(triple.ours), bytes(triple.theirs), {
        algorithm: 'myers',
        joinAcrossPunctuation: true,
      });
      expect({ status: Math.min(merged.conflicts, 127), text: text(merged.bytes) }).toEqual({
        status,
        text: stdout.toString('utf8'),
      });
    }
  });

  it('takes one side, or both, on request', () => {
    const [base, ours, theirs] = ['a\nb\nc\n', 'a\nX\nc\n', 'a\nY\nc\n'].map(bytes) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    const favored = (favor: 'ours' | 'theirs' | 'union'): string =>
      text(mergeText(base, ours, theirs, { favor }).bytes);
    expect(favored('ours')).toBe('a\nX\nc\n');
    expect(favored('theirs')).toBe('a\nY\nc\n');
    expect(favored('union')).toBe('a\nX\nY\nc\n');
  });
});
