import { createHash } from 'node:crypto';
import nodeFs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodeFs } from '@scratchfs/node-fs';
import { expect } from 'vitest';

/** The type that clients expect; ours has more, like a newer Node. */
export type NodeFs = typeof import('node:fs');

/** Place where a job runs: a filesystem and an empty folder in it. The folder has the same path on both. */
export interface Ground {
  readonly fs: NodeFs;
  readonly root: string;
}

/** Result of a job: path under the folder → description of its entry, without times. */
export type Tree = Readonly<Record<string, string>>;

/** An empty host folder, in memory if the machine has such a place. Disposing removes it. */
export class HostFolder implements Disposable {
  readonly root: string;
  constructor() {
    const parent = nodeFs.existsSync('/dev/shm') ? '/dev/shm' : nodeFs.realpathSync(tmpdir());
    this.root = nodeFs.mkdtempSync(join(parent, 'scratchfs-clients-'));
  }
  [Symbol.dispose](): void {
    nodeFs.rmSync(this.root, { recursive: true, force: true });
  }
}

/**
 * Runs a job on the host's disk and on scratchfs, and expects the same result and the same tree. `leaveOut` matches
 * paths that cannot be equal, such as an index with times and inode numbers.
 * @returns the result and the tree of the disk
 */
export async function onBoth<T>(
  job: (ground: Ground) => Promise<T>,
  { leaveOut }: { readonly leaveOut?: RegExp } = {},
): Promise<{ answer: T; tree: Tree }> {
  const { root, answer, tree } = await onDisk(job, leaveOut);
  const fs = await freshFs();
  fs.mkdirSync(root, { recursive: true });
  expect(await job({ fs, root })).toEqual(answer);
  expect(treeOf(fs, root, leaveOut)).toEqual(tree);
  expect(nodeFs.existsSync(root), 'the disk was left alone').toBe(false);
  return { answer, tree };
}

async function onDisk<T>(job: (ground: Ground) => Promise<T>, leaveOut: RegExp | undefined) {
  using folder = new HostFolder();
  const { root } = folder;
  const answer = await job({ fs: nodeFs, root });
  return { root, answer, tree: treeOf(nodeFs, root, leaveOut) };
}

/** `SCRATCHFS_CLIENTS_PEER=memfs` runs the same jobs on memfs. It has no umask, so this process clears its own. */
const isPeer = process.env.SCRATCHFS_CLIENTS_PEER === 'memfs';
if (isPeer) process.umask(0);

/** Returns a new filesystem of ours. */
export async function freshFs(): Promise<NodeFs> {
  if (!isPeer) return createNodeFs();
  const { createFsFromVolume, Volume } = await import('memfs');
  return createFsFromVolume(new Volume()) as unknown as NodeFs;
}

/** Returns every entry under a folder: kind, permission bits, number of names, and content as text or as a hash. */
export function treeOf(fs: NodeFs, root: string, leaveOut?: RegExp): Tree {
  const tree: Record<string, string> = {};
  const pending = [''];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const name of fs.readdirSync(join(root, at))) {
      const path = `${at}/${name}`;
      if (leaveOut?.test(path)) continue;
      const stats = fs.lstatSync(join(root, path));
      const mode = (stats.mode & 0o7777).toString(8);
      if (stats.isDirectory()) {
        tree[path] = `directory ${mode}`;
        pending.push(path);
      } else if (stats.isSymbolicLink()) tree[path] = `link to ${fs.readlinkSync(join(root, path))}`;
      else tree[path] = `file ${mode} ×${stats.nlink} ${describeContent(fs.readFileSync(join(root, path)))}`;
    }
  }
  return Object.fromEntries(Object.entries(tree).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns short text as it is, other content as its size and hash. */
export function describeContent(content: Uint8Array): string {
  const text = Buffer.from(content).toString('utf8');
  if (content.length <= 200 && Buffer.from(text, 'utf8').equals(content)) return JSON.stringify(text);
  return `${content.length} bytes, ${createHash('sha256').update(content).digest('hex').slice(0, 16)}`;
}

/** Copies a folder from one filesystem to another. */
export function copyTree(from: NodeFs, source: string, to: NodeFs, destination: string): void {
  to.mkdirSync(destination, { recursive: true });
  for (const name of from.readdirSync(source)) {
    const [here, there] = [join(source, name), join(destination, name)];
    const stats = from.lstatSync(here);
    if (stats.isDirectory()) copyTree(from, here, to, there);
    else if (stats.isSymbolicLink()) to.symlinkSync(from.readlinkSync(here), there);
    else to.writeFileSync(there, from.readFileSync(here), { mode: stats.mode & 0o7777 });
  }
}

/** Writes files and creates missing directories. */
export function writeFiles({ fs, root }: Ground, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    fs.mkdirSync(join(root, path, '..'), { recursive: true });
    fs.writeFileSync(join(root, path), content);
  }
}
