import type { EntryKind } from '../../entry.js';
import { FsError, type FsErrorCode, isFsError, withBothPaths } from '../../errors.js';
import type { MkdirOptions, Mode, NameArgument, RenameOptions, RmOptions } from '../../file-system.js';
import { checkName, checkText, isWithin, joinPath, normalizePath, pathSegments, utf8Length } from '../../paths.js';
import { DIRECTORY, DirectoryNode, type FileNode, kindName, type Node, type SymlinkNode } from '../../tree/node.js';
import { type Location, symlinkNode } from '../../tree/tree.js';
import { checkBoolean, checkMode, checkOptions, checkVersion } from '../arguments.js';
import type { Aim } from '../composed-guard.js';
import type { Access } from '../guard.js';
import { checkFileSize, checkReach, reserve } from '../view/limits.js';
import { isTooLong } from '../view/path-cursor.js';
import type { View } from '../view.js';
import { checkNameOptions, expectVersion, present } from './read.js';

export const DIRECTORY_MODE = 0o755;
/** Maximum bytes of a link's target: PATH_MAX of Linux, 4,096, without the final NUL. */
const MAX_TARGET_BYTES = 4095;

export function mkdir(view: View, path: string, options?: MkdirOptions | Mode): string | undefined {
  const given = checkOptions<MkdirOptions>(options, ['mode', 'recursive'], 'mkdir');
  const mode = checkMode(given.mode, DIRECTORY_MODE);
  if (checkBoolean(given.recursive, 'recursive')) return makePath(view, path, mode);
  if (view.find(path, false, 'write', 'mkdir', 'directory') !== undefined)
    throw new FsError('EEXIST', { syscall: 'mkdir', path });
  makeDirectory(view, view.at.parent, view.at.name, mode, path);
  return undefined;
}

export function makeDirectory(view: View, parent: Location, name: string, mode: number, path: string): DirectoryNode {
  reserve(view, 0, 1, 'mkdir', path);
  const directory = DirectoryNode.empty(view.tree.owner, view.context.newId(), view.newMeta(mode));
  view.create(parent, name, directory);
  return directory;
}

/**
 * `mkdir -p`: checks the whole path first, so that nothing is created if a part of it cannot be. Returns the path of
 * the first created directory; undefined if all exist.
 */
export function makePath(view: View, path: string, mode: number, syscall = 'mkdir'): string | undefined {
  const segments = pathSegments(normalizePath(path, syscall, false));
  const { guard } = view.context;
  const aim: Aim = { access: 'write', syscall, given: path, makes: 'directory' };
  // If parts are unknown, the whole path is requested together.
  if (view.source !== undefined) view.paths.glance(path, true, syscall);
  let location = view.tree.rootLocation;
  for (let i = 0; i < segments.length; i++) {
    const at = `/${segments.slice(0, i + 1).join('/')}`;
    const node = view.paths.findWay(at, true, aim);
    const end = view.at.path();
    const stop = (code: FsErrorCode): FsError => {
      guard?.stuck(end, segments.slice(i + 1).reverse(), aim);
      return new FsError(code, { syscall, path });
    };
    if (node === undefined) {
      // A dangling link is an error; a missing name is created.
      if (view.paths.findWay(at, false, aim) !== undefined) throw stop('ENOENT');
      makeRest(view, location, segments.slice(i), mode, path, syscall);
      return at;
    }
    if (node.kind !== DIRECTORY) throw stop(i === segments.length - 1 ? 'EEXIST' : 'ENOTDIR');
    location = view.at.location(node);
  }
  guard?.check(location.path, 'look', syscall, path, location.directory);
  return undefined;
}

function makeRest(
  view: View,
  start: Location,
  names: readonly string[],
  mode: number,
  path: string,
  syscall: string,
): void {
  let at = start.path;
  for (const name of names) {
    at = joinPath(at, name);
    view.context.guard?.check(at, 'write', syscall, path, undefined, 'directory');
  }
  for (const name of names) checkName(name, syscall);
  if (isTooLong(at)) throw new FsError('ENAMETOOLONG', { syscall, path });
  reserve(view, 0, names.length, syscall, path);
  let location = start;
  for (const name of names) {
    const directory = DirectoryNode.empty(view.tree.owner, view.context.newId(), view.newMeta(mode));
    view.create(location, name, directory);
    location = view.tree.childLocation(location, name, directory);
  }
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** Maximum number of names to draw. One is nearly always enough; the limit ends the loop if `random` repeats itself. */
const MAX_DRAWN = 100;

export function mkdtemp(view: View, prefix: string, options?: NameArgument): string {
  checkNameOptions(options, 'mkdtemp');
  checkText(prefix, 'prefix', 'mkdtemp');
  for (let i = 0; i < MAX_DRAWN; i++) {
    const path = prefix + drawLetters(view);
    if (view.find(path, false, 'write', 'mkdtemp', 'directory') !== undefined) continue;
    makeDirectory(view, view.at.parent, view.at.name, 0o700, prefix);
    return view.at.path();
  }
  throw new FsError('EEXIST', { syscall: 'mkdtemp', path: `${prefix}XXXXXX`, hint: 'Every name drawn was taken' });
}

function drawLetters(view: View): string {
  let letters = '';
  for (let i = 0; i < 6; i++) {
    const letter = LETTERS[view.context.random(LETTERS.length)];
    if (letter === undefined) throw new RangeError(`random must return an integer from 0 to ${LETTERS.length - 1}`);
    letters += letter;
  }
  return letters;
}

export function rm(view: View, path: string, options?: RmOptions): void {
  const given = checkOptions(options, ['recursive', 'force', 'ifVersion', 'maxRetries', 'retryDelay'], 'rm');
  const recursive = checkBoolean(given.recursive, 'recursive');
  const force = checkBoolean(given.force, 'force');
  checkVersion(given.ifVersion);
  const node = findToRemove(view, path, force);
  if (node === undefined) {
    if (force) return;
    throw new FsError('ENOENT', { syscall: 'rm', path });
  }
  expectVersion(view, node, given.ifVersion, 'rm', path);
  if (node.kind === DIRECTORY) {
    if (!recursive)
      throw new FsError('EISDIR', { syscall: 'rm', path, hint: 'Pass { recursive: true } to remove a directory' });
    if (view.at.name === '') throw new FsError('EBUSY', { syscall: 'rm', path, hint: 'The root cannot be removed' });
    const location = view.at.location(node);
    view.context.guard?.checkTree(view, location, 'remove', 'rm', path);
    view.loadTotals(location);
  }
  view.remove(view.at.parent, view.at.name);
}

/** Finds the node to remove; `force` ignores a missing path and nothing else. */
function findToRemove(view: View, path: string, force: boolean): Node | undefined {
  try {
    if (!force) return view.find(path, false, 'remove', 'rm');
    const node = view.find(path, false, 'look', 'rm');
    if (node !== undefined) view.context.guard?.check(view.at.path(), 'remove', 'rm', path, node);
    return node;
  } catch (error) {
    if (force && isFsError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

export function unlink(view: View, path: string): void {
  const node = present(view.find(path, false, 'remove', 'unlink'), 'unlink', path);
  if (node.kind === DIRECTORY) throw new FsError('EISDIR', { syscall: 'unlink', path });
  view.remove(view.at.parent, view.at.name);
}

export function rmdir(view: View, path: string): void {
  const node = present(view.find(path, false, 'remove', 'rmdir'), 'rmdir', path);
  if (node.kind !== DIRECTORY) throw new FsError('ENOTDIR', { syscall: 'rmdir', path });
  const { parent, name } = view.at;
  if (name === '') throw new FsError('EBUSY', { syscall: 'rmdir', path });
  if (!view.isEmpty(view.at.location(node))) throw new FsError('ENOTEMPTY', { syscall: 'rmdir', path });
  view.remove(parent, name);
}

export function rename(view: View, from: string, to: string, options?: RenameOptions): void {
  checkText(from, 'path', 'rename');
  checkText(to, 'path', 'rename');
  const { ifVersion } = checkOptions(options, ['ifVersion'], 'rename');
  checkVersion(ifVersion);
  withBothPaths('rename', from, to, () => move(view, from, to, ifVersion));
}

/** Checks in the order of Linux: both parents, the roots, the source, one inside the other, then the target. */
function move(view: View, from: string, to: string, ifVersion: string | undefined): void {
  const source = side(view, from, 'remove');
  const target = side(view, to, 'write', source.node && kindName(source.node));
  const { parent, name, path: sourcePath } = source;
  const { parent: toParent, name: toName, path: targetPath, node: there } = target;
  if (name === '' || toName === '') throw new FsError('EBUSY');
  const node = named(source);
  if (node === undefined) throw new FsError('ENOENT');
  expectVersion(view, node, ifVersion, 'rename', from, sourcePath);
  // A name of the target that is too long is an error only from here on.
  named(target);
  if (sourcePath === targetPath) return;
  if (node.kind === DIRECTORY && isWithin(targetPath, sourcePath)) throw new FsError('EINVAL');
  if (there !== undefined) {
    if (isWithin(sourcePath, targetPath)) throw new FsError('ENOTEMPTY');
    // Two names of one file: both stay.
    if (there.id === node.id) return;
    checkReplaceable(view, node, there, toParent, toName);
    view.context.guard?.check(targetPath, 'remove', 'rename', to, there);
  }
  if (node.kind === DIRECTORY) {
    const location = view.tree.childLocation(parent, name, node);
    view.context.guard?.checkTree(view, location, 'remove', 'rename', from);
    view.context.guard?.checkTree(view, location, 'write', 'rename', to, targetPath);
    view.loadTotals(location);
    checkReach(view, location, targetPath, 'rename', to);
  }
  if (there !== undefined) view.remove(toParent, toName);
  view.move(parent, name, toParent, toName);
}

interface Side {
  readonly node: Node | undefined;
  readonly parent: Location;
  readonly name: string;
  readonly path: string;
  /** Set if the last name is too long; thrown only once both parents are found. */
  readonly tooLong: FsError | undefined;
}

function side(view: View, path: string, access: Access, makes?: EntryKind): Side {
  let node: Node | undefined;
  let tooLong: FsError | undefined;
  try {
    node = view.find(path, false, access, 'rename', makes);
  } catch (error) {
    if (!isFsError(error, 'ENAMETOOLONG') || error.limit !== undefined) throw error;
    tooLong = error;
  }
  return {
    node,
    parent: view.at.parent,
    name: tooLong === undefined ? view.at.name : path,
    path: view.at.path(),
    tooLong,
  };
}

function named(side: Side): Node | undefined {
  if (side.tooLong !== undefined) throw side.tooLong;
  return side.node;
}

function checkReplaceable(view: View, node: Node, there: Node, parent: Location, name: string): void {
  if (node.kind !== DIRECTORY) {
    if (there.kind === DIRECTORY) throw new FsError('EISDIR');
    return;
  }
  if (there.kind !== DIRECTORY) throw new FsError('ENOTDIR');
  if (!view.isEmpty(view.tree.childLocation(parent, name, there))) throw new FsError('ENOTEMPTY');
}

export function link(view: View, existing: string, path: string): void {
  checkText(existing, 'path', 'link');
  checkText(path, 'path', 'link');
  withBothPaths('link', existing, path, () => {
    const node = present(view.find(existing, false, 'write', 'link'), 'link', existing);
    const { parent, name } = view.at;
    if (view.find(path, false, 'write', 'link', kindName(node)) !== undefined) throw new FsError('EEXIST');
    if (node.kind === DIRECTORY) throw new FsError('EPERM');
    reserve(view, 0, 1, 'link', path);
    view.addLink(parent, name, view.at.parent, view.at.name, node as FileNode | SymlinkNode);
  });
}

export function symlink(view: View, target: string, path: string): void {
  checkTarget(target, path);
  withBothPaths('symlink', target, path, () => {
    if (view.find(path, false, 'write', 'symlink', 'symlink') !== undefined) throw new FsError('EEXIST');
    const { parent, name } = view.at;
    const node = symlinkNode(view.context.newId(), view.newMeta(0o777), target);
    checkFileSize(view, node.size, 0, 'symlink', path);
    reserve(view, node.size, 1, 'symlink', path);
    view.create(parent, name, node);
  });
}

export function checkTarget(target: string, path: string): void {
  if (typeof target !== 'string')
    throw new TypeError(`The target must be a string, not ${target === null ? 'null' : typeof target}`);
  if (target.includes('\0')) throw new TypeError('The target must be a string without null bytes');
  const details = { syscall: 'symlink', path: target, dest: path };
  if (!target.isWellFormed())
    throw new FsError('EINVAL', { ...details, hint: 'The target has a lone surrogate, which UTF-8 cannot express' });
  if (target === '') throw new FsError('ENOENT', details);
  if (target.length * 3 > MAX_TARGET_BYTES && utf8Length(target) > MAX_TARGET_BYTES)
    throw new FsError('ENAMETOOLONG', details);
}
