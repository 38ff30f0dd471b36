import { checkFileSystem } from '../../check-file-system.js';
import { describe } from '../../engine/arguments.js';
import { makeContext } from '../../engine/context.js';
import { rootMeta } from '../../engine/defaults.js';
import { MemoryExecutor } from '../../engine/memory/memory-executor.js';
import type { FileSystem } from '../../file-system.js';
import { MemoryFileSystem } from '../../memory-file-system.js';
import { compareNames, isWithin, joinPath, normalizePath, parentPath, pathSegments } from '../../paths.js';

/** A filesystem and its mount point. */
export interface Mounted {
  readonly fileSystem: FileSystem;
  /** Absolute path of the mount point. */
  readonly point: string;
  /** Position among the mounted filesystems. It distinguishes this filesystem's files from those of the others. */
  readonly index: number;
}

/** Location of a path in one of the filesystems. */
export interface Inside {
  readonly mounted: Mounted;
  /** The path within that filesystem. */
  readonly inner: string;
}

/** Several filesystems under one root, and the directories that lead to the mount points. */
export class Namespace {
  readonly root: Mounted;
  readonly all: readonly Mounted[];
  /** Contains the directories that lead to mount points, which the lower filesystem may lack. */
  readonly skeleton: Mounted;
  readonly #points = new Map<string, Mounted>();
  /** Directories that lead to mount points, with the names in them that lead on. */
  readonly #ways = new Map<string, Set<string>>();

  constructor(
    root: FileSystem,
    mounts: Readonly<Record<string, FileSystem>>,
    readonly clock: () => number,
  ) {
    this.root = { fileSystem: checkFileSystem(root, 'The root'), point: '/', index: 0 };
    if (typeof mounts !== 'object' || mounts === null)
      throw new TypeError(`The mounts must be an object of paths and filesystems, not ${describe(mounts)}`);
    const executor = MemoryExecutor.create(rootMeta(clock()));
    const skeleton = new MemoryFileSystem(executor, makeContext({ clock }, executor));
    for (const [given, fileSystem] of Object.entries(mounts)) {
      const point = normalizePath(given, 'mount');
      if (point === '/')
        throw new TypeError('A filesystem cannot be mounted at /: pass it as the first argument of mount');
      if (this.#points.has(point))
        throw new TypeError(`The mount point ${JSON.stringify(point)} is given twice; each may occur once`);
      const index = this.#points.size + 1;
      this.#points.set(point, { fileSystem: checkFileSystem(fileSystem, `What is mounted at ${point}`), point, index });
      skeleton.mkdirSync(point, { recursive: true });
      for (let at = point; at !== '/'; at = parentPath(at)) this.#lead(parentPath(at), at);
    }
    this.all = [this.root, ...this.#points.values()];
    this.skeleton = { fileSystem: skeleton, point: '/', index: this.all.length };
  }

  /** Returns the same namespace over other filesystems. */
  with(other: (fileSystem: FileSystem) => FileSystem): Namespace {
    const mounts = this.all.slice(1).map(({ point, fileSystem }) => [point, other(fileSystem)] as const);
    return new Namespace(other(this.root.fileSystem), Object.fromEntries(mounts), this.clock);
  }

  /** Each filesystem once, even if it is mounted twice. */
  get fileSystems(): FileSystem[] {
    return [...new Set(this.all.map(({ fileSystem }) => fileSystem))];
  }

  isPoint(path: string): boolean {
    return this.#points.has(path);
  }

  /** Reports whether mount points lie under a path. */
  isWay(path: string): boolean {
    return this.#ways.has(path);
  }

  /** Returns the names in a directory that are mount points or lead to one. */
  leads(directory: string): string[] {
    return [...(this.#ways.get(directory) ?? [])].sort(compareNames);
  }

  pointsBeneath(directory: string): Mounted[] {
    return [...this.#points.values()].filter(({ point }) => point !== directory && isWithin(point, directory));
  }

  /** Returns the filesystem and inner path of a path without links. */
  inside(path: string): Inside {
    for (let at = path; at !== '/'; at = parentPath(at)) {
      const mounted = this.#points.get(at);
      if (mounted !== undefined) return { mounted, inner: path === at ? '/' : path.slice(at.length) };
    }
    return { mounted: this.root, inner: path };
  }

  /** Returns the outer path of a path in one of the filesystems. */
  outside(mounted: Mounted, inner: string): string {
    if (mounted.point === '/') return inner;
    return inner === '/' ? mounted.point : joinPath(mounted.point, inner.slice(1));
  }

  #lead(directory: string, to: string): void {
    const names = this.#ways.get(directory) ?? new Set();
    names.add(pathSegments(to).at(-1) as string);
    this.#ways.set(directory, names);
  }
}
