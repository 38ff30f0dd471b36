import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findRepository, type GitRepository } from '../git/git-repository.js';
import { changedPaths } from '../merge/changed-paths.js';
import { newMergeId } from '../merge/plan.js';
import { type Applied, applyCommit } from '../merge/stage.js';
import type { SampleFolders, SampleRepository } from './sample-repository.js';

/** As long as a real id: a plan's id is searched for in the arguments of other processes. */
export const ID = randomBytes(12).toString('hex');

export type Held = GitRepository & { readonly workTree: string };

export interface Prepared {
  readonly sample: SampleRepository;
  readonly repository: Held;
  readonly from: string;
  readonly to: string;
}

export function whereIs(program: string): string | undefined {
  return process.env['PATH']
    ?.split(':')
    .map((directory) => join(directory, program))
    .find((at) => existsSync(at));
}

/**
 * Runs a function with programs that shadow those of the machine. `$real` in their text is the shadowed program, which
 * runs after the text unless that exits.
 */
export async function runBehind<T>(
  folders: SampleFolders,
  programs: Readonly<Record<string, string>>,
  run: () => Promise<T>,
): Promise<T> {
  const folder = folders.folder();
  const path = process.env['PATH'];
  for (const [name, text] of Object.entries(programs)) {
    const real = whereIs(name);
    writeFileSync(join(folder, name), `#!/bin/sh\nreal=${real}\n${text}\nexec $real "$@"\n`, { mode: 0o755 });
  }
  process.env['PATH'] = `${folder}:${path ?? ''}`;
  try {
    return await run();
  } finally {
    process.env['PATH'] = path;
  }
}

type Files = Readonly<Record<string, string>>;

/**
 * Creates a repository with a commit that is not on its branch. By default the commit changes `a.txt` and adds
 * `new.txt`.
 */
export async function prepare(
  folders: SampleFolders,
  files: Files = { 'a.txt': 'one\n', 'b.txt': 'b\n' },
  changed: Files = { 'a.txt': 'two\n', 'new.txt': 'new\n' },
  removed: readonly string[] = [],
): Promise<Prepared> {
  const sample = folders.repository(files);
  const from = sample.git('rev-parse', 'HEAD');
  for (const path of removed) sample.git('rm', '-q', path);
  const to = sample.commit(changed, 'proven');
  sample.git('reset', '-q', '--hard', from);
  return { sample, repository: (await findRepository(sample.path)) as Held, from, to };
}

export async function apply(repository: Held, from: string, to: string): Promise<Applied> {
  const paths = await changedPaths(repository.git, from, to);
  return applyCommit(repository, repository.git, {
    id: newMergeId(),
    branch: 'refs/heads/main',
    from,
    to,
    message: 'test',
    paths,
  });
}

/** Applies a merge while git cannot move the branch, so that everything is undone. */
export function applyInVain(folders: SampleFolders, repository: Held, from: string, to: string): Promise<Applied> {
  const refusing = { git: 'case "$*" in "update-ref "*) exit 1 ;; esac' };
  return runBehind(folders, refusing, () => apply(repository, from, to));
}

export function planFor(from: string, to: string) {
  return { id: ID, old: from, new: to, message: 'test', branch: 'refs/heads/main' } as const;
}

/** Leaves the state of a merge whose finisher was killed after it had written the files and before the branch moved. */
export function leaveHalfDone(
  sample: SampleRepository,
  { gitDirectory }: Held,
  from: string,
  to: string,
  lists: Readonly<Record<'added' | 'restored' | 'directories', readonly string[]>>,
): void {
  const stage = join(gitDirectory, 'scratchfs-merge');
  mkdirSync(join(stage, 'kept'), { recursive: true });
  for (const [number, path] of lists.restored.entries())
    if (!path.startsWith('..'))
      cpSync(join(sample.path, path), join(stage, 'kept', String(number)), { verbatimSymlinks: true });
  sample.git('checkout', to, '--', '.');
  sample.git('read-tree', from);
  writeFileSync(join(stage, 'lock'), ID);
  linkSync(join(stage, 'lock'), join(gitDirectory, 'index.lock'));
  writeFileSync(join(stage, 'plan'), JSON.stringify(planFor(from, to)));
  const restored = lists.restored.map((path, number) => `${number}/${path}`);
  for (const [name, paths] of Object.entries({ modes: [], ...lists, restored }))
    writeFileSync(join(stage, name), paths.map((path) => `${path}\0`).join(''));
  mkdirSync(join(stage, 'as-new'));
  if (sample.git('ls-tree', '--name-only', to, '.gitattributes') !== '')
    writeFileSync(join(stage, 'as-new/.gitattributes'), `${sample.git('show', `${to}:.gitattributes`)}\n`);
  writeFileSync(join(stage, 'begun'), '');
}

/**
 * Leaves the state of a merge whose finisher was killed after it had written files and index and before the branch
 * moved.
 */
export function leaveIndexed(...left: Parameters<typeof leaveHalfDone>): void {
  const [sample, { gitDirectory }, from, to] = left;
  const [stage, index] = [join(gitDirectory, 'scratchfs-merge'), join(gitDirectory, 'index')];
  sample.git('read-tree', to);
  const after = readFileSync(index);
  sample.git('read-tree', from);
  leaveHalfDone(...left);
  writeFileSync(join(stage, 'before'), readFileSync(index));
  for (const path of [join(stage, 'index'), index]) writeFileSync(path, after);
  for (const name of ['indexed', 'moving']) writeFileSync(join(stage, name), '');
}

/** Leaves the state of a merge whose finisher was killed after the branch had moved. */
export function leaveMoved(...left: Parameters<typeof leaveHalfDone>): void {
  const [sample, , from, to] = left;
  leaveIndexed(...left);
  sample.git('update-ref', 'HEAD', to, from);
}
