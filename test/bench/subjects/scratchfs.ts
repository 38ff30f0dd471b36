import type { SyncFileSystem } from '@scratchfs/core';
import { createNodeFs } from '@scratchfs/node-fs';
import { createFileSystem } from 'scratchfs';
import { createSnapshotSync, restoreSnapshotSync } from 'scratchfs/snapshot';
import { nodeShaped } from './node-shaped.js';
import type { Subject } from './subject.js';

/** scratchfs through its synchronous methods. */
export const scratchfs = (fs: SyncFileSystem = createFileSystem()): Subject => ({
  isAsync: false,
  mkdir: (path) => fs.mkdirSync(path, { recursive: true }),
  write: (path, data) => fs.writeFileSync(path, data),
  read: (path) => fs.readFileSync(path),
  readText: (path) => fs.readTextSync(path),
  size: (path) => fs.statSync(path).size,
  exists: (path) => fs.existsSync(path),
  list: (path) => fs.readdirSync(path),
  append: (path, data) => fs.appendFileSync(path, data),
  remove: (path) => fs.rmSync(path, { recursive: true }),
  copy: (from, to) => fs.cpSync(from, to, { recursive: true }),
  rename: (from, to) => fs.renameSync(from, to),
  countFiles: (path) => fs.readdirSync(path, { withFileTypes: true }).filter((entry) => entry.kind === 'file').length,
  countAll: (path) => {
    let count = 0;
    for (const _ of fs.walkSync(path)) count += 1;
    return count;
  },
  writer: (path) => {
    const handle = fs.openSync(path, 'r+');
    return (data, position) => handle.writeSync(data, position);
  },
  checkpoint: () => fs.checkpointSync(),
  rollback: (checkpoint) => fs.rollbackSync(checkpoint as ReturnType<typeof fs.checkpointSync>),
  drop: (checkpoint) => fs.dropSync(checkpoint as ReturnType<typeof fs.checkpointSync>),
  fork: () => scratchfs(fs.forkSync()),
  save: () => createSnapshotSync(fs),
  load: (bytes) => restoreSnapshotSync(fs, bytes),
  adopt: (bytes) => restoreSnapshotSync(fs, bytes, { adopt: true }),
});

/** scratchfs through its promise methods. */
export const scratchfsPromises = (): Subject => {
  const fs = createFileSystem();
  return {
    isAsync: true,
    mkdir: (path) => fs.mkdir(path, { recursive: true }),
    write: (path, data) => fs.writeFile(path, data),
    read: (path) => fs.readFile(path),
    readText: (path) => fs.readText(path),
    size: async (path) => (await fs.stat(path)).size,
    exists: (path) => fs.exists(path),
    list: (path) => fs.readdir(path),
    append: (path, data) => fs.appendFile(path, data),
    remove: (path) => fs.rm(path, { recursive: true }),
    copy: (from, to) => fs.cp(from, to, { recursive: true }),
    rename: (from, to) => fs.rename(from, to),
    countFiles: async (path) =>
      (await fs.readdir(path, { withFileTypes: true })).filter((entry) => entry.kind === 'file').length,
    countAll: async (path) => {
      let count = 0;
      for await (const _ of fs.walk(path)) count += 1;
      return count;
    },
    writer: (path) => {
      const handle = fs.open(path, 'r+');
      return async (data, position) => (await handle).write(data, position);
    },
  };
};

/** scratchfs through the object shaped like `node:fs`. */
export const scratchfsAsNodeFs = (): Subject => nodeShaped(createNodeFs());
