import type { Checkpoint } from '@scratchfs/core';
import { diff, formatDiff } from '@scratchfs/core/diff';
import { createSnapshot, createSnapshotSync, restoreSnapshot } from '@scratchfs/core/snapshot';
import { createFileSystem } from 'scratchfs';
import { packTar, unpackTar } from 'scratchfs/tar';
import { expect, test } from 'vitest';
import { expectTurns } from './event-loop.js';

const long = 'líne of téxt ☃\n'.repeat(880_000);
const big = new Uint8Array(16 * 2 ** 20).fill(3);

const fs = createFileSystem({
  files: (function* () {
    for (let i = 0; i < 100_000; i++) yield [`/t/${i % 300}/f${i}`, 'x'] as const;
    yield ['/big', big] as const;
    yield ['/text', 'line of text\n'.repeat(1_290_000)] as const;
    yield ['/umlauts', long] as const;
    yield ['/edited', `${'line of text\n'.repeat(1_290_000)}the end\n`] as const;
  })(),
});

const history = createFileSystem({
  files: (function* () {
    for (let i = 0; i < 100_000; i++) yield [`/${i % 300}/f${i}`, 'x'] as const;
  })(),
});
const before = history.checkpointSync();
for (let i = 0; i < 100_000; i++) history.writeFileSync(`/${i % 300}/f${i}`, 'y');
const after = history.checkpointSync();
for (const name of history.readdirSync('/')) history.rmSync(`/${name}`, { recursive: true });

/** Texts of 16 MB, each with another kind of change. */
const LINES = 500_000;
const linesOf = (line: (i: number) => string): string => Array.from({ length: LINES }, (_, i) => line(i)).join('\n');
const TEXTS: Readonly<Record<string, (i: number) => string>> = {
  'every other line': (i) => (i % 2 === 0 ? `line number ${i} of the text` : `line ${i} is not what it was`),
  'every line': (i) => `LINE number ${i} of the text`,
  'the order of lines': (i) => `line number ${(i * 7919) % LINES} of the text`,
};
const texts = createFileSystem({ files: { '/text': linesOf((i) => `line number ${i} of the text`) } });
const original = texts.checkpointSync();
const rewritten = Object.entries(TEXTS).map(([name, line]) => {
  texts.writeFileSync('/text', linesOf(line));
  return [name, texts.checkpointSync()] as const;
});
const [longBefore, longAfter] = ['a', 'b'].map((letter) => {
  texts.writeFileSync('/text', letter.repeat(2 ** 24));
  return texts.checkpointSync();
}) as [Checkpoint, Checkpoint];

/** Fewer files for packing, which only takes longer with more. */
const fewer = createFileSystem({
  files: (function* () {
    for (let i = 0; i < 5000; i++) yield [`/${i % 300}/f${i}`, 'x'] as const;
  })(),
});

const snapshot = createSnapshotSync(fs);

const OPERATIONS: Readonly<Record<string, () => Promise<unknown>>> = {
  'walk of 100,000': async () => {
    let count = 0;
    for await (const _ of fs.walk('/t')) count += 1;
    expect(count).toBe(100_300);
  },
  stats: () => fs.stats(),
  'checkpoint and rollback': async () => fs.rollback(await fs.checkpoint()),
  'cp -r of 100,000': () => fs.cp('/t', '/copy', { recursive: true }),
  'rename of 100,000': () => fs.rename('/copy', '/moved'),
  'rm -r of 100,000': () => fs.rm('/moved', { recursive: true }),
  fork: async () => (await fs.fork()).close(),
  'read of 16 MB': () => fs.readFile('/big'),
  'write of 16 MB': () => fs.writeFile('/big', big),
  'append to 16 MB': () => fs.appendFile('/big', 'x'),
  'copyFile of 16 MB': () => fs.copyFile('/big', '/big2'),
  'edit of 16 MB': () => fs.editFile('/edited', 'the end', 'the end'),
  'edit of every line of 16 MB': () => fs.editFile('/edited', 'line of', 'line of', { all: true }),
  'text of 16 MB': () => fs.readText('/text'),
  'text of 16 MB that is not ASCII': () => fs.readText('/umlauts'),
  'lines of 16 MB': async () => expect((await fs.readLines('/text')).length).toBe(1_290_000),
  'text of 16 MB, written': () => fs.writeFile('/written', long),
  'snapshot of 100,000': () => createSnapshot(fs),
  'restore of 100,000': () => restoreSnapshot(createFileSystem(), snapshot),
  'diff of 100,000 changes': async () => expect((await diff(history, before, after)).changed.length).toBe(100_000),
  'diff of 100,000 removals': async () => expect((await diff(history, after)).removed.length).toBe(100_300),
  'text of 100,000 changes': async () => expect((await formatDiff(history, before, after)).length).toBeGreaterThan(1e7),
  ...Object.fromEntries(
    rewritten.map(([name, changed]) => [
      `text of 16 MB with ${name} changed`,
      async () => expect((await formatDiff(texts, original, changed)).length).toBeGreaterThan(1e7),
    ]),
  ),
  'text of one line of 16 MB that changed': async () =>
    expect((await formatDiff(texts, longBefore, longAfter)).length).toBeGreaterThan(2 ** 25),
  'tar of 5,000 and back': () => unpackTar(createFileSystem(), packTar(fewer)),
};

for (const [name, work] of Object.entries(OPERATIONS)) {
  test(`${name} never holds the event loop for 50 ms of CPU`, async () => {
    await expectTurns(work, async () => {
      if (name.startsWith('rename')) await fs.cp('/t', '/copy', { recursive: true, force: true });
      if (name.startsWith('rm')) await fs.cp('/t', '/moved', { recursive: true });
      if (name.startsWith('cp') || name.startsWith('rename'))
        await fs.rm(name.startsWith('cp') ? '/copy' : '/moved', { recursive: true, force: true });
    });
  }, 600_000);
}
