import { Sandbox } from '@scratchfs/sandbox';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFileTools } from '../file-tools.js';
import { asyncMemory, memory, STORAGES, whole } from '../testing/sandboxes.js';

const startTimer = globalThis.setTimeout;

/** Replaces the timer that ends the counting, so that the test does not depend on the machine's speed. */
function withCountingTime(start: (end: () => void) => void): void {
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, ms?: number) =>
    ms === 2_000 ? start(work) : startTimer(work, ms)) as typeof setTimeout);
}

beforeEach(() => withCountingTime(() => {}));
afterEach(() => vi.restoreAllMocks());

const lineOf = (text: string, at: number): string => text.split('\n').at(at) as string;

describe.each(STORAGES)('the totals of grep on %s', (_, create) => {
  const grep = async (files: Record<string, string>, input: object): Promise<string> => {
    const { call } = createFileTools(whole(await create(files)));
    return (await call('grep', input)).text;
  };

  it('are exact for some thousands of matches', async () => {
    const files = { '/a': 'x\n'.repeat(2_000), '/b': 'x\n'.repeat(3_000), '/c': 'y\n' };
    for (const literal of [true, false]) {
      const text = await grep(files, { pattern: 'x', literal });
      expect(text.split('\n')).toHaveLength(101);
      expect(lineOf(text, -1)).toBe('[matches 1 to 100 of 5000. To go on, call grep with offset 100.]');
    }
    const last = await grep(files, { pattern: 'x', offset: 4_990 });
    expect(last.split('\n')).toEqual(Array.from({ length: 10 }, (_, i) => `/b:${2_991 + i}: x`));
    expect(await grep(files, { pattern: 'x', offset: 5_000 })).toBe(
      '[There are 5000 matches: offset 5000 is past the last.]',
    );
  });

  it('are called a lower bound if the counting ends early', async () => {
    const files = { '/a': 'x\n'.repeat(12_000) };
    expect(lineOf(await grep(files, { pattern: 'x' }), -1)).toBe(
      '[matches 1 to 100 of at least 10000. To go on, call grep with offset 100.]',
    );
    expect(lineOf(await grep(files, { pattern: 'x', offset: 11_000, limit: 500 }), -1)).toBe(
      '[matches 11001 to 11500 of at least 11501. To go on, call grep with offset 11500.]',
    );
    expect(await grep(files, { pattern: 'x', offset: 13_000 })).toBe(
      '[There are 12000 matches: offset 13000 is past the last.]',
    );
  });
});

describe('grep', () => {
  it('counts on only for a while after the page is full', async () => {
    withCountingTime((end) => end());
    const { call } = createFileTools(whole(memory({ '/a': 'x\n'.repeat(5_000) })));
    const { text } = await call('grep', { pattern: 'x' });
    expect(text).toMatch(/\n\[matches 1 to 100 of at least \d+\. To go on, call grep with offset 100\.\]$/);
  });

  it('says that nothing was found so far if the search was stopped', async () => {
    const files = { '/lines': `${'a'.repeat(50)}\n`.repeat(20_000) };
    const { call } = createFileTools(whole(memory(files)));
    const { text } = await call('grep', { pattern: '[ab]{1,400}[cd]' });
    expect(text).toMatch(/^No matches so far\.\n\[The search was stopped/);
  });

  it('says so too in a sandbox that hides something, which replaces the errors below it', async () => {
    const files = { '/lines': `${'a'.repeat(50)}\n`.repeat(20_000) };
    const { call } = createFileTools(new Sandbox(await asyncMemory(files), { root: { root: '/' }, deny: ['**/.env'] }));
    const { text } = await call('grep', { pattern: '[ab]{1,400}[cd]' });
    expect(text).toMatch(/^No matches so far\.\n\[The search was stopped/);
  });

  it.each([
    ['plain', 10],
    ['PLAIN', 10],
  ])('searches text that is no expression as text: %s', async (pattern, count) => {
    const files = { '/lines': `${`${'a'.repeat(4_000)} plain`.repeat(8)}\n`.repeat(count) };
    const { call } = createFileTools(whole(memory(files)));
    const { text, structured } = await call('grep', { pattern, ignore_case: true, path: '/lines' });
    // A search for an expression would look only at the beginning of each line.
    expect(structured).toMatchObject({ total: count });
    expect(text).not.toContain('characters were searched');
  });

  it('of a file with a wrong suffix is the same whether it exists or not', async () => {
    const texts = await Promise.all(
      [memory({ '/d/x.exe': 'x' }), memory({ '/d/a.md': 'x' })].map(async (fileSystem) => {
        const sandbox = new Sandbox(fileSystem, { root: { root: '/', suffixes: ['.md'] } });
        return (await createFileTools(sandbox).call('grep', { pattern: 'x', path: '/d/x.exe' })).text;
      }),
    );
    expect(texts[0]).toContain("ENOENT: no such file or directory, grep '/d/x.exe'");
    expect(texts[1]).toBe(texts[0]);
  });

  it('still rejects if the call is aborted', async () => {
    const { call } = createFileTools(whole(memory({ '/a': 'x\n' })));
    const reason = new Error('enough');
    await expect(call('grep', { pattern: 'x' }, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe('diff', () => {
  it('does not give the lines of a diff that was cut as all lines', async () => {
    const fileSystem = memory({ '/a': '' });
    const { call } = createFileTools(whole(fileSystem), { approve: () => true });
    await call('checkpoint', { name: 'before' });
    fileSystem.writeFileSync('/a', `${'x'.repeat(999)}\n`.repeat(3_000));
    expect(lineOf((await call('diff', { from: 'before', limit: 10 })).text, -1)).toMatch(
      /^\[lines 1 to 10 of at least \d+\. To go on, call diff with offset 10\.\]$/,
    );
  });
});
