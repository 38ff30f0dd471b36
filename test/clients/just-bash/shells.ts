import { spawnSync } from 'node:child_process';
import nodeFs from 'node:fs';
import { createBashFs } from '@scratchfs/node-fs/bash';
import { Bash, type IFileSystem, InMemoryFs } from 'just-bash';
import { createFileSystem, type FileSystem } from 'scratchfs';
import { describeContent, type Tree, treeOf } from '../grounds.js';

/** What a script printed, answered and left behind; the folder that it ran in is `.` in all of it. */
export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  readonly tree: Tree;
}

/** A script in the shell of this machine. */
export function inRealBash(script: string, folder: string): Outcome {
  const { stdout, stderr, status } = spawnSync('/bin/bash', ['-c', script], {
    cwd: folder,
    env: { PATH: '/usr/bin:/bin', HOME: folder, LC_ALL: 'C' },
    encoding: 'utf8',
    input: '',
  });
  return outcome(stdout, stderr, status ?? -1, folder, treeOf(nodeFs, folder));
}

/** A script in just-bash on our filesystem. */
export async function onOurs(
  script: string,
  folder: string,
  fileSystem: FileSystem = createFileSystem(),
): Promise<Outcome> {
  return inJustBash(createBashFs(fileSystem), script, folder);
}

/** A script in just-bash on the filesystem that comes with it. */
export async function onTheirs(script: string, folder: string): Promise<Outcome> {
  return inJustBash(new InMemoryFs(), script, folder);
}

async function inJustBash(fs: IFileSystem, script: string, folder: string): Promise<Outcome> {
  await fs.mkdir(folder, { recursive: true });
  const shell = new Bash({ fs, cwd: folder, env: { HOME: folder, LC_ALL: 'C' }, defenseInDepth: true });
  const { stdout, stderr, exitCode } = await shell.exec(script, { rawScript: true }).catch((error: unknown) => ({
    stdout: '',
    stderr: `exec() rejected: ${String(error)}`,
    exitCode: -1,
  }));
  return outcome(stdout, stderr, exitCode, folder, await treeOfBashFs(fs, folder));
}

async function treeOfBashFs(fs: IFileSystem, folder: string, at = ''): Promise<Tree> {
  let tree: Record<string, string> = {};
  for (const name of await fs.readdir(folder + at)) {
    const path = `${at}/${name}`;
    const { isDirectory, isSymbolicLink, mode } = await fs.lstat(folder + path);
    if (isSymbolicLink) tree[path] = `link to ${await fs.readlink(folder + path)}`;
    else if (isDirectory)
      tree = { ...tree, [path]: `directory ${mode.toString(8)}`, ...(await treeOfBashFs(fs, folder, path)) };
    else tree[path] = `file ${mode.toString(8)} ${describeContent(await fs.readFileBuffer(folder + path))}`;
  }
  return tree;
}

/** The number of names is left out, which just-bash cannot say; so is the line of the script in messages of the shell. */
function outcome(stdout: string, stderr: string, exitCode: number, folder: string, tree: Tree): Outcome {
  const here = (text: string) => text.replaceAll(folder, '.');
  return {
    stdout: here(stdout),
    stderr: here(stderr).replace(/^(\/bin\/)?bash: (line \d+: )?/gm, 'bash: '),
    exitCode,
    tree: Object.fromEntries(
      Object.entries(tree)
        .map(([path, what]) => [path, here(what).replace(/ ×\d+ /, ' ')] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  };
}
