import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HostHistory } from '@scratchfs/host';
import { createFileSystem, type SyncFileSystem } from 'scratchfs';
import { count } from '../figures.js';
import { type Report, timed } from '../report.js';
import { printable } from '../terminal.js';

/** Lines of a diff that are shown. */
const SHOWN = 16;
const NOTES = 'scratchfs-demo.md';

/**
 * Takes the HEAD of the tree's repository as a version, commits accepted steps on it, merges two attempts, and merges
 * the result back into a clone of the repository, which stands for the user's own. Does nothing for a tree that is not
 * the top of a git repository with a commit.
 */
export async function versions(folder: string, report: Report): Promise<void> {
  const head = gitIn(folder, 'rev-parse', 'HEAD^{commit}');
  const isWhole = gitIn(folder, 'rev-parse', '--show-prefix') === '';
  report.section('Versions, and the way back', 'Ids are git’s own; what is accepted goes back by the user’s git.');
  if (head === undefined || !isWhole) {
    report.remark('this tree is no git repository with a commit, so there is nothing to merge into');
    return;
  }
  const scratch = await mkdtemp(join(tmpdir(), 'scratchfs-demo-'));
  const history = new HostHistory({ author: { name: 'Agent', email: 'agent@example.com' } });
  try {
    const clone = join(scratch, 'clone');
    gitIn(folder, 'clone', '--quiet', '--shared', folder, clone);
    const proven = await work(clone, head, history, report);
    await back(clone, proven, history, report);
    await conflict(clone, head, history, report);
    const isThere = gitIn(folder, 'cat-file', '-e', proven) !== undefined;
    report.claim(
      'nothing of this is in the repository that it all came from',
      !isThere && !existsSync(join(folder, NOTES)),
    );
  } finally {
    await history.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Onboards, commits a step, forks two attempts and merges them. Returns the resulting version. */
async function work(clone: string, head: string, versions: HostHistory, report: Report): Promise<string> {
  const skipped: string[] = [];
  const [start, onboardMs] = await timed(() =>
    versions.onboardRepo(clone, { skipUnrepresentable: ({ path }) => skipped.push(path) }),
  );
  report.action('onboard', `HEAD ${start.slice(0, 10)}`, 'as a version', onboardMs);
  for (const path of skipped.slice(0, 3)) report.remark(`left out ${printable(path)}`);
  const history = versions.historyOf(start);
  const fs = createFileSystem();
  const [, checkoutMs] = await timed(() => history.checkout(start, fs));
  report.action('checkout', 'into memory', count(fs.statsSync().fileCount, 'file'), checkoutMs);
  const tree = await history.writeTree(fs, { base: await history.treeOf(start) });
  report.claim(
    'commit and tree have the ids that git gives them',
    skipped.length > 0 || (start === head && tree === gitIn(clone, 'rev-parse', `${head}^{tree}`)),
  );

  const step = async (fileSystem: SyncFileSystem, parent: string, message: string): Promise<string> => {
    const [id, ms] = await timed(() => history.commit(fileSystem, { message, parents: [parent] }));
    report.action('commit', message, id.slice(0, 10), ms);
    return id;
  };
  fs.writeFileSync(`/${NOTES}`, '# Notes\n\nfirst\n\n\n\nlast\n');
  const accepted = await step(fs, start, 'Begin the notes');
  const [one, other] = [await fs.fork(), await fs.fork()];
  one.editFileSync(`/${NOTES}`, 'first', 'the first attempt’s line');
  const ours = await step(one, accepted, 'One attempt');
  other.editFileSync(`/${NOTES}`, 'last', 'the other attempt’s line');
  const theirs = await step(other, accepted, 'Another attempt');
  const [merge, mergeMs] = await timed(() => history.merge(undefined, ours, theirs));
  report.action('merge', 'both attempts', count(merge.conflicts.length, 'conflict'), mergeMs);
  const proven = await history.commitTree(merge.tree, { message: 'Both attempts', parents: [ours, theirs] });
  const merged = Buffer.from(await history.readFile(proven, NOTES)).toString('utf8');
  report.claim(
    'the merge has what each attempt did',
    merge.clean && merged === '# Notes\n\nthe first attempt’s line\n\n\n\nthe other attempt’s line\n',
  );

  const { terminal } = report;
  terminal.line();
  for await (const { id, parents, message } of history.log(proven, { limit: 5 }))
    report.note(
      `${terminal.cyan(id.slice(0, 10))} ${printable(message.split('\n', 1)[0] as string)}${parents.length > 1 ? terminal.dim(' (merge)') : ''}`,
    );
  terminal.line();
  const diff = await versions.diffSnapshots(start, proven);
  const lines = (await versions.formatDiffForDisplay(diff, { color: terminal.hasColor })).split('\n').slice(0, -1);
  for (const line of lines.slice(0, SHOWN)) report.note(line);
  terminal.line();
  report.claim(
    'the diff names the one file',
    diff.added.length === 1 && diff.removed.length + diff.changed.length === 0,
  );
  return proven;
}

async function back(clone: string, proven: string, versions: HostHistory, report: Report): Promise<void> {
  const [result, ms] = await timed(() => versions.executeMerge(clone, proven));
  report.action('merge back', 'into a clone of the repository', result.success ? 'done' : 'refused', ms);
  report.remark(printable(result.message));
  report.claim(
    'git finds the branch at the version, the work tree clean, and nothing wrong',
    result.success &&
      gitIn(clone, 'rev-parse', 'HEAD') === result.mergeCommit &&
      gitIn(clone, 'status', '--porcelain') === '' &&
      gitIn(clone, 'fsck', '--strict', '--connectivity-only') !== undefined,
  );
  report.summarize('Merged back', 'by the user’s git', ms);
}

/**
 * Lets another agent start from the same version and write the same lines: its work is refused, and nothing changes.
 */
async function conflict(clone: string, head: string, versions: HostHistory, report: Report): Promise<void> {
  const history = versions.historyOf(head);
  const fs = createFileSystem();
  const start = await versions.onboardRepo(clone, { skipUnrepresentable: () => undefined });
  await history.checkout(start, fs);
  fs.editFileSync(`/${NOTES}`, 'the first attempt’s line', 'a second agent’s line');
  const late = await history.commit(fs, { message: 'A second agent', parents: [start] });
  await writeFile(join(clone, NOTES), '# Notes\n\nthe user’s own line\n\n\n\nthe other attempt’s line\n');
  gitIn(
    clone,
    '-c',
    'user.name=User',
    '-c',
    'user.email=user@example.com',
    'commit',
    '-qam',
    'The user goes on',
    '--no-verify',
    '--no-gpg-sign',
  );
  const before = stateOf(clone);
  const [result, ms] = await timed(() => versions.executeMerge(clone, late));
  report.action('merge back', 'what conflicts with the user’s own', result.conflict ? 'conflict' : 'done', ms);
  report.remark(printable(result.message));
  report.claim(
    'the conflict is told by its path, and the clone is untouched',
    !result.success && result.conflict && result.conflictingPaths.join() === NOTES && stateOf(clone) === before,
  );
}

/** Returns branches, staged and unstaged changes, as git reports them. */
function stateOf(folder: string): string {
  const said = [
    ['for-each-ref'],
    ['rev-parse', 'HEAD'],
    ['-c', 'core.fsmonitor=false', 'status', '--porcelain=v2', '--untracked-files=all'],
  ].map((args) => gitIn(folder, '--no-optional-locks', ...args));
  return said.join('\n');
}

/** Returns git's output in a folder, without the last line break; undefined if git fails or is missing. */
function gitIn(folder: string, ...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 28 });
  return status === 0 ? stdout.replace(/\n$/, '') : undefined;
}
