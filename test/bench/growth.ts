import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { SyncFileSystem } from '@scratchfs/core';
import { createFileSystem } from 'scratchfs';
import { type Panel, plot } from './plot.js';
import { content } from './work/layout.js';

/**
 * `npm run bench -- growth picture.svg`: draws the cost of single operations against the size of the tree. The figure
 * is the CPU time of this process; each point is the median of five runs of at least 20 ms. `--only text` selects
 * panels. With `--keep file`, panels that the file already has are not measured again, so a picture can be made in
 * several runs.
 */

type Operation = (fs: SyncFileSystem, index: number) => unknown;

interface Axis {
  readonly title: string;
  readonly sizes: readonly number[];
  readonly make: (size: number) => SyncFileSystem;
  readonly operations: (size: number) => Readonly<Record<string, Operation>>;
}

const SMALL = content(200);
const BLOCK = content(4096);
const KB = content(1024);

function tree(files: number, directories: number): SyncFileSystem {
  const fs = createFileSystem();
  for (let i = 0; i < directories; i++) fs.mkdirSync(`/t/d${i}`, { recursive: true });
  for (let i = 0; i < files; i++) fs.writeFileSync(`/t/d${i % directories}/f${i}`, SMALL);
  return fs;
}

/** Creates and removes a name, so that the size stays constant. */
const createAndUnlink =
  (directory: string): Operation =>
  (fs) => {
    fs.writeFileSync(`${directory}/new`, SMALL);
    fs.unlinkSync(`${directory}/new`);
  };

const checkpointAndDrop: Operation = (fs) => fs.dropSync(fs.checkpointSync());

const AXES: readonly Axis[] = [
  {
    title: 'files in the tree',
    sizes: [1_000, 10_000, 100_000, 1_000_000],
    make: (files) => tree(files, files / 100),
    operations: (files) => {
      const path = (index: number): string => {
        const file = (index * 7919) % files;
        return `/t/d${file % (files / 100)}/f${file}`;
      };
      return {
        stat: (fs, index) => fs.statSync(path(index)),
        'read 200 B': (fs, index) => fs.readFileSync(path(index)),
        'overwrite 200 B': (fs, index) => fs.writeFileSync(path(index), SMALL),
        'create and unlink': createAndUnlink('/t/d0'),
        'rename of the whole tree, twice': (fs) => {
          fs.renameSync('/t', '/u');
          fs.renameSync('/u', '/t');
        },
        'cp -r of the whole tree, and rm -r': (fs) => {
          fs.cpSync('/t', '/u', { recursive: true });
          fs.rmSync('/u', { recursive: true });
        },
        'checkpoint and drop': checkpointAndDrop,
        'checkpoint, a write, rollback': (fs, index) => {
          const before = fs.checkpointSync();
          fs.writeFileSync(path(index), SMALL);
          fs.rollbackSync(before);
          fs.dropSync(before);
        },
        'fork and a write': (fs, index) => fs.forkSync().writeFileSync(path(index), SMALL),
      };
    },
  },
  {
    title: 'entries of the directory',
    sizes: [10, 100, 1_000, 10_000, 100_000],
    make: (entries) => tree(entries, 1),
    operations: (entries) => ({
      stat: (fs, index) => fs.statSync(`/t/d0/f${(index * 7919) % entries}`),
      'create and unlink': createAndUnlink('/t/d0'),
      'create after a checkpoint, and unlink': (fs) => {
        const before = fs.checkpointSync();
        createAndUnlink('/t/d0')(fs, 0);
        fs.dropSync(before);
      },
    }),
  },
  {
    title: 'directories above',
    sizes: [1, 10, 100, 500],
    make: (depth) => createFileSystem({ files: { [`${'/d'.repeat(depth)}/file`]: SMALL } }),
    operations: (depth) => {
      const directory = '/d'.repeat(depth);
      return {
        stat: (fs) => fs.statSync(`${directory}/file`),
        'overwrite 200 B': (fs) => fs.writeFileSync(`${directory}/file`, SMALL),
        'create and unlink': createAndUnlink(directory),
        'overwrite after a checkpoint': (fs) => {
          const before = fs.checkpointSync();
          fs.writeFileSync(`${directory}/file`, SMALL);
          fs.dropSync(before);
        },
      };
    },
  },
  {
    title: 'checkpoints held',
    sizes: [1, 100, 10_000],
    make: (checkpoints) => {
      const fs = tree(10_000, 100);
      for (let i = 0; i < checkpoints; i++) {
        fs.writeFileSync('/t/d0/f0', SMALL);
        fs.checkpointSync();
      }
      return fs;
    },
    operations: () => ({
      'read 200 B': (fs, index) => fs.readFileSync(`/t/d${index % 100}/f${index % 100}`),
      'overwrite 200 B': (fs, index) => fs.writeFileSync(`/t/d${index % 100}/f${index % 100}`, SMALL),
      'checkpoint and drop': checkpointAndDrop,
    }),
  },
  {
    title: 'bytes of the file',
    sizes: [1_024, 65_536, 1_048_576, 67_108_864],
    make: (bytes) => createFileSystem({ files: { '/f': content(bytes) } }),
    operations: (bytes) => ({
      'append 1 KB, and truncate': (fs) => {
        fs.appendFileSync('/f', KB);
        fs.truncateSync('/f', bytes);
      },
      'write 4 KB at a place': (fs, index) => {
        const handle = fs.openSync('/f', 'r+');
        handle.writeSync(BLOCK, bytes <= BLOCK.length ? 0 : ((index * 7919) % (bytes / BLOCK.length)) * BLOCK.length);
        handle.closeSync();
      },
      copyFile: (fs) => fs.copyFileSync('/f', '/g'),
      'write 4 KB after a checkpoint': (fs) => {
        const before = fs.checkpointSync();
        const handle = fs.openSync('/f', 'r+');
        handle.writeSync(BLOCK, 0);
        handle.closeSync();
        fs.dropSync(before);
      },
    }),
  },
];

const { values, positionals } = parseArgs({
  options: { only: { type: 'string', default: '' }, keep: { type: 'string' } },
  allowPositionals: true,
});

/** Points of each line, by the panel's title and the line's name. */
type Kept = Record<string, Record<string, [size: number, microseconds: number][]>>;

const kept: Kept =
  values.keep !== undefined && existsSync(values.keep) ? JSON.parse(readFileSync(values.keep, 'utf8')) : {};

for (const axis of AXES) {
  if (!axis.title.includes(values.only) || axis.title in kept) continue;
  kept[axis.title] = measure(axis);
  if (values.keep !== undefined) writeFileSync(values.keep, JSON.stringify(kept));
}

const [file] = positionals;
const today = new Date().toISOString().slice(0, 10);
const panels: Panel[] = AXES.flatMap(({ title }) => {
  const lines = kept[title];
  return lines === undefined ? [] : [{ title, lines: new Map(Object.entries(lines)) }];
});
if (file !== undefined)
  writeFileSync(
    file,
    plot(panels, `CPU time of an operation, in microseconds; ${today}, Node ${process.versions.node}`),
  );

function measure({ title, sizes, make, operations }: Axis): Kept[string] {
  const lines: Kept[string] = {};
  for (const size of sizes) {
    const fs = make(size);
    for (const [name, operation] of Object.entries(operations(size))) {
      const cost = costOf((index) => operation(fs, index));
      lines[name] = [...(lines[name] ?? []), [size, cost]];
      console.log(`${title} ${size.toLocaleString('en')}: ${name} ${cost.toFixed(2)} µs`);
    }
  }
  return lines;
}

/** Returns microseconds of CPU per operation. */
function costOf(operation: (index: number) => unknown): number {
  let count = 1;
  while (timed(count, operation) < 20_000) count *= 2;
  const costs = Array.from({ length: 5 }, () => timed(count, operation) / count).sort((a, b) => a - b);
  return costs[2] as number;
}

function timed(count: number, operation: (index: number) => unknown): number {
  const before = process.cpuUsage();
  for (let i = 0; i < count; i++) operation(i);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
