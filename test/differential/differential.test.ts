import { ALL_OPERATIONS } from '@scratchfs/testkit';
import { createFileSystem } from 'scratchfs';
import { describe, expect, it } from 'vitest';
import { campaign, printReport } from './campaign.js';
import { compareForms, openAsync } from './forms.js';
import { PLANTED_BUGS, withBug } from './planted-bugs.js';
import { SyncSubject, type Ticks } from './subject.js';

const SEED = 20_261_121;
const OPERATIONS = 50_000;

const open = (ticks: Ticks) => new SyncSubject(createFileSystem({ clock: ticks.clock }), ticks);

describe('scratchfs compared with node:fs in a host folder', () => {
  it('differs only where intended, on every kind of target', { timeout: 600_000 }, () => {
    const report = campaign({ seed: SEED, operations: OPERATIONS, open });
    console.log(printReport(report));
    expect(report.found.map(({ text }) => text)).toEqual([]);
    expect(report.operations).toBe(OPERATIONS);
    expect(report.succeeded / report.operations).toBeGreaterThanOrEqual(0.4);
    expect(report.rarest[0]?.count, report.rarest[0]?.name).toBeGreaterThanOrEqual(20);
    for (const [row, count] of report.excused) expect(count, `operations excused by "${row}"`).toBeGreaterThan(0);
  });

  it('runs the same operations for the same seed', () => {
    const [first, second] = [1, 2].map(() => campaign({ seed: 5, operations: 3_000, open, shrink: false }));
    expect(second?.hashes).toBe(first?.hashes);
    expect(second?.rarest).toEqual(first?.rarest);
  });
});

describe('the comparison finds an engine with a planted bug', () => {
  it.each(PLANTED_BUGS.map((bug) => [bug.name, bug] as const))('%s', (_, bug) => {
    const buggy = (ticks: Ticks) => new SyncSubject(withBug(createFileSystem({ clock: ticks.clock }), bug), ticks);
    const report = campaign({ seed: SEED, operations: 20_000, open: buggy, shrink: false });
    expect(report.found).toHaveLength(1);
  });

  it('shows the difference in a few lines of code', () => {
    const bug = PLANTED_BUGS.find(({ name }) => name === 'mkdir -p over a file succeeds');
    if (bug === undefined) throw new Error('The bug is not planted any more');
    const buggy = (ticks: Ticks) => new SyncSubject(withBug(createFileSystem({ clock: ticks.clock }), bug), ticks);
    const [found] = campaign({ seed: SEED, operations: 20_000, open: buggy }).found;
    expect(found?.steps.length).toBeLessThanOrEqual(4);
    expect(found?.text).toContain('const fs = createFileSystem();');
    expect(found?.text).toContain('// node:fs:   EEXIST mkdir');
  });
});

describe('forms of one filesystem', () => {
  const openSync = (clock: () => number) => createFileSystem({ clock });

  it('promise methods equal …Sync methods, times and counters included', {
    timeout: 600_000,
  }, async () => {
    const report = await compareForms(SEED, 5_000, { operations: ALL_OPERATIONS, openSync, open: openSync });
    expect(report.difference).toBeUndefined();
    expect(report.operations).toBe(5_000);
  });

  it('the remote engine over the async form of memory equals memory, too', async () => {
    const report = await compareForms(SEED, 5_000, { operations: ALL_OPERATIONS, openSync, open: openAsync });
    expect(report.difference).toBeUndefined();
    expect(report.operations).toBe(5_000);
  });
});
