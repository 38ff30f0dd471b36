import { spawnSync } from 'node:child_process';
import nodeFs from 'node:fs';
import { createBashFs } from '@scratchfs/node-fs/bash';
import { Bash, type IFileSystem, InMemoryFs } from 'just-bash';
import { createFileSystem, type FileSystem } from 'scratchfs';
import { describeContent, type Tree, treeOf } from '../grounds.js';

/** Output, exit code and tree of a script. The folder in which it ran is shown as `.`. */
export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  readonly tree: Tree;
}

/** Runs a script in the machine's bash. */
export function inRealBash(script: string, folder: string): Outcome {
  const { stdout, stderr, status } = spawnSync('/bin/bash', ['-c', script], {
    cwd: folder,
    env: { PATH: '/usr/bin:/bin', HOME: folder, LC_ALL: 'C' },
    encoding: 'utf8',
    input: '',
  });
  return outcome(stdout, stderr, status ?? -1, folder, treeOf(nodeFs, folder));
}

/** Runs a script in just-bash on scratchfs. */
export async function onOurs(
  script: string,
  folder: string,
  fileSystem: FileSystem = createFileSystem(),
): Promise<Outcome> {
  return inJustBash(createBashFs(fileSystem), script, folder);
}

/** Runs a script in just-bash on its own filesystem. */
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

/**
 * Forms an outcome. It leaves out link counts, which just-bash cannot report, and line numbers in the shell's messages.
 */
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
