import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AttemptChange } from '../accept/attempt-change.js';
import type { EntryState } from '../operation.js';
import { MemoryContents } from '../testing/two-states.js';
import { applyHunks, textDiff } from './hunks.js';
import { pathDiffs } from './path-diffs.js';

const contents = new MemoryContents();
const file = async (text: string | Uint8Array, mode = 0o644): Promise<EntryState> => {
  const content = Buffer.from(text as string);
  return { kind: 'file', mode, size: content.length, hash: await contents.write(content) };
};
const link = (target: string): EntryState => ({ kind: 'symlink', mode: 0o777, size: target.length, target });
const directory: EntryState = { kind: 'directory', mode: 0o755, size: 0 };

const diffOf = async (change: Omit<AttemptChange, 'path'>) =>
  (await pathDiffs([{ path: '/p', ...change }], contents, { hunks: true }))[0];

describe('pathDiffs()', () => {
  it('returns hunks with their lines and counts', async () => {
    const diff = await diffOf({ base: await file('a\nb\nc\n'), now: await file('a\nB\nc') });
    expect(diff).toMatchObject({ type: 'changed', binary: false, additions: 2, deletions: 2 });
    expect(diff?.hunks).toEqual([
      {
        id: expect.stringMatching(/^[\da-f]{10}-1$/),
        oldStart: 1,
        oldLines: 3,
        newStart: 1,
        newLines: 3,
        lines: [' a', '-b', '-c', '+B', '+c', '\\ No newline at end of file'],
      },
    ]);
  });

  it('keeps the ids of hunks as long as both sides stay, and gives others otherwise', async () => {
    const [base, now] = [await file('a\n'), await file('b\n')];
    const idOf = async (change: Omit<AttemptChange, 'path'>) => (await diffOf(change))?.hunks[0]?.id;
    expect(await idOf({ base, now })).toBe(await idOf({ base, now: { ...now, mode: 0o755 } }));
    expect(await idOf({ base, now })).not.toBe(await idOf({ base, now: await file('c\n') }));
    expect(await idOf({ base, now })).not.toBe(await idOf({ base: await file('c\n'), now }));
  });

  it('reports binary contents, links, directories and modes without hunks', async () => {
    const text = await file('a\n');
    expect(await diffOf({ base: text, now: await file('a\0') })).toMatchObject({ binary: true, hunks: [] });
    expect(await diffOf({ base: text, now: await file(Uint8Array.of(255)) })).toMatchObject({ binary: true });
    expect(await diffOf({ base: link('a'), now: link('b') })).toMatchObject({ type: 'changed', hunks: [] });
    expect(await diffOf({ base: null, now: directory })).toMatchObject({ type: 'added', binary: false });
    const mode = await diffOf({ base: text, now: { ...text, mode: 0o755 } });
    expect(mode).toMatchObject({ type: 'changed', additions: 0, deletions: 0, hunks: [] });
  });

  it('counts the lines of added and removed files, and leaves out hunks unless asked', async () => {
    const [diff] = await pathDiffs([{ path: '/p', base: null, now: await file('a\nb') }], contents);
    expect(diff).toMatchObject({ type: 'added', additions: 2, deletions: 0, hunks: [] });
    expect(await diffOf({ base: await file('a\nb'), now: null })).toMatchObject({ type: 'removed', deletions: 2 });
  });

  it('returns a move as one difference, compared with the old path', async () => {
    const [base, now] = [await file('a\nb\n'), await file('a\nc\n')];
    const move = { path: '/new', from: '/old', base: null, now };
    const diffs = await pathDiffs([move, { path: '/old', base, now: null }], contents, { hunks: true });
    expect(diffs).toMatchObject([
      { path: '/new', type: 'moved', from: '/old', before: base, after: now, additions: 1 },
    ]);
    const kept = await pathDiffs([move, { path: '/old', base, now: await file('other') }], contents);
    expect(kept.map(({ path, type }) => [path, type])).toEqual([
      ['/new', 'added'],
      ['/old', 'changed'],
    ]);
  });
});

describe('applyHunks()', () => {
  const line = fc.constantFrom(
    'a\n',
    'b\n',
    'c\r\n',
    '\n',
    '@@ -1 +1 @@\n',
    '-x\n',
    'ü\n',
    '\\ No newline at end of file\n',
  );
  const text = fc
    .tuple(fc.array(line, { maxLength: 60 }), fc.constantFrom('', 'end'))
    .map(([lines, end]) => Buffer.from(lines.join('') + end));
  const edits = fc.array(fc.tuple(fc.nat(60), fc.nat(3), fc.array(line, { maxLength: 3 })), { maxLength: 6 });

  it('of all hunks gives the new text, of none the old one, and of some a text from which the rest leads to the new one', () => {
    fc.assert(
      fc.property(text, edits, fc.infiniteStream(fc.boolean()), (before, changes, choice) => {
        const lines = before.toString().split(/(?<=\n)/);
        for (const [at, count, added] of changes) lines.splice(at, count, ...added);
        const after = Buffer.from(lines.join(''));
        const hunks = textDiff(before, after, 'x')?.hunks ?? [];
        expect(Buffer.from(applyHunks(before, after, hunks))).toEqual(after);
        expect(Buffer.from(applyHunks(before, after, []))).toEqual(before);
        const some = hunks.filter(() => choice.next().value);
        const partial = applyHunks(before, after, some);
        // The hunks that are left lead from the partial text to the new one.
        const rest = textDiff(partial, after, 'x')?.hunks ?? [];
        expect(Buffer.from(applyHunks(partial, after, rest))).toEqual(after);
      }),
      { numRuns: 100 },
    );
  });
});
