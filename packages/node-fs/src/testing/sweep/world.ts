import * as host from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { asyncForm, openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { createNodeFs } from '../../node/create-node-fs.js';

export type AnyFs = typeof host;

/** The setting of a call: a filesystem with a root that holds the same entries in every new world. */
export interface World {
  readonly fs: AnyFs;
  readonly root: string;
  readonly fds: Readonly<Record<FdName, number>>;
  /** The entries under the root, one per line. */
  dump(): Promise<string[]>;
  close(): Promise<void>;
}

export type FdName = 'both' | 'reading' | 'writing' | 'appending' | 'directory' | 'closed';

/** Folder for the worlds of the host: in memory if `/dev/shm` exists. */
const parent = host.existsSync('/dev/shm') ? '/dev/shm' : host.realpathSync(tmpdir());

export async function hostWorld(): Promise<World> {
  const root = host.mkdtempSync(join(parent, 'scratchfs-sweep-'));
  return furnished(host, root, async () => host.rmSync(root, { recursive: true, force: true }));
}

export async function memoryWorld(): Promise<World> {
  return furnished(createNodeFs(), '', async () => {});
}

/** `createNodeFs` over a storage that has only promise methods. */
export async function laterWorld(): Promise<World> {
  const fileSystem = await openFileSystem(asyncForm(new MemoryStorage()));
  return furnished(createNodeFs(fileSystem) as unknown as AnyFs, '', () => fileSystem.close());
}

const { O_DIRECTORY, O_WRONLY } = host.constants;
const SPARE_DESCRIPTORS = 12;
/** Maximum bytes of a file whose content is shown and compared. */
const MAX_SHOWN_BYTES = 1_000;

interface Calls {
  chmod(path: string, mode: number): unknown;
  writeFile(path: string, data: string): unknown;
  mkdir(path: string): unknown;
  symlink(target: string, path: string): unknown;
  link(existing: string, path: string): unknown;
  open(path: string, flags: string | number): number | Promise<number>;
  close(fd: number): unknown;
  lstat(path: string): host.Stats | Promise<host.Stats>;
  readlink(path: string): string | Promise<string>;
  readdir(path: string): string[] | Promise<string[]>;
  readFile(path: string, encoding: 'latin1'): string | Promise<string>;
}

/** Returns the calls that create and inspect a world, synchronous if possible, because they run thousands of times. */
function callsOf(fs: AnyFs): Calls {
  const { promises, open, close } = fs;
  const hasSync = 'lstatSync' in (fs as object);
  if (!hasSync) return { ...promises, open: promisify(open), close: promisify(close) };
  return {
    chmod: fs.chmodSync,
    writeFile: fs.writeFileSync,
    mkdir: fs.mkdirSync,
    symlink: fs.symlinkSync,
    link: fs.linkSync,
    open: fs.openSync,
    close: fs.closeSync,
    lstat: fs.lstatSync,
    readlink: fs.readlinkSync,
    readdir: fs.readdirSync,
    readFile: fs.readFileSync,
  };
}

async function furnished(fs: AnyFs, root: string, end: () => Promise<void>): Promise<World> {
  const calls = callsOf(fs);
  await calls.chmod(`${root}/`, 0o755);
  await calls.writeFile(`${root}/f`, 'hello');
  await calls.writeFile(`${root}/w`, 'others');
  await calls.mkdir(`${root}/d`);
  await calls.mkdir(`${root}/d/b`);
  await calls.writeFile(`${root}/d/a`, 'a');
  await calls.writeFile(`${root}/d/b/c`, 'c');
  await calls.mkdir(`${root}/e`);
  await calls.symlink('f', `${root}/l`);
  await calls.symlink('d', `${root}/ld`);
  await calls.symlink('nowhere', `${root}/dang`);
  await calls.symlink('loop', `${root}/loop`);
  await calls.link(`${root}/f`, `${root}/hard`);
  const open = async (path: string, flags: string | number): Promise<number> => calls.open(`${root}/${path}`, flags);
  // The numbers of open files must not equal any other test value.
  const spare: number[] = [];
  while ((spare.at(-1) ?? 0) < SPARE_DESCRIPTORS) spare.push(await open('f', 'r'));
  const opened = {
    both: await open('f', 'r+'),
    reading: await open('f', 'r'),
    writing: await open('w', O_WRONLY),
    appending: await open('w', 'a+'),
    directory: await open('d', O_DIRECTORY),
  };
  return {
    fs,
    root,
    fds: { ...opened, closed: 9_999 },
    dump: () => lines(calls, `${root}/`, '/'),
    close: async () => {
      for (const fd of [...spare, ...Object.values(opened)]) {
        try {
          await calls.close(fd);
        } catch {
          // The call under test may have closed it.
        }
      }
      await end();
    },
  };
}

async function lines(calls: Calls, path: string, name: string): Promise<string[]> {
  const stats = await calls.lstat(path);
  const mode = (stats.mode & 0o7777).toString(8);
  const owner = `${stats.uid}:${stats.gid}`;
  if (stats.isSymbolicLink()) return [`${name} -> ${await calls.readlink(path)} ${owner}`];
  if (stats.isDirectory()) {
    const found = [`${name} directory ${mode} ${owner}`];
    for (const one of (await calls.readdir(path)).sort())
      found.push(...(await lines(calls, beneath(path, one), beneath(name, one))));
    return found;
  }
  const shown = stats.size > MAX_SHOWN_BYTES ? '' : JSON.stringify(await calls.readFile(path, 'latin1'));
  return [`${name} ${mode} ${owner} ${stats.nlink} ${stats.size} ${shown}`];
}

function beneath(directory: string, name: string): string {
  return `${directory.replace(/\/$/, '')}/${name}`;
}
