import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Attempt, openWorkspace } from '@scratchfs/workspace';
import type { SyncFileSystem } from 'scratchfs';
import { count } from '../figures.js';
import { type Report, timed } from '../report.js';
import { printable } from '../terminal.js';
import type { Attempt as Kept } from './attempts.js';

const NOTES = '/NOTES.md';
/** Blank lines keep the three parts of the file apart, so that each change is a hunk of its own. */
const PARTS = ['one', 'two', 'three'] as const;
const notes = (...parts: readonly string[]): string => `${parts.join(`\n${'\n'.repeat(9)}`)}\n`;

/**
 * Opens a directory as a workspace: the user edits while the agent works, a command of the agent deletes half of the
 * tree, everything is undone, two attempts are compared, and the user accepts two of three changes.
 */
export async function workspace(origin: SyncFileSystem, { changed }: Kept, report: Report): Promise<void> {
  report.section('A workspace', 'The disk stays as it is until you accept, and every step can be undone.');
  const place = await mkdtemp(join(tmpdir(), 'scratchfs-demo-'));
  try {
    const write = (path: string, content: string | Uint8Array): void => {
      mkdirSync(dirname(join(place, path)), { recursive: true });
      writeFileSync(join(place, path), content);
    };
    const text = (path: string): string => readFileSync(join(place, path), 'utf8');
    for (const path of changed) write(path, origin.readFileSync(path));
    write(NOTES, notes(...PARTS));
    for (const args of [
      ['init', '-q'],
      ['add', '.'],
    ])
      spawnSync('git', args, { cwd: place });

    const [opened, openMs] = await timed(() => openWorkspace(place, { store: 'memory:' }));
    await using user = opened;
    const attempt = await user.createAttempt('calm-otter');
    report.action('open', attempt.name, 'nothing copied', openMs);
    const disk = await stateOf(place);

    const { fileSystem: fs } = attempt;
    await fs.writeFile(NOTES, notes(...PARTS.map((part) => part.toUpperCase())));
    const edited = changed[0] as string;
    const original = text(edited);
    write(edited, `${original}// The user goes on.\n`);
    report.claim(
      'the agent sees what the user edits meanwhile, and the user nothing of the agent’s',
      (await fs.readText(edited)) === text(edited) && text(NOTES) === notes(...PARTS),
    );
    write(edited, original);

    await deletedAndUndone(attempt, changed, report);
    report.claim('the disk has not changed in all this', (await stateOf(place)) === disk);

    const other = await attempt.fork('busy-heron');
    await other.fileSystem.writeFile('/EXTRA.md', 'only in the other attempt\n');
    const [compared, diffMs] = await timed(() => attempt.diff({ to: other }));
    report.action('compare', `${attempt.name} and ${other.name}`, count(compared.paths.length, 'path'), diffMs);
    report.claim('they differ in one file', compared.paths.map(({ path }) => path).join() === '/EXTRA.md');

    const { paths } = await attempt.diff({ hunks: true });
    const hunks = paths.flatMap((each) => each.hunks);
    write('/draft.txt', 'the user’s own, not committed\n');
    const chosen = hunks.filter((_, i) => i !== 1).map(({ id }) => id);
    const [accepted, acceptMs] = await timed(() => attempt.accept({ hunks: chosen }));
    report.action(
      'accept',
      `${chosen.length} of ${hunks.length} hunks`,
      accepted.success ? 'done' : 'refused',
      acceptMs,
    );
    report.remark(printable(accepted.message));
    report.claim(
      'just these are on the disk, beside the user’s own changes',
      accepted.success && text(NOTES) === notes('ONE', 'two', 'THREE') && text('/draft.txt').startsWith('the user'),
    );
    await attempt.undo();
    report.claim('even that can be undone', text(NOTES) === notes(...PARTS));
    report.summarize('Accepted', 'two of three changes', acceptMs);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** Lets a command of the agent delete half of the files, and takes that back. */
async function deletedAndUndone(attempt: Attempt, files: readonly string[], report: Report): Promise<void> {
  const { fileSystem: fs } = attempt;
  const half = files.slice(0, Math.ceil(files.length / 2));
  const before = await Promise.all(half.map((path) => fs.readFile(path)));
  const command = ['rm', '-rf', ...half.map((path) => `/work${path}`)];
  const [held, runMs] = await timed(() =>
    attempt.run(command).then(
      () => true,
      () => false,
    ),
  );
  // Without a sandbox of the operating system no command runs, and the agent deletes by itself.
  if (!held)
    await attempt.operation({ tool: 'delete_file' }, async (tx) => {
      for (const path of half) await tx.rm(path);
    });
  report.action(
    held ? 'run' : 'delete',
    held ? 'rm -rf, in an OS sandbox' : 'half of the files',
    count(half.length, 'file'),
    runMs,
  );
  const gone = await Promise.all(half.map((path) => fs.exists(path)));
  const [undone, undoMs] = await timed(() => attempt.undo());
  report.action('undo', undone.summary.replace(/^Undo /, ''), 'done', undoMs);
  const after = await Promise.all(half.map((path) => fs.readFile(path)));
  report.claim(
    'the files were gone, and are back to the byte',
    gone.every((is) => !is) && after.every((content, i) => Buffer.from(content).equals(before[i] as Uint8Array)),
  );
}

/** Returns names and contents of a directory, without git's. */
async function stateOf(place: string): Promise<string> {
  const entries = await readdir(place, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const own = files.filter((file) => !file.startsWith(join(place, '.git')));
  return own
    .sort()
    .map((file) => `${file}\n${readFileSync(file, 'base64')}`)
    .join('\n');
}
