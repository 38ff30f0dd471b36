import {
  type Capabilities,
  type FileEntry,
  type FileSystemStats,
  FsError,
  type NewEntry,
  normalizePath,
  parentPath,
  type SyncStorage,
} from '@scratchfs/core';
import { compareBytes } from '../model/model-path.js';

/** The value at a path of the map. */
export interface MapRow {
  readonly kind: FileEntry['kind'];
  content: Uint8Array;
  readonly target: string;
  readonly mode: number;
  readonly owner: readonly [uid: number, gid: number];
  readonly times: readonly [created: number, modified: number, changed: number, accessed: number];
}

const MODES = { file: 0o644, directory: 0o755, symlink: 0o777 } as const;

/**
 * A complete and slow storage over one Map, the base of the broken storages. Its parts are separate methods, so that
 * each broken storage changes one thing.
 */
export class MapStorage implements SyncStorage {
  readonly kind = 'sync';
  readonly capabilities: Capabilities = {
    checkpoints: false,
    rollback: false,
    at: false,
    diff: false,
    restore: false,
    transactions: false,
    forks: false,
    sharedWatch: false,
    writes: true,
  };
  protected rows = new Map<string, MapRow>();

  constructor(protected readonly clock: () => number) {
    this.rows.set('/', this.row({ path: '/', kind: 'directory' }));
  }

  get(path: string): FileEntry | undefined {
    const normal = normalizePath(path);
    const row = this.rows.get(normal);
    return row === undefined ? undefined : this.entry(normal, row);
  }
  set(entry: NewEntry): void {
    this.setMany([entry]);
  }
  delete(path: string): boolean {
    const normal = normalizePath(path);
    if (!this.rows.has(normal)) return false;
    if (normal === '/') throw new FsError('EBUSY', { syscall: 'delete', path });
    if (this.children(normal, true).length > 0) throw new FsError('ENOTEMPTY', { syscall: 'delete', path });
    return this.rows.delete(normal);
  }
  exists(path: string): boolean {
    return this.rows.has(normalizePath(path));
  }
  paths(prefix = '/'): string[] {
    const normal = normalizePath(prefix);
    return [...this.rows.keys()].filter((path) => path !== '/' && this.matches(path, normal)).sort(comparePaths);
  }
  children(path: string, anyKind = false): string[] {
    const normal = normalizePath(path);
    const row = this.rows.get(normal);
    if (row === undefined) throw new FsError('ENOENT', { syscall: 'scandir', path });
    if (row.kind !== 'directory' && !anyKind) throw new FsError('ENOTDIR', { syscall: 'scandir', path });
    const names = [...this.rows.keys()].filter((key) => key !== '/' && parentPath(key) === normal);
    return this.order(names.map((key) => key.slice(key.lastIndexOf('/') + 1)));
  }
  clear(): void {
    this.rows = new Map([['/', this.rows.get('/') as MapRow]]);
  }
  entries(): Iterable<FileEntry> {
    return this.paths().map((path) => this.entry(path, this.rows.get(path) as MapRow));
  }
  setMany(entries: Iterable<NewEntry>): void {
    const before = new Map(this.rows);
    try {
      const seen = new Set<string>();
      const sorted = [...entries]
        .map((entry) => ({ ...entry, path: normalizePath(entry.path) }))
        .sort((a, b) => a.path.split('/').length - b.path.split('/').length);
      for (const entry of sorted) {
        if (seen.has(entry.path)) throw new FsError('EINVAL', { syscall: 'set', path: entry.path });
        seen.add(entry.path);
        this.put(entry);
      }
    } catch (error) {
      this.rows = before;
      throw error;
    }
  }
  stats(): FileSystemStats {
    let [totalSize, fileCount, directoryCount] = [0, 0, -1];
    for (const [path, row] of this.rows) {
      if (row.kind === 'directory') directoryCount += 1;
      else fileCount += 1;
      totalSize += this.entry(path, row).size;
    }
    return { totalSize, fileCount, directoryCount, nodeCount: fileCount + directoryCount };
  }
  close(): void {}

  protected matches(path: string, prefix: string): boolean {
    return prefix === '/' || path === prefix || path.startsWith(`${prefix}/`);
  }
  protected order(names: string[]): string[] {
    return names.sort(compareBytes);
  }
  protected put(entry: NewEntry): void {
    const row = this.row(entry);
    const there = this.rows.get(entry.path);
    if (there !== undefined && there.kind !== row.kind)
      throw new FsError('EEXIST', { syscall: 'set', path: entry.path });
    const parent = this.rows.get(parentPath(entry.path));
    if (entry.path !== '/' && parent === undefined) throw new FsError('ENOENT', { syscall: 'set', path: entry.path });
    if (entry.path !== '/' && parent?.kind !== 'directory')
      throw new FsError('ENOTDIR', { syscall: 'set', path: entry.path });
    this.rows.set(entry.path, row);
  }
  protected row(entry: NewEntry): MapRow {
    const kind =
      entry.kind ?? (entry.isDirectory === true ? 'directory' : entry.target !== undefined ? 'symlink' : 'file');
    if (!(kind in MODES)) throw new TypeError(`${String(kind)} is not a kind`);
    const mode = entry.mode ?? MODES[kind];
    const now = this.clock();
    const times = [
      entry.createdAt ?? now,
      entry.modifiedAt ?? now,
      entry.changedAt ?? now,
      entry.accessedAt ?? now,
    ] as const;
    if (!Number.isInteger(mode) || mode < 0) throw new RangeError('mode must be an integer');
    if (times.some((time) => !(Math.abs(time) <= 8.64e15))) throw new RangeError('A Date cannot hold these times');
    return {
      kind,
      content: this.bytesIn(entry.content ?? ''),
      target: entry.target ?? '',
      mode,
      owner: [entry.uid ?? 0, entry.gid ?? 0],
      times,
    };
  }
  protected bytesIn(content: Uint8Array | string): Uint8Array {
    if (typeof content === 'string') return new TextEncoder().encode(content);
    if (content instanceof Uint8Array) return content.slice();
    throw new TypeError('content must be text or bytes');
  }
  protected bytesOut(content: Uint8Array): Uint8Array {
    return content.slice();
  }
  protected entry(path: string, row: MapRow): FileEntry {
    const [createdAt, modifiedAt, changedAt, accessedAt] = row.times;
    const size = row.kind === 'symlink' ? new TextEncoder().encode(row.target).length : row.content.length;
    return {
      name: path === '/' ? '/' : path.slice(path.lastIndexOf('/') + 1),
      path,
      kind: row.kind,
      isDirectory: row.kind === 'directory',
      size,
      mode: row.mode,
      uid: row.owner[0],
      gid: row.owner[1],
      createdAt,
      modifiedAt,
      changedAt,
      accessedAt,
      links: 1,
      content: this.bytesOut(row.content),
      ...(row.kind === 'symlink' ? { target: row.target } : {}),
    };
  }
}

/** Compares segment by segment, so that the names in a directory follow it directly. */
function comparePaths(a: string, b: string): number {
  const [x, y] = [a.split('/'), b.split('/')];
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const difference = compareBytes(x[i] as string, y[i] as string);
    if (difference !== 0) return difference;
  }
  return x.length - y.length;
}
