import type { createFileSystem } from 'scratchfs';
import { bytes, count, duration } from '../figures.js';
import { hashOf, load } from '../load.js';
import { type Report, timed } from '../report.js';
import { findSourceTree, type SourceFile } from '../source-tree.js';
import type { Stage } from '../stage.js';
import { printable } from '../terminal.js';

/** Bytes that the agent gets in addition to its files. */
const ROOM = 2_000_000;
const MORE_ENTRIES = 200;
const MAX_FILE_SIZE = 32_000_000;

/** Reads a source tree from the disk into a filesystem with a quota. */
export async function arrive(folder: string, report: Report, create: typeof createFileSystem): Promise<Stage> {
  report.section('A source tree moves into memory', printable(folder));
  const tree = await findSourceTree(folder);
  if (tree.files.length === 0) throw new Error(`There are no files in ${folder}`);
  const limits = {
    maxTotalSize: Math.ceil((tree.totalSize + ROOM) / 1_000_000) * 1_000_000,
    maxNodeCount: tree.files.length + countDirectories(tree.files) + MORE_ENTRIES,
    maxFileSize: MAX_FILE_SIZE,
    maxCheckpoints: 8,
  };
  // The clock is given, so that the same tree and the same steps give the same bytes.
  let now = Date.UTC(2026, 0, 1);
  const fs = create({ limits, clock: () => now++ });

  const [loaded, ms] = await timed(() =>
    load(tree, fs, (done) => {
      report.terminal.progress(done, tree.files.length, count(done, 'file'));
    }),
  );
  const { files, size, hash } = loaded;
  const leftOut = [...tree.leftOut, ...loaded.leftOut];
  const directories = countDirectories(files);
  const stats = fs.statsSync();
  report.action('load', `${count(stats.fileCount, 'file')} by ${tree.foundBy}`, bytes(size), ms);
  report.action(
    'quota',
    'what the agent may fill',
    `${bytes(limits.maxTotalSize)}, ${count(limits.maxNodeCount, 'entry', 'entries')}`,
  );
  for (const one of leftOut.slice(0, 3)) report.remark(`left out ${printable(one)}`);
  if (leftOut.length > 3) report.remark(`… and ${leftOut.length - 3} more`);

  const isComplete =
    stats.fileCount === files.length && stats.directoryCount === directories && stats.totalSize === size;
  report.claim(
    `${count(stats.fileCount, 'file')} and ${count(stats.directoryCount, 'directory', 'directories')} are there, ${bytes(stats.totalSize)}`,
    isComplete,
  );
  report.claim('every byte, link and permission is what the disk says (SHA-256)', hashOf(files, fs) === hash);
  const each = duration(ms / Math.max(1, files.length));
  report.summarize('Loaded', `${count(stats.nodeCount, 'entry', 'entries')}, ${bytes(size)}, ${each} a file`, ms);
  return { report, tree, fs };
}

function countDirectories(files: readonly SourceFile[]): number {
  const directories = new Set<string>();
  for (const { path } of files) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
      directories.add(path.slice(0, end));
  }
  return directories.size;
}
