import * as nodeFs from 'node:fs';
import { join } from 'node:path';
import type { NodeShaped } from './node-shaped.js';
import { nodeShaped } from './node-shaped.js';
import type { Subject } from './subject.js';

/** memfs; its snapshots stand in for checkpoints, which it does not have. */
export async function memfs(): Promise<Subject> {
  const { fs, vol, Volume } = await import('memfs');
  const { toBinarySnapshotSync, fromBinarySnapshotSync } = await import('@jsonjoy.com/fs-snapshot');
  vol.reset();
  const save = () => toBinarySnapshotSync({ fs: fs as never, path: '/' });
  const load = (bytes: unknown) => {
    vol.reset();
    fromBinarySnapshotSync(bytes as never, { fs: fs as never, path: '/' });
  };
  const subject = nodeShaped(fs as unknown as NodeShaped);
  return {
    ...subject,
    copiesAll: true,
    checkpoint: save,
    rollback: load,
    fork: () => {
      const forked = new Volume();
      fromBinarySnapshotSync(save(), { fs: forked as never, path: '/' });
      return nodeShaped(forked as unknown as NodeShaped);
    },
    save,
    load,
  };
}

/** zenfs; its single memory filesystem is configured per process. */
export async function zenfs(): Promise<Subject> {
  const { configureSingle, InMemory, fs } = await import('@zenfs/core');
  await configureSingle({ backend: InMemory });
  return nodeShaped(fs as unknown as NodeShaped);
}

/** The filesystem of just-bash; `fs.cp` and `fs.mv` are its copy and rename. */
export async function justBash(): Promise<Subject> {
  const { InMemoryFs } = await import('just-bash');
  const fs = new InMemoryFs();
  return {
    isAsync: true,
    mkdir: (path) => fs.mkdir(path, { recursive: true }),
    write: (path, data) => fs.writeFile(path, data),
    read: (path) => fs.readFileBuffer(path),
    readText: (path) => fs.readFile(path),
    size: async (path) => (await fs.stat(path)).size,
    exists: (path) => fs.exists(path),
    list: (path) => fs.readdir(path),
    append: (path, data) => fs.appendFile(path, data),
    remove: (path) => fs.rm(path, { recursive: true }),
    copy: (from, to) => fs.cp(from, to, { recursive: true }),
    rename: (from, to) => fs.mv(from, to),
  };
}

/** Requires Node 22. */
export async function platformatic(): Promise<Subject> {
  const { create } = await import('@platformatic/vfs');
  const fs = create({ moduleHooks: false }) as unknown as NodeShaped & Pick<typeof nodeFs, 'unlinkSync' | 'rmdirSync'>;
  // It has neither rm nor cp, nor positional writes.
  const rmSync = (path: string): void => {
    if (fs.statSync(path).isDirectory()) {
      for (const name of fs.readdirSync(path)) rmSync(`${path}/${name}`);
      fs.rmdirSync(path);
    } else fs.unlinkSync(path);
  };
  const cpSync = (from: string, to: string): void => {
    if (fs.statSync(from).isDirectory()) {
      fs.mkdirSync(to);
      for (const name of fs.readdirSync(from)) cpSync(`${from}/${name}`, `${to}/${name}`);
    } else fs.writeFileSync(to, fs.readFileSync(from));
  };
  const { writer: _, ...subject } = nodeShaped(fs);
  return { ...subject, remove: rmSync, copy: cpSync };
}

const TMPFS = '/dev/shm';

const tmpfsPrefix = (parent: number): string => `scratchfs-bench-${parent}-`;

/** Removes the folder left by a process that this one has killed. */
export function clearTmpfs(): void {
  if (!nodeFs.existsSync(TMPFS)) return;
  for (const name of nodeFs.readdirSync(TMPFS)) {
    if (name.startsWith(tmpfsPrefix(process.pid))) nodeFs.rmSync(join(TMPFS, name), { recursive: true });
  }
}

/** Returns a directory of a filesystem that the kernel keeps in memory. */
export function tmpfs(): Subject {
  const folder = nodeFs.mkdtempSync(join(TMPFS, tmpfsPrefix(process.ppid)));
  process.on('exit', () => nodeFs.rmSync(folder, { recursive: true, force: true }));
  return { ...nodeShaped(nodeFs, folder), isOutside: true };
}
