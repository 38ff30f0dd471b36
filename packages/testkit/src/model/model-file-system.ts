import type { ModelEntry, ModelStat } from './model-entry.js';
import { ModelHandle } from './model-handle.js';
import { copyGraph, countGraph, countNames, type ModelCounts, type ModelNode, sizeOf } from './model-node.js';
import { byteLength, checkWellFormed, compareBytes, ModelError, modelPath } from './model-path.js';

export interface ModelOptions {
  readonly clock?: (() => number) | undefined;
  readonly limits?: { maxTotalSize?: number; maxFileSize?: number; maxNodeCount?: number } | undefined;
}

/** The end of a walk: the directory, the last name and the node. The name of the root is `/`. */
interface Found {
  readonly parent: ModelNode;
  readonly name: string;
  readonly node: ModelNode | undefined;
  readonly path: string;
  /** True if the target of a link ends in `/` and does not exist, so that only a directory could be created there. */
  readonly onlyDirectory: boolean;
}

const MAX_LINK_HOPS = 40;

/**
 * A small POSIX filesystem meant to be obviously correct, not fast: Maps of nodes, and full copies for checkpoints and
 * for undoing changes that fail midway or exceed a limit. It shares no code with core, so comparing the two is
 * meaningful.
 */
export class ModelFileSystem {
  readonly kind = 'model';
  #root: ModelNode;
  #lastIno = 0;
  #checkpoints = new Map<string, ModelNode>();
  /** Number of rollbacks. Handles that were opened before the last one are stale. */
  #epoch = 0;
  readonly #clock: () => number;
  readonly #limits: NonNullable<ModelOptions['limits']>;

  constructor(options: ModelOptions = {}) {
    this.#clock = options.clock ?? (() => 0);
    this.#limits = options.limits ?? {};
    this.#root = this.#create('directory', 0o755);
  }

  exists(path: string): boolean {
    return this.#try(path) !== undefined;
  }
  isFile(path: string): boolean {
    return this.#try(path)?.kind === 'file';
  }
  isDirectory(path: string): boolean {
    return this.#try(path)?.kind === 'directory';
  }
  access(path: string, mode = 0): void {
    const node = this.#existing(path, true).node;
    if ((mode & 1) !== 0 && node.kind === 'file' && (node.mode & 0o111) === 0) throw new ModelError('EACCES');
  }
  realpath(path: string): string {
    return this.#existing(path, true).path;
  }
  stat(path: string): ModelStat {
    return this.#stat(this.#existing(path, true).node);
  }
  lstat(path: string): ModelStat {
    return this.#stat(this.#existing(path, false).node);
  }
  getEntry(path: string): ModelEntry {
    const { node, name, path: at } = this.#existing(path, false);
    return this.#entry(node, name, at);
  }
  readlink(path: string): string {
    const { node } = this.#existing(path, false);
    if (node.kind !== 'symlink') throw new ModelError('EINVAL');
    return node.target;
  }
  readdir(path: string): string[] {
    return [...this.#directory(path).node.names.keys()].sort(compareBytes);
  }
  entries(path: string): ModelEntry[] {
    const { node, path: at } = this.#directory(path);
    return this.readdir(path).map((name) => this.#entry(node.names.get(name) as ModelNode, name, join(at, name)));
  }
  walk(path = '/'): ModelEntry[] {
    const entries: ModelEntry[] = [];
    const visit = (directory: ModelNode, at: string): void => {
      for (const name of [...directory.names.keys()].sort(compareBytes)) {
        const child = directory.names.get(name) as ModelNode;
        entries.push(this.#entry(child, name, join(at, name)));
        visit(child, join(at, name));
      }
    };
    const start = this.#directory(path);
    visit(start.node, start.path);
    return entries;
  }
  readFile(path: string): Uint8Array<ArrayBuffer> {
    const { node } = this.#existing(path, true);
    if (node.kind === 'directory') throw new ModelError('EISDIR');
    return node.bytes.slice();
  }
  readText(path: string): string {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.readFile(path));
  }
  readLines(path: string): string[] {
    const lines: string[] = [];
    let rest = this.readText(path);
    while (rest !== '') {
      const end = rest.indexOf('\n');
      if (end === -1) return [...lines, rest];
      lines.push(rest[end - 1] === '\r' ? rest.slice(0, end - 1) : rest.slice(0, end));
      rest = rest.slice(end + 1);
    }
    return lines;
  }

  writeFile(path: string, data: Uint8Array | string, options: { flag?: string; mode?: number } = {}): void {
    const bytes = toBytes(data);
    this.#guard(() => {
      const handle = this.open(path, options.flag ?? 'w', options);
      handle.write(bytes, null);
    });
  }
  writeLines(path: string, lines: Iterable<string>): void {
    this.writeFile(path, [...lines].map((line) => `${line}\n`).join(''));
  }
  appendFile(path: string, data: Uint8Array | string, options: { mode?: number } = {}): void {
    this.writeFile(path, data, { ...options, flag: 'a' });
  }
  editFile(path: string, search: string, replacement: string, options: { all?: boolean } = {}): number {
    const text = this.readText(path);
    // Bytes that are not UTF-8 would be lost.
    if (search === '' || !sameBytes(new TextEncoder().encode(text), this.readFile(path)))
      throw new ModelError('EINVAL');
    const pieces = text.split(search);
    const found = pieces.length - 1;
    if (found === 0 || (found > 1 && options.all !== true)) throw new ModelError('EINVAL');
    this.writeFile(path, pieces.join(replacement), { flag: 'w' });
    return found;
  }
  truncate(path: string, length = 0): void {
    this.#guard(() => this.open(path, 'r+').truncate(length));
  }
  open(path: string, flags = 'r', options: { mode?: number } = {}): ModelHandle {
    let node: ModelNode | undefined;
    this.#guard(() => {
      node = this.#open(path, flags, options.mode ?? 0o644);
    });
    return new ModelHandle(node as ModelNode, path, flags, {
      now: this.#clock,
      guard: (change) => this.#guard(change),
      stat: (of) => this.#stat(of),
      isCurrent: (
        (epoch) => () =>
          epoch === this.#epoch
      )(this.#epoch),
    });
  }

  mkdir(path: string, options: { recursive?: boolean; mode?: number } = {}): string | undefined {
    const mode = options.mode ?? 0o755;
    let first: string | undefined;
    this.#whole(() => {
      first = options.recursive === true ? this.#makeAll(modelPath(path), mode) : undefined;
      if (options.recursive !== true) {
        const found = this.#walk(modelPath(path), false);
        if (found.node !== undefined) throw new ModelError('EEXIST');
        this.#put(found, this.#create('directory', mode));
      }
    });
    return first;
  }
  rm(path: string, options: { recursive?: boolean; force?: boolean } = {}): void {
    let found: Found & { readonly node: ModelNode };
    try {
      found = this.#existing(path, false);
    } catch (error) {
      if (options.force === true && error instanceof ModelError && error.code === 'ENOENT' && path !== '') return;
      throw error;
    }
    if (found.node.kind === 'directory' && options.recursive !== true) throw new ModelError('EISDIR');
    if (found.node === this.#root) throw new ModelError('EBUSY');
    this.#take(found);
  }
  unlink(path: string): void {
    const found = this.#existing(path, false);
    if (found.node.kind === 'directory') throw new ModelError('EISDIR');
    this.#take(found);
  }
  rmdir(path: string): void {
    const found = this.#existing(path, false);
    if (found.node === this.#root) throw new ModelError('EBUSY');
    if (found.node.kind !== 'directory') throw new ModelError('ENOTDIR');
    if (found.node.names.size > 0) throw new ModelError('ENOTEMPTY');
    this.#take(found);
  }

  copyFile(from: string, to: string, options: { exclusive?: boolean } = {}): void {
    this.#guard(() => {
      const source = this.#existing(from, true).node;
      if (source.kind === 'directory') throw new ModelError('EISDIR');
      const bytes = source.bytes.slice();
      const target = this.#open(to, options.exclusive === true ? 'wx' : 'r+?', source.mode);
      if (target === source) return;
      target.bytes = bytes;
      target.mode = source.mode;
      target.mtime = target.ctime = this.#clock();
    });
  }
  cp(from: string, to: string, options: CpOptions = {}): void {
    this.#whole(() => {
      const source = this.#existing(from, false);
      const isDirectory = source.node.kind === 'directory';
      if (isDirectory && options.recursive !== true) throw new ModelError('EISDIR');
      const names = modelPath(to);
      let destination = this.#findOrNothing(names);
      if (source.node === destination?.node) throw new ModelError('EINVAL');
      if (destination?.node !== undefined) {
        if (isDirectory && destination.node.kind !== 'directory') throw new ModelError('ENOTDIR');
        if (!isDirectory && destination.node.kind === 'directory') throw new ModelError('EISDIR');
      }
      this.#makeAll(names.slice(0, -1), 0o755);
      destination = this.#walk(names, false);
      if (isDirectory && contains(source.node, destination.parent)) throw new ModelError('EINVAL');
      this.#copyInto(copyGraph(source.node), destination, options);
    });
  }
  rename(from: string, to: string): void {
    const fromNames = modelPath(from);
    const toNames = modelPath(to);
    const source = this.#walk(fromNames, false);
    let target: Found;
    try {
      target = this.#walk(toNames, false);
    } catch (error) {
      // The order of the lookups: the parents, the name of the source, the name of the target.
      if (source.node === undefined && error instanceof ModelError && this.#parentIsThere(toNames))
        throw new ModelError('ENOENT');
      throw error;
    }
    if (source.node === this.#root || target.node === this.#root) throw new ModelError('EBUSY');
    if (source.node === undefined) throw new ModelError('ENOENT');
    if (contains(source.node, target.parent)) throw new ModelError('EINVAL');
    if (target.node !== undefined && target.node !== source.node && contains(target.node, source.parent))
      throw new ModelError('ENOTEMPTY');
    if (target.node === source.node) return;
    if (target.node !== undefined) {
      const isDirectory = source.node.kind === 'directory';
      if (isDirectory && target.node.kind !== 'directory') throw new ModelError('ENOTDIR');
      if (!isDirectory && target.node.kind === 'directory') throw new ModelError('EISDIR');
      if (target.node.names.size > 0) throw new ModelError('ENOTEMPTY');
      this.#take(target);
    }
    this.#detach(source);
    this.#put(target, source.node);
    source.node.ctime = this.#clock();
  }

  symlink(target: string, path: string): void {
    if (typeof target !== 'string' || target.includes('\0')) throw new TypeError('target');
    checkWellFormed(target);
    if (target === '') throw new ModelError('ENOENT');
    if (byteLength(target) > 4095) throw new ModelError('ENAMETOOLONG');
    this.#guard(() => {
      const found = this.#walk(modelPath(path), false);
      if (found.node !== undefined) throw new ModelError('EEXIST');
      this.#put(found, { ...this.#create('symlink', 0o777), target });
    });
  }
  link(from: string, to: string): void {
    this.#guard(() => {
      const source = this.#existing(from, false).node;
      const found = this.#walk(modelPath(to), false);
      if (found.node !== undefined) throw new ModelError('EEXIST');
      if (source.kind === 'directory') throw new ModelError('EPERM');
      this.#put(found, source);
      source.ctime = this.#clock();
    });
  }
  chmod(path: string, mode: number): void {
    const { node } = this.#existing(path, true);
    node.mode = mode & 0o7777;
    node.ctime = this.#clock();
  }
  chown(path: string, uid: number, gid: number): void {
    this.#own(this.#existing(path, true).node, uid, gid);
  }
  lchown(path: string, uid: number, gid: number): void {
    this.#own(this.#existing(path, false).node, uid, gid);
  }
  utimes(path: string, atime: number | Date, mtime: number | Date): void {
    setTimes(this.#existing(path, true).node, atime, mtime, this.#clock());
  }
  lutimes(path: string, atime: number | Date, mtime: number | Date): void {
    setTimes(this.#existing(path, false).node, atime, mtime, this.#clock());
  }

  /** Returns every path except the root with its node, unordered. Generators choose targets from it. */
  nodes(): { readonly path: string; readonly node: Readonly<ModelNode> }[] {
    const all: { path: string; node: ModelNode }[] = [];
    const visit = (directory: ModelNode, at: string): void => {
      for (const [name, node] of directory.names) {
        const path = join(at, name);
        all.push({ path, node });
        visit(node, path);
      }
    };
    visit(this.#root, '/');
    return all;
  }
  stats(): ModelCounts {
    return countGraph(this.#root);
  }
  checkpoint(name: string): { id: string; name: string } {
    if (this.#checkpoints.has(name)) throw new ModelError('EEXIST');
    this.#checkpoints.set(name, copyGraph(this.#root));
    return { id: name, name };
  }
  rollback(name: string): void {
    const state = this.#checkpoints.get(name);
    if (state === undefined) throw new ModelError('ENOENT');
    this.#root = copyGraph(state);
    this.#epoch += 1;
  }
  drop(name: string): void {
    if (!this.#checkpoints.delete(name)) throw new ModelError('ENOENT');
  }
  fork(): ModelFileSystem {
    const fork = new ModelFileSystem({ clock: this.#clock, limits: this.#limits });
    fork.#root = copyGraph(this.#root);
    fork.#lastIno = this.#lastIno;
    return fork;
  }

  /** Runs a change. If there are limits, undoes it if it fails or grows beyond one. */
  #guard(change: () => void): void {
    const { maxTotalSize, maxFileSize, maxNodeCount } = this.#limits;
    if (maxTotalSize === undefined && maxFileSize === undefined && maxNodeCount === undefined) {
      change();
      return;
    }
    this.#undoOnError(() => {
      const before = countGraph(this.#root);
      const largestBefore = largest(this.#root);
      change();
      const after = countGraph(this.#root);
      const largestAfter = largest(this.#root);
      if (maxFileSize !== undefined && largestAfter > maxFileSize && largestAfter > largestBefore)
        throw new ModelError('EFBIG');
      if (maxTotalSize !== undefined && after.totalSize > maxTotalSize && after.totalSize > before.totalSize)
        throw new ModelError('ENOSPC');
      if (maxNodeCount !== undefined && after.nodeCount > maxNodeCount && after.nodeCount > before.nodeCount)
        throw new ModelError('ENOSPC');
    });
  }
  /** Runs a change that may fail midway, and undoes it then. */
  #whole(change: () => void): void {
    this.#undoOnError(() => this.#guard(change));
  }
  #depth = 0;
  #undoOnError(change: () => void): void {
    if (this.#depth > 0) {
      change();
      return;
    }
    const before = new Map<ModelNode, ModelNode>();
    const save = (node: ModelNode): void => {
      before.set(node, { ...node, names: new Map(node.names) });
      for (const child of node.names.values()) save(child);
    };
    save(this.#root);
    this.#depth += 1;
    try {
      change();
    } catch (error) {
      // Nodes keep their identity, so that open handles still lead to them.
      for (const [node, was] of before) Object.assign(node, was);
      throw error;
    } finally {
      this.#depth -= 1;
    }
  }

  #create(kind: ModelNode['kind'], mode: number): ModelNode {
    const now = this.#clock();
    this.#lastIno += 1;
    const times = { atime: now, mtime: now, ctime: now, birthtime: now };
    return {
      ino: this.#lastIno,
      kind,
      mode: mode & 0o7777,
      uid: 0,
      gid: 0,
      ...times,
      bytes: new Uint8Array(0),
      target: '',
      names: new Map(),
    };
  }
  #put(found: Found, node: ModelNode): void {
    if (found.onlyDirectory && node.kind !== 'directory') throw new ModelError('EISDIR');
    found.parent.names.set(found.name, node);
    found.parent.mtime = found.parent.ctime = this.#clock();
  }
  #detach(found: Found): void {
    found.parent.names.delete(found.name);
    found.parent.mtime = found.parent.ctime = this.#clock();
  }
  #take(found: Found): void {
    this.#detach(found);
    const lose = (node: ModelNode): void => {
      if (node.kind === 'directory') for (const child of node.names.values()) lose(child);
      else node.ctime = this.#clock();
    };
    if (found.node !== undefined) lose(found.node);
  }
  #own(node: ModelNode, uid: number, gid: number): void {
    node.uid = uid;
    node.gid = gid;
    node.ctime = this.#clock();
  }

  /** Opens like `open(2)`; `r+?` creates a missing file and keeps an existing one. */
  #open(path: string, flags: string, mode: number): ModelNode {
    const exclusive = flags.includes('x');
    const creates = flags[0] !== 'r' || flags === 'r+?';
    const found = this.#walk(modelPath(path), !exclusive);
    if (found.node === undefined) {
      if (!creates) throw new ModelError('ENOENT');
      const node = this.#create('file', mode);
      this.#put(found, node);
      return node;
    }
    if (exclusive) throw new ModelError('EEXIST');
    if (found.node.kind === 'directory' && flags !== 'r') throw new ModelError('EISDIR');
    if (flags[0] === 'w') {
      found.node.bytes = new Uint8Array(0);
      found.node.mtime = found.node.ctime = this.#clock();
    }
    return found.node;
  }

  #makeAll(names: readonly string[], mode: number): string | undefined {
    let first: string | undefined;
    for (let depth = 1; depth <= names.length; depth++) {
      const found = this.#walk(names.slice(0, depth), true);
      if (found.node === undefined) {
        if (this.#walk(names.slice(0, depth), false).node !== undefined) throw new ModelError('ENOENT');
        this.#put(found, this.#create('directory', mode));
        first ??= `/${names.slice(0, depth).join('/')}`;
      } else if (found.node.kind !== 'directory') {
        throw new ModelError(depth === names.length ? 'EEXIST' : 'ENOTDIR');
      }
    }
    return first;
  }

  #copyInto(source: ModelNode, destination: Found, options: CpOptions): void {
    const now = this.#clock();
    const fresh = (node: ModelNode): ModelNode => {
      const copy = {
        ...this.#create(node.kind, node.mode),

        bytes: node.bytes.slice(),
        target: node.target,
      };
      if (options.preserveTimestamps === true) Object.assign(copy, { atime: node.atime, mtime: node.mtime });
      for (const [name, child] of node.names) copy.names.set(name, fresh(child));
      return copy;
    };
    const existing = destination.node;
    if (existing === undefined) {
      this.#put(destination, fresh(source));
      return;
    }
    if (source.kind === 'directory' && existing.kind === 'directory') {
      // In name order: of several conflicts the first is reported.
      for (const [name, child] of [...source.names].sort(([a], [b]) => compareBytes(a, b))) {
        const at = {
          parent: existing,
          name,
          node: existing.names.get(name),
          path: join(destination.path, name),
          onlyDirectory: false,
        };
        if (at.node !== undefined) {
          if (at.node.kind === 'directory' && child.kind !== 'directory') throw new ModelError('EISDIR');
          if (at.node.kind !== 'directory' && child.kind === 'directory') throw new ModelError('ENOTDIR');
        }
        this.#copyInto(child, at, options);
      }
      return;
    }
    if (options.force === false) {
      if (options.errorOnExist === true) throw new ModelError('EEXIST');
      return;
    }
    this.#take(destination);
    existing.ctime = now;
    this.#put(destination, fresh(source));
  }

  /** Returns the end of a path; undefined if a directory on the path is missing. */
  #findOrNothing(names: readonly string[]): Found | undefined {
    try {
      return this.#walk(names, false);
    } catch (error) {
      if (error instanceof ModelError && error.code === 'ENOENT') return undefined;
      throw error;
    }
  }
  #try(path: string): ModelNode | undefined {
    try {
      return this.#walk(modelPath(path), true).node;
    } catch {
      return undefined;
    }
  }
  #existing(path: string, follow: boolean): Found & { readonly node: ModelNode } {
    const found = this.#walk(modelPath(path), follow);
    if (found.node === undefined) throw new ModelError('ENOENT');
    return { ...found, node: found.node };
  }
  #directory(path: string): Found & { readonly node: ModelNode } {
    const found = this.#existing(path, true);
    if (found.node.kind !== 'directory') throw new ModelError('ENOTDIR');
    return found;
  }
  #parentIsThere(names: readonly string[]): boolean {
    try {
      return this.#walk(names.slice(0, -1), true).node?.kind === 'directory';
    } catch {
      return false;
    }
  }

  /**
   * Walks the names from the root; the target of a link is walked in place, its `..` from the directory of the link.
   */
  #walk(names: readonly string[], follow: boolean): Found {
    const trail: { node: ModelNode; name: string }[] = [{ node: this.#root, name: '' }];
    const pending = [...names];
    let hops = 0;
    while (pending.length > 0) {
      const name = pending.shift() as string;
      const here = (trail[trail.length - 1] as { node: ModelNode }).node;
      const path = `/${trail
        .slice(1)
        .map((step) => step.name)
        .join('/')}`;
      if (here.kind !== 'directory') throw new ModelError('ENOTDIR');
      if (name === '' || name === '.') continue;
      if (name === '..') {
        if (trail.length > 1) trail.pop();
        continue;
      }
      if (name.length > 80 && byteLength(name) > 255) throw new ModelError('ENAMETOOLONG');
      const node = here.names.get(name);
      const isLast = pending.every((rest) => rest === '');
      if (node === undefined) {
        if (isLast) return { parent: here, name, node, path: join(path, name), onlyDirectory: pending.length > 0 };
        throw new ModelError('ENOENT');
      }
      if (node.kind === 'symlink' && (follow || pending.length > 0)) {
        hops += 1;
        if (hops > MAX_LINK_HOPS) throw new ModelError('ELOOP');
        if (node.target.startsWith('/')) trail.length = 1;
        pending.unshift(...node.target.split('/'));
        continue;
      }
      if (pending.length > 0 && node.kind !== 'directory') throw new ModelError('ENOTDIR');
      trail.push({ node, name });
    }
    const last = trail[trail.length - 1] as { node: ModelNode; name: string };
    const parent = trail[Math.max(trail.length - 2, 0)] as { node: ModelNode };
    const path = `/${trail
      .slice(1)
      .map((step) => step.name)
      .join('/')}`;
    return {
      parent: parent.node,
      name: last.name === '' ? '/' : last.name,
      node: last.node,
      path,
      onlyDirectory: false,
    };
  }

  #stat(node: ModelNode): ModelStat {
    const size = sizeOf(node);
    const type = node.kind === 'file' ? 0o100000 : node.kind === 'directory' ? 0o040000 : 0o120000;
    return {
      kind: node.kind,
      ino: node.ino,
      mode: type | node.mode,
      nlink: node.kind === 'directory' ? 1 : countNames(this.#root, node),
      size,
      uid: node.uid,
      gid: node.gid,
      atimeMs: node.atime,
      mtimeMs: node.mtime,
      ctimeMs: node.ctime,
      birthtimeMs: node.birthtime,
    };
  }
  #entry(node: ModelNode, name: string, path: string): ModelEntry {
    return {
      name,
      path,
      kind: node.kind,
      isDirectory: node.kind === 'directory',
      size: sizeOf(node),
      mode: node.mode,
      uid: node.uid,
      gid: node.gid,
      createdAt: node.birthtime,
      modifiedAt: node.mtime,
      changedAt: node.ctime,
      accessedAt: node.atime,
      links: node.kind === 'directory' ? 1 : countNames(this.#root, node),
      content: node.bytes.slice(),
      ...(node.kind === 'symlink' ? { target: node.target } : {}),
    };
  }
}

interface CpOptions {
  recursive?: boolean;
  force?: boolean;
  errorOnExist?: boolean;
  preserveTimestamps?: boolean;
}

function join(directory: string, name: string): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`;
}

function contains(node: ModelNode, other: ModelNode): boolean {
  if (node === other) return true;
  for (const child of node.names.values()) if (contains(child, other)) return true;
  return false;
}

function largest(root: ModelNode): number {
  let size = root.bytes.length;
  for (const child of root.names.values()) size = Math.max(size, largest(child));
  return size;
}

function toBytes(data: Uint8Array | string): Uint8Array<ArrayBuffer> {
  return typeof data === 'string' ? new TextEncoder().encode(data) : data.slice();
}

export function setTimes(node: ModelNode, atime: number | Date, mtime: number | Date, now: number): void {
  node.atime = typeof atime === 'number' ? atime * 1000 : atime.getTime();
  node.mtime = typeof mtime === 'number' ? mtime * 1000 : mtime.getTime();
  node.ctime = now;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && a.every((byte, i) => byte === b[i]);
}
