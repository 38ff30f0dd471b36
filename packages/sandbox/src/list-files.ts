import {
  compareNames,
  type EntryInfo,
  type FileSystem,
  isFsError,
  joinPath,
  type Stats,
  type SyncFileSystem,
  type WalkOptions,
} from '@scratchfs/core';
import { type CallSequence, collectItems, invoke, needsSync } from '@scratchfs/core/internal';
import { compileGlob, type Glob } from '@scratchfs/core/search';
import type { ListedEntry } from './file-sandbox.js';
import { isAbsent } from './find.js';
import { rootOf } from './namespace.js';
import { climbs, isAbsolute, type SandboxRoot } from './sandbox-root.js';

/** A path of the filesystem and its name in the sandbox. */
export interface Shown {
  readonly path: string;
  readonly name: string;
}

/** An entry of a listing, and its path in the filesystem. */
export interface LocatedEntry extends ListedEntry {
  readonly at: string;
}

/** @throws TypeError, RangeError for an invalid pattern, or one that leads elsewhere */
export function checkPattern(pattern: string): Glob {
  const glob = compileGlob(pattern, { dot: true });
  if (isAbsolute(pattern) || climbs(pattern, Number.POSITIVE_INFINITY)) {
    throw new RangeError("pattern must begin in the directory that is listed: no leading '/', no '..'");
  }
  return glob;
}

/** Returns the matching entries under a directory, sorted by their names in the sandbox. Links are not followed. */
export function* entriesIn(
  fileSystem: FileSystem,
  top: Shown,
  pattern: string,
  glob: Glob,
): CallSequence<LocatedEntry[]> {
  const start = glob.base === '' ? top.path : joinPath(top.path, glob.base);
  const found = yield* everything(fileSystem, top.path, start, depthOf(pattern, glob));
  const prefix = top.path === '/' ? 1 : top.path.length + 1;
  const entries: LocatedEntry[] = [];
  for (const { kind, path, size } of found) {
    const rest = path.slice(prefix);
    if (glob.matches(rest, kind === 'directory')) entries.push({ at: path, path: joined(top.name, rest), kind, size });
  }
  return entries.sort(byPath);
}

/** Lists from the top of a sandbox with names: returns the matching roots, and the matching entries under them. */
export function* entriesAtTop(
  fileSystem: FileSystem,
  roots: readonly SandboxRoot[],
  glob: Glob,
  canList: (path: string) => boolean,
): CallSequence<LocatedEntry[]> {
  const entries = new Map<string, LocatedEntry>();
  const all = checkPattern('**/*');
  for (const root of roots) {
    const name = root.name as string;
    if (!canList(root.path)) continue;
    const inside = glob.mayMatchBelow(name)
      ? yield* orNone(entriesIn(fileSystem, { path: root.path, name }, '**/*', all))
      : [];
    if (
      glob.matches(name, true) &&
      (inside.length > 0 || (yield* invoke<boolean>(fileSystem, 'isDirectory', [root.path])))
    )
      entries.set(name, { at: root.path, path: name, kind: 'directory', size: 0 });
    for (const entry of inside) {
      const isMatch = glob.matches(entry.path, entry.kind === 'directory');
      if (isMatch && !isInner(roots, root, entry.path.slice(name.length + 1))) entries.set(entry.path, entry);
    }
  }
  return [...entries.values()].sort(byPath);
}

/** Returns the paths of files, and of links that lead to files. */
export function* filesAmong(fileSystem: FileSystem, entries: readonly LocatedEntry[]): CallSequence<string[]> {
  const files: string[] = [];
  for (const { at, path, kind } of entries) {
    if (kind === 'directory') continue;
    if (kind === 'file' || (yield* invoke<boolean>(fileSystem, 'isFile', [at]))) files.push(path);
  }
  return files;
}

function byPath(a: LocatedEntry, b: LocatedEntry): number {
  return compareNames(a.path, b.path);
}

/** Returns no entries if the filesystem refuses to list them, for example because the directory does not exist. */
function* orNone(entries: CallSequence<LocatedEntry[]>): CallSequence<LocatedEntry[]> {
  try {
    return yield* entries;
  } catch (error) {
    if (isFsError(error)) return [];
    throw error;
  }
}

/** Reports whether an entry of this root also lies in another root within this one. */
function isInner(roots: readonly SandboxRoot[], root: SandboxRoot, rest: string): boolean {
  return rootOf(roots, joinPath(root.path, rest)) !== root;
}

function joined(name: string, rest: string): string {
  return name === '' || name.endsWith('/') ? `${name}${rest}` : `${name}/${rest}`;
}

/**
 * Returns the entries under the literal start of a pattern, down to `maxDepth` levels; none if the start does not
 * exist although `top` does.
 */
function* everything(
  fileSystem: FileSystem,
  top: string,
  start: string,
  maxDepth: number | undefined,
): CallSequence<EntryInfo[]> {
  try {
    return yield* walk(fileSystem, start, { maxDepth });
  } catch (error) {
    if (start === top || !isAbsent(error)) throw error;
    yield* invoke<Stats>(fileSystem, 'stat', [top]);
    return [];
  }
}

function* walk(fileSystem: FileSystem, path: string, options: WalkOptions): CallSequence<EntryInfo[]> {
  return (yield {
    sync: () => {
      if (fileSystem.kind !== 'sync') throw needsSync('walkSync');
      return [...(fileSystem as SyncFileSystem).walkSync(path, options)];
    },
    async: (signal) => collectItems(fileSystem.walk(path, { ...options, signal })),
  }) as EntryInfo[];
}

/**
 * Returns the greatest number of levels under its literal start that a pattern may reach; undefined for a pattern with
 * `**`.
 */
function depthOf(pattern: string, glob: Glob): number | undefined {
  if (pattern.includes('**')) return undefined;
  const slashes = pattern.split(/[/\\]/).length - 1;
  return slashes - (glob.base === '' ? 0 : glob.base.split('/').length) + 1;
}
