import type { SyncFileSystem } from 'scratchfs';
import { diff, formatDiff } from 'scratchfs/diff';
import { count } from '../figures.js';
import { appliesWithGit } from '../git-apply.js';
import { type Report, timed } from '../report.js';
import type { Attempt } from './attempts.js';
import { PLAN } from './work.js';

const SHOWN = 34;

/** Shows the agent's changes as a diff of two points in time, and the filesystem's usage. */
export async function changes(origin: SyncFileSystem, { fs, start, changed }: Attempt, report: Report): Promise<void> {
  const { terminal } = report;
  report.section('What has changed', 'A diff from the fork to now. It costs what has changed, not what there is.');
  await fs.editFile(PLAN, '- [ ] rename, and have it checked', '- [x] rename, and have it checked');
  const expected = [PLAN, ...changed].sort();

  const [found, diffMs] = await timed(() => diff(fs, start));
  const text = await formatDiff(fs, start);
  const lines = text.split('\n').slice(0, -1);
  const added = lines.filter((line) => /^\+(?!\+\+ )/.test(line)).length;
  const removed = lines.filter((line) => /^-(?!-- )/.test(line)).length;
  const amounts = `${terminal.green(`+${added}`)} ${terminal.red(`−${removed}`)}`;
  report.action('diff', count(found.changed.length, 'file'), amounts, diffMs);
  terminal.line();
  const colored = (await formatDiff(fs, start, undefined, { color: terminal.hasColor })).split('\n').slice(0, -1);
  for (const line of colored.slice(0, SHOWN)) report.note(line.replaceAll('\t', '    '));
  if (colored.length > SHOWN) report.note(terminal.dim(`… and ${count(colored.length - SHOWN, 'more line')}`));
  terminal.line();

  const paths = found.changed.map(({ path }) => path).sort();
  report.claim(
    'the diff names exactly the files that the agent wrote',
    found.added.length + found.removed.length === 0 && JSON.stringify(paths) === JSON.stringify(expected),
  );
  const applied = appliesWithGit(text, origin, fs, expected);
  if (applied === undefined) report.remark('without git nobody else can apply the diff here');
  else report.claim('git takes the diff as a patch, and makes the same files of it, byte for byte', applied);

  const stats = fs.statsSync();
  const share = (used: number, limit = 0) =>
    terminal.dim(`${((100 * used) / limit).toFixed(1).padStart(6)}% of the quota`);
  const row = (label: string, value: number, note = '') =>
    report.note(`${terminal.dim(label.padEnd(16))}${value.toLocaleString('en-US').padStart(14)}  ${note}`);
  terminal.line();
  row('bytes', stats.totalSize, share(stats.totalSize, fs.limits.maxTotalSize));
  row('entries', stats.nodeCount, share(stats.nodeCount, fs.limits.maxNodeCount));
  row('files', stats.fileCount);
  row('directories', stats.directoryCount);
  terminal.line();
  report.claim('the statistics are what a recount finds', JSON.stringify(stats) === JSON.stringify(recount(fs)));
  report.summarize('Diff', `${count(expected.length, 'file')}, +${added} −${removed}`, diffMs);
}

function recount(fs: SyncFileSystem) {
  const entries = [...fs.walkSync('/')];
  const directoryCount = entries.filter(({ isDirectory }) => isDirectory).length;
  const totalSize = entries.reduce((total, { size }) => total + size, 0);
  return { totalSize, fileCount: entries.length - directoryCount, directoryCount, nodeCount: entries.length };
}
