import type { Metadata } from '../../backend.js';
import type { Dirent, Stats } from '../../entry.js';
import { FsError, type FsErrorCode, isFsError, withBothPaths } from '../../errors.js';
import type { CpOptions } from '../../file-system.js';
import { checkText, isWithin, joinPath, normalizePath, parentPath } from '../../paths.js';
import type { ContentNode } from '../../tree/content.js';
import {
  DIRECTORY,
  type DirectoryNode,
  FileNode,
  kindName,
  type Node,
  SYMLINK,
  type SymlinkNode,
  type TreeNode,
} from '../../tree/node.js';
import { type Location, metaMaker } from '../../tree/tree.js';
import { checkBoolean, checkExclusive, checkOptions } from '../arguments.js';
import type { Procedure } from '../scheduling/both-forms.js';
import { fileBytes, loadedFile } from '../view/contents.js';
import { checkFileSize, checkReach, reserve } from '../view/limits.js';
import type { View } from '../view.js';
import { DIRECTORY_MODE, makeDirectory, makePath } from './names.js';
import { present } from './read.js';
import { settledHere } from './settle.js';

/** `copyFile`: copies the content of one file into another. Follows links, with `exclusive` only those of the source. */
export function copyFile(
  view: View,
  source: string,
  destination: string,
  options?: { readonly exclusive?: boolean | undefined } | number,
): void {
  const exclusive = checkExclusive(options);
  checkText(source, 'path', 'copyfile');
  checkText(destination, 'path', 'copyfile');
  withBothPaths('copyfile', source, destination, () => copyContent(view, source, destination, exclusive));
}

function copyContent(view: View, source: string, destination: string, exclusive: boolean): void {
  const from = settledHere(view, present(view.find(source, true, 'read', 'copyfile'), 'copyfile', source), source);
  const fromPath = view.at.path();
  if (from.kind === DIRECTORY) throw new FsError('EISDIR');
  const file = from as FileNode;
  const to = view.find(destination, !exclusive, 'write', 'copyfile', 'file');
  const { parent, name } = view.at;
  if (to === undefined) {
    insertCopy(view, file, fromPath, parent, name, view.newMeta(file.meta.mode), destination);
    return;
  }
  if (exclusive) throw new FsError('EEXIST');
  if (to.kind === DIRECTORY) throw new FsError('EISDIR');
  if (to.id !== file.id) overwrite(view, file, to as FileNode, parent, name, file.meta.mode, destination);
}

interface Copy {
  readonly recursive: boolean;
  readonly force: boolean;
  readonly errorOnExist: boolean;
  readonly preserve: boolean;
}

/**
 * `cp`: copies files, links and directories; a directory merges into an existing one. If anything fails, nothing is
 * changed.
 */
export function cp(
  view: View,
  source: string,
  destination: string,
  options?: CpOptions,
  accepted?: readonly string[],
): void {
  const given = checkCpOptions(options);
  const copy: Copy = {
    recursive: checkBoolean(given.recursive, 'recursive'),
    force: given.force === undefined ? true : checkBoolean(given.force, 'force'),
    errorOnExist: checkBoolean(given.errorOnExist, 'errorOnExist'),
    preserve: checkBoolean(given.preserveTimestamps, 'preserveTimestamps'),
  };
  checkText(source, 'path', 'cp');
  checkText(destination, 'path', 'cp');
  view.atomic(() =>
    withBothPaths('cp', source, destination, () => {
      if (accepted === undefined) copyAll(view, source, destination, copy);
      else for (const at of accepted) copyOne(view, source + at, destination + at, copy);
    }),
  );
}

export function checkCpOptions(options: CpOptions | undefined): Partial<CpOptions> {
  const given = checkOptions(options, ['recursive', 'force', 'errorOnExist', 'preserveTimestamps', 'filter'], 'cp');
  const { filter } = given;
  if (filter !== undefined && typeof filter !== 'function') throw new TypeError('filter must be a function');
  return given;
}

/**
 * Asks the filter of `cp` about each entry to copy. The entries of a refused directory are left out without asking. A
 * procedure: it yields what `look`, `list` and the filter return, and receives the values, awaited in the asynchronous
 * form. Returns the accepted paths, parents first, relative to the source: `''` for itself, then `/a`, `/a/b` …;
 * undefined without a filter.
 */
export function* accepted(
  look: (path: string) => unknown,
  list: (path: string) => unknown,
  source: string,
  destination: string,
  options: CpOptions | undefined,
): Procedure<unknown, string[] | undefined> {
  const { filter, recursive } = checkCpOptions(options);
  if (filter === undefined) return undefined;
  const taken: string[] = [];
  const pending: (readonly [string, Pick<Dirent, 'isDirectory'>])[] = [['', (yield look(source)) as Stats]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [at, entry] = next;
    if (!(yield filter(source + at, destination + at))) continue;
    taken.push(at);
    if (recursive !== true || !entry.isDirectory()) continue;
    for (const dirent of ((yield list(source + at)) as Dirent[]).reverse())
      pending.push([`${at}/${dirent.name}`, dirent]);
  }
  return taken;
}

/** Copies one entry; a directory without its entries. */
function copyOne(view: View, source: string, destination: string, copy: Copy): void {
  const from = present(view.find(source, false, 'read', 'cp'), 'cp', source);
  if (from.kind !== DIRECTORY || !copy.recursive) {
    copyAll(view, source, destination, copy);
    return;
  }
  const fromPath = view.at.path();
  makeParents(view, parentPath(normalizePath(destination, 'cp', false)));
  const to = view.find(destination, false, 'write', 'cp', 'directory');
  if (isWithin(view.at.path(), fromPath)) fail('EINVAL', 'A directory cannot be copied into itself');
  if (to === undefined) makeDirectory(view, view.at.parent, view.at.name, from.meta.mode, destination);
  else if (to.kind !== DIRECTORY) fail('ENOTDIR');
}

function copyAll(view: View, source: string, destination: string, copy: Copy): void {
  const from = settledHere(view, present(view.find(source, false, 'read', 'cp'), 'cp', source), source);
  const fromPath = view.at.path();
  const fromLocation = from.kind === DIRECTORY ? view.at.location(from) : undefined;
  if (from.kind === DIRECTORY && !copy.recursive) fail('EISDIR', 'Pass { recursive: true } to copy a directory');
  const normal = normalizePath(destination, 'cp', false);
  if (parentPath(normal) !== normal) makeParents(view, parentPath(normal));
  const to = view.find(destination, false, 'write', 'cp', kindName(from));
  const { parent, name } = view.at;
  const toPath = view.at.path();
  const toLocation = to?.kind === DIRECTORY ? view.at.location(to) : undefined;
  if (to !== undefined) {
    if (to.id === from.id) fail('EINVAL', 'Source and destination are the same');
    if (from.kind === DIRECTORY && to.kind !== DIRECTORY) fail('ENOTDIR');
    if (from.kind !== DIRECTORY && to.kind === DIRECTORY) fail('EISDIR');
  }
  if (from.kind === DIRECTORY) {
    if (isWithin(toPath, fromPath)) fail('EINVAL', 'A directory cannot be copied into itself');
  }
  if (fromLocation !== undefined) {
    view.context.guard?.checkTree(view, fromLocation, 'read', 'cp', source);
    view.context.guard?.checkTree(view, fromLocation, 'write', 'cp', destination, toPath);
    view.loadTotals(fromLocation);
    if (to === undefined) checkReach(view, fromLocation, toPath, 'cp', destination);
  }
  if (to === undefined) copyNode(view, fromLocation?.directory ?? from, fromPath, parent, name, copy, destination);
  else if (fromLocation !== undefined && toLocation !== undefined)
    merge(view, fromLocation, toLocation, copy, destination);
  else {
    if (copy.force && leadsTo(view, from, fromPath, to)) fail('EEXIST', LEADS_HERE);
    copyOnto(view, from as FileNode, fromPath, to, parent, name, copy, destination);
  }
}

const LEADS_HERE = 'The link leads to what it would replace';

/** Reports whether a link leads to the file that its copy would replace. */
function leadsTo(view: View, node: Node, path: string, there: Node): boolean {
  return node.kind === SYMLINK && view.paths.glance(path, true, 'cp')?.id === there.id;
}

function fail(code: FsErrorCode, hint?: string): never {
  throw new FsError(code, { hint });
}

/** Creates missing parents of a copy, as `fs.cp` does; a file in the way is ENOTDIR. */
function makeParents(view: View, path: string): void {
  try {
    makePath(view, path, DIRECTORY_MODE, 'cp');
  } catch (error) {
    if (isFsError(error, 'EEXIST')) throw new FsError('ENOTDIR', { cause: error });
    throw error;
  }
}

/** Merges a directory into another. Everything is listed before anything is copied, so that no copy is copied again. */
function merge(view: View, source: Location, destination: Location, copy: Copy, to: string): void {
  const steps: (() => void)[] = [];
  const checks: (() => void)[] = [];
  let level: (readonly [Location, Location])[] = [[source, destination]];
  while (level.length > 0) {
    const next: typeof level = [];
    const listings = view.all(level, ([a, b]) => [view.list(a), view.list(b)] as const);
    level.forEach(([a, b], i) => {
      const [from, there] = listings[i] as (typeof listings)[number];
      from.forEach((entry, name) => {
        const node = view.tree.resolve(entry) as Node;
        const taken = view.tree.resolve(there.get(name));
        const path = joinPath(a.path, name);
        const dest = joinPath(b.path, name);
        if (taken === undefined) {
          if (node.kind === DIRECTORY) {
            const location = view.tree.childLocation(a, name, node);
            checks.push(() => checkReach(view, location, dest, 'cp', dest));
          }
          steps.push(() => copyNode(view, node, path, b, name, copy, dest));
        } else if (node.kind === DIRECTORY && taken.kind === DIRECTORY) {
          next.push([view.tree.childLocation(a, name, node), view.tree.childLocation(b, name, taken)]);
        } else {
          checkOnto(node, taken, copy, path, dest);
          checks.push(() => {
            if (copy.force && leadsTo(view, node, path, taken)) fail('EEXIST', LEADS_HERE);
          });
          steps.push(() => copyOnto(view, node as FileNode, path, taken, b, name, copy, to));
        }
      });
    });
    level = next;
  }
  view.all(checks, (check) => check());
  for (const step of steps) step();
}

function checkOnto(node: Node, taken: Node, copy: Copy, path: string, dest: string): void {
  const details = { syscall: 'cp', path, dest };
  if (node.kind === DIRECTORY) throw new FsError('ENOTDIR', details);
  if (taken.kind === DIRECTORY) throw new FsError('EISDIR', details);
  if (copy.errorOnExist && !copy.force) throw new FsError('EEXIST', details);
  if (taken.id === node.id) throw new FsError('EINVAL', { ...details, hint: 'Source and destination are the same' });
}

function copyOnto(
  view: View,
  node: FileNode | SymlinkNode,
  nodePath: string,
  there: Node,
  parent: Location,
  name: string,
  copy: Copy,
  destination: string,
): void {
  if (!copy.force) {
    if (copy.errorOnExist) throw new FsError('EEXIST');
    return;
  }
  // A file that has other names or is open continues to exist, so removing this name frees no space.
  const entry = parent.directory.entries.get(name) as TreeNode;
  const goesOn = view.tree.linksOf(entry) > 1 || view.openFiles?.isOpen(there.id) === true;
  const freed = there.kind === DIRECTORY || goesOn ? 0 : there.size;
  const growth = node.size - freed;
  checkFileSize(view, node.size, 0, 'cp', destination);
  if (growth > 0) reserve(view, growth, 0, 'cp', destination);
  view.remove(parent, name);
  insertAny(view, node, nodePath, parent, name, copy);
}

function copyNode(
  view: View,
  node: Node,
  nodePath: string,
  parent: Location,
  name: string,
  copy: Copy,
  destination: string,
): void {
  if (node.kind !== DIRECTORY) {
    checkFileSize(view, node.size, 0, 'cp', destination);
    reserve(view, node.size, 1, 'cp', destination);
    insertAny(view, node, nodePath, parent, name, copy);
    return;
  }
  view.loader?.learnMeta(node);
  reserve(view, node.size + linkedBytes(view, node), node.files + node.directories + 1, 'cp', destination);
  view.copyTree(node, nodePath, parent, name, copyMeta(view, node.meta, copy), copy.preserve);
}

function insertAny(
  view: View,
  node: FileNode | SymlinkNode,
  nodePath: string,
  parent: Location,
  name: string,
  copy: Copy,
): void {
  view.copyLeaf(node, nodePath, parent, name, copyMeta(view, node.meta, copy));
}

function insertCopy(
  view: View,
  file: FileNode,
  filePath: string,
  parent: Location,
  name: string,
  meta: Metadata,
  path: string,
): void {
  checkFileSize(view, file.size, 0, 'copyfile', path);
  reserve(view, file.size, 1, 'copyfile', path);
  view.copyLeaf(file, filePath, parent, name, meta);
}

function overwrite(
  view: View,
  file: FileNode,
  to: FileNode,
  parent: Location,
  name: string,
  mode: number,
  path: string,
): void {
  checkFileSize(view, file.size, to.size, 'copyfile', path);
  reserve(view, file.size - to.size, 0, 'copyfile', path);
  const now = view.now();
  const next = new FileNode(to.id, { ...to.meta, mode, mtime: now, ctime: now });
  view.tree.shared.contents.share(next as ContentNode, loadedFile(view, file));
  const parts = view.recorder === undefined ? [] : [{ offset: 0, bytes: fileBytes(view, file, path) }];
  view.setContent(parent, name, to, next, parts);
}

function copyMeta(view: View, meta: Metadata, copy: Copy): Metadata {
  return metaMaker({ time: view.now(), keep: copy.preserve })(meta);
}

/**
 * Returns the bytes of files and links with several names under a directory, once per name: their copies are separate.
 */
function linkedBytes(view: View, directory: DirectoryNode): number {
  if (directory.linked === 0) return 0;
  let bytes = 0;
  const pending = [directory];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    at.entries.forEach((entry: TreeNode) => {
      if (entry.kind === DIRECTORY) {
        if (entry.linked > 0) pending.push(entry);
      } else if (view.tree.resolve(entry) !== entry)
        bytes += (view.tree.resolve(entry) as FileNode | undefined)?.size ?? 0;
    });
  }
  return bytes;
}
