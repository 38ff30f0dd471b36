import type { EntryInfo, FileSystem, SyncFileSystem } from '@scratchfs/core';
import type { ModelFileSystem } from './model/model-file-system.js';
import { printBytes } from './outcome.js';

/** One entry of a dump. `group` is the first path of the same file in walk order. */
export interface DumpEntry {
  readonly path: string;
  readonly kind: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly accessedAt: number;
  readonly modifiedAt: number;
  readonly changedAt: number;
  readonly createdAt: number;
  readonly size: number;
  readonly links: number;
  readonly content: string;
  readonly group: string;
}

/** The complete state as plain data: the root, everything under it, and the result of `stats`. */
export interface Dump {
  readonly entries: readonly DumpEntry[];
  readonly stats: {
    readonly totalSize: number;
    readonly fileCount: number;
    readonly directoryCount: number;
    readonly nodeCount: number;
  };
}

/** Reads the complete state with the public methods. */
export async function dump(fileSystem: FileSystem): Promise<Dump> {
  const groups = new Map<number, string>();
  const entries = [];
  const infos: EntryInfo[] = [await fileSystem.getEntry('/')];
  for await (const info of fileSystem.walk('/')) infos.push(info);
  for (const info of infos) {
    const content = info.kind === 'file' ? await fileSystem.readFile(info.path) : undefined;
    const ino = info.links > 1 && info.kind !== 'directory' ? (await fileSystem.lstat(info.path)).ino : undefined;
    entries.push(entryOf(info, content, ino, groups));
  }
  return { entries, stats: { ...(await fileSystem.stats()) } };
}

/** Reads the complete state with the `…Sync` methods, or from the model. */
export function dumpSync(fileSystem: SyncFileSystem | ModelFileSystem): Dump {
  const groups = new Map<number, string>();
  if (fileSystem.kind === 'model') {
    const infos = [fileSystem.getEntry('/'), ...fileSystem.walk('/')];
    const entries = infos.map((info) =>
      entryOf(info, info.content, info.links > 1 ? fileSystem.lstat(info.path).ino : undefined, groups),
    );
    return { entries, stats: fileSystem.stats() };
  }
  const entries = [fileSystem.getEntrySync('/'), ...fileSystem.walkSync('/')].map((info) => {
    const content = info.kind === 'file' ? fileSystem.readFileSync(info.path) : undefined;
    const ino = info.links > 1 && info.kind !== 'directory' ? fileSystem.lstatSync(info.path).ino : undefined;
    return entryOf(info, content, ino, groups);
  });
  return { entries, stats: { ...fileSystem.statsSync() } };
}

function entryOf(
  info: EntryInfo,
  bytes: Uint8Array | undefined,
  ino: number | undefined,
  groups: Map<number, string>,
): DumpEntry {
  if (ino !== undefined && !groups.has(ino)) groups.set(ino, info.path);
  return {
    path: info.path,
    kind: info.kind,
    mode: info.mode,
    uid: info.uid,
    gid: info.gid,
    accessedAt: info.accessedAt,
    modifiedAt: info.modifiedAt,
    changedAt: info.changedAt,
    createdAt: info.createdAt,
    size: info.size,
    links: info.kind === 'directory' ? 1 : info.links,
    content:
      info.kind === 'file' ? printBytes(bytes as Uint8Array) : info.kind === 'symlink' ? `-> ${info.target}` : '',
    group: ino === undefined ? info.path : (groups.get(ino) as string),
  };
}

/** Returns the `stats` expected for a dump. */
export function recount(state: Dump): Dump['stats'] {
  let totalSize = 0;
  let fileCount = 0;
  let directoryCount = 0;
  for (const entry of state.entries) {
    if (entry.path === '/') continue;
    if (entry.kind === 'directory') directoryCount += 1;
    else fileCount += 1;
    if (entry.group === entry.path) totalSize += entry.size;
  }
  return { totalSize, fileCount, directoryCount, nodeCount: fileCount + directoryCount };
}

/** Returns the differences between two dumps, one line each; empty if they are equal. */
export function differences(a: Dump, b: Dump): string[] {
  const lines: string[] = [];
  const of = (state: Dump) => new Map(state.entries.map((entry) => [entry.path, entry]));
  const [left, right] = [of(a), of(b)];
  for (const path of new Set([...left.keys(), ...right.keys()])) {
    const [x, y] = [left.get(path), right.get(path)];
    if (x === undefined || y === undefined) {
      lines.push(`${JSON.stringify(path)}: only in the ${x === undefined ? 'second' : 'first'}`);
      continue;
    }
    for (const key of Object.keys(x) as (keyof DumpEntry)[]) {
      if (x[key] !== y[key])
        lines.push(`${JSON.stringify(path)} ${key}: ${JSON.stringify(x[key])} | ${JSON.stringify(y[key])}`);
    }
  }
  for (const key of Object.keys(a.stats) as (keyof Dump['stats'])[]) {
    if (a.stats[key] !== b.stats[key]) lines.push(`stats.${key}: ${a.stats[key]} | ${b.stats[key]}`);
  }
  if (lines.length === 0 && a.entries.some((entry, i) => entry.path !== b.entries[i]?.path))
    lines.push('the order differs');
  return lines;
}
