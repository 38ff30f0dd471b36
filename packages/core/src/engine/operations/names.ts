import { FsError } from '../../errors.js';
import type { MkdirOptions, RmOptions } from '../../file-system.js';
import { isWithin, joinPath, normalizePath, pathSegments, utf8Length } from '../../paths.js';
import { DIRECTORY, DirectoryNode, type FileNode, type Node, type SymlinkNode } from '../../tree/node.js';
import { type Location, symlinkNode } from '../../tree/tree.js';
import { checkBoolean, checkMode, checkOptions } from '../arguments.js';
import type { View } from '../view.js';
import { present } from './read.js';

export const DIRECTORY_MODE = 0o755;
/** As PATH_MAX on Linux, which counts a final NUL. */
const MAX_TARGET_BYTES = 4095;

export function mkdir(view: View, path: string, options?: MkdirOptions): string | undefined {
  checkOptions(options, ['recursive', 'mode'], 'mkdir');
  const mode = checkMode(options?.mode, DIRECTORY_MODE);
  if (checkBoolean(options?.recursive, 'recursive')) return makePath(view, path, mode);
  if (view.find(path, false, 'write', 'mkdir') !== undefined) throw new FsError('EEXIST', { syscall: 'mkdir', path });
  makeDirectory(view, view.parent, view.name, mode, path);
  return undefined;
}

export function makeDirectory(view: View, parent: Location, name: string, mode: number, path: string): DirectoryNode {
  view.reserve(0, 1, 'mkdir', path);
  const directory = DirectoryNode.empty(view.tree.owner, view.context.newId(), view.newMeta(mode));
  view.create(parent, name, directory);
  return directory;
}

/** `mkdir -p`: checks the whole way first, so that nothing is made where the rest cannot be. */
export function makePath(view: View, path: string, mode: number, syscall = 'mkdir'): string | undefined {
  const segments = pathSegments(normalizePath(path, syscall));
  let known = '';
  let missing = segments.length;
  for (let i = 0; i < segments.length; i++) {
    const next = `${known}/${segments[i]}`;
    const node = view.find(next, true, 'look', syscall);
    if (node === undefined) {
      // A link that points nowhere is in the way; a missing name is to be made.
      if (view.find(next, false, 'look', syscall) !== undefined) {
        throw new FsError(i === segments.length - 1 ? 'EEXIST' : 'ENOENT', { syscall, path });
      }
      missing = i;
      break;
    }
    if (node.kind !== DIRECTORY) throw new FsError(i === segments.length - 1 ? 'EEXIST' : 'ENOTDIR', { syscall, path });
    known = next;
  }
  if (missing === segments.length) return undefined;
  const top = view.find(known === '' ? '/' : known, true, 'look', syscall) as DirectoryNode;
  let location = view.location(top);
  view.reserve(0, segments.length - missing, syscall, path);
  const first = joinPath(location.path, segments[missing] as string);
  view.context.guard?.check(first, 'write', syscall, path);
  for (let i = missing; i < segments.length; i++) {
    const name = segments[i] as string;
    const directory = DirectoryNode.empty(view.tree.owner, view.context.newId(), view.newMeta(mode));
    view.create(location, name, directory);
    location = view.tree.childLocation(location, name, directory);
    if (i < segments.length - 1) view.context.guard?.check(location.path, 'write', syscall, path);
  }
  return first;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

export function mkdtemp(view: View, prefix: string): string {
  for (;;) {
    let path = prefix;
    for (let i = 0; i < 6; i++) path += LETTERS[view.context.random(LETTERS.length)];
    if (view.find(path, false, 'write', 'mkdtemp') !== undefined) continue;
    makeDirectory(view, view.parent, view.name, 0o700, prefix);
    return view.path();
  }
}

export function rm(view: View, path: string, options?: RmOptions): void {
  checkOptions(options, ['recursive', 'force'], 'rm');
  const recursive = checkBoolean(options?.recursive, 'recursive');
  const force = checkBoolean(options?.force, 'force');
  const node = force ? view.peek(path, false, 'remove', 'rm') : view.find(path, false, 'remove', 'rm');
  if (node === undefined) {
    if (force) return;
    throw new FsError('ENOENT', { syscall: 'rm', path });
  }
  if (node.kind === DIRECTORY) {
    if (!recursive)
      throw new FsError('EISDIR', { syscall: 'rm', path, hint: 'Pass { recursive: true } to remove a directory' });
    if (view.name === '') throw new FsError('EBUSY', { syscall: 'rm', path, hint: 'The root cannot be removed' });
    view.context.guard?.checkTree(view.path(), 'remove', 'rm', path);
    view.loadTree(view.location(node));
  }
  view.remove(view.parent, view.name);
}

export function unlink(view: View, path: string): void {
  const node = present(view.find(path, false, 'remove', 'unlink'), 'unlink', path);
  if (node.kind === DIRECTORY) throw new FsError('EISDIR', { syscall: 'unlink', path });
  view.remove(view.parent, view.name);
}

export function rmdir(view: View, path: string): void {
  const node = present(view.find(path, false, 'remove', 'rmdir'), 'rmdir', path);
  if (node.kind !== DIRECTORY) throw new FsError('ENOTDIR', { syscall: 'rmdir', path });
  const { parent, name } = view;
  if (name === '') throw new FsError('EBUSY', { syscall: 'rmdir', path });
  if (!view.isEmpty(view.location(node))) throw new FsError('ENOTEMPTY', { syscall: 'rmdir', path });
  view.remove(parent, name);
}

/** Checks in the order of Linux: both parents, the roots, one inside the other, the source, then what is in the way. */
export function rename(view: View, from: string, to: string): void {
  const fail = (code: ConstructorParameters<typeof FsError>[0]): never => {
    throw new FsError(code, { syscall: 'rename', path: from, dest: to });
  };
  const source = found(view, from, 'remove', from, to);
  const target = found(view, to, 'write', from, to);
  if (source.name === '' || target.name === '') return fail('EBUSY');
  const { node } = source;
  if (node === undefined) return fail('ENOENT');
  const isDirectory = node.kind === DIRECTORY;
  const sourcePath = joinPath(source.parent.path, source.name);
  const targetPath = joinPath(target.parent.path, target.name);
  if (targetPath !== sourcePath && isDirectory && isWithin(targetPath, sourcePath)) return fail('EINVAL');
  if (target.node !== undefined) {
    if (targetPath !== sourcePath && isWithin(sourcePath, targetPath)) return fail('ENOTEMPTY');
    // Two names of the same file: both stay.
    if (target.node === node || target.node.id === node.id) return;
    if (isDirectory) {
      if (target.node.kind !== DIRECTORY) return fail('ENOTDIR');
      const location = view.tree.childLocation(target.parent, target.name, target.node);
      if (!view.isEmpty(location)) return fail('ENOTEMPTY');
    } else if (target.node.kind === DIRECTORY) return fail('EISDIR');
    view.context.guard?.check(targetPath, 'remove', 'rename', to);
  }
  if (isDirectory) {
    view.context.guard?.checkTree(sourcePath, 'remove', 'rename', from);
    view.context.guard?.checkTree(targetPath, 'write', 'rename', to);
    view.loadTree(view.tree.childLocation(source.parent, source.name, node));
  }
  if (target.node !== undefined) view.remove(target.parent, target.name);
  view.move(source.parent, source.name, target.parent, target.name);
}

interface Found {
  readonly node: Node | undefined;
  readonly parent: Location;
  readonly name: string;
}

/** One side of a `rename`: errors name both paths, as node's do. */
function found(view: View, path: string, access: 'remove' | 'write', from: string, to: string): Found {
  try {
    const node = view.find(path, false, access, 'rename');
    return { node, parent: view.parent, name: view.name };
  } catch (error) {
    if (
      error instanceof FsError &&
      error.dest === undefined &&
      error.limit === undefined &&
      NODE_CODES.has(error.code)
    ) {
      throw new FsError(error.code, { syscall: 'rename', path: from, dest: to, cause: error });
    }
    throw error;
  }
}

const NODE_CODES = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);

export function link(view: View, existing: string, path: string): void {
  const node = present(view.find(existing, false, 'write', 'link'), 'link', existing, path);
  const source = { parent: view.parent, name: view.name };
  if (view.find(path, false, 'write', 'link') !== undefined) {
    throw new FsError('EEXIST', { syscall: 'link', path: existing, dest: path });
  }
  if (node.kind === DIRECTORY) throw new FsError('EPERM', { syscall: 'link', path: existing, dest: path });
  view.reserve(0, 1, 'link', path);
  view.addLink(source.parent, source.name, view.parent, view.name, node as FileNode | SymlinkNode);
}

export function symlink(view: View, target: string, path: string): void {
  checkTarget(target, path);
  if (view.find(path, false, 'write', 'symlink') !== undefined) {
    throw new FsError('EEXIST', { syscall: 'symlink', path: target, dest: path });
  }
  const { parent, name } = view;
  const node = symlinkNode(view.context.newId(), view.newMeta(0o777), target);
  view.checkFileSize(node.size, 0, 'symlink', path);
  view.reserve(node.size, 1, 'symlink', path);
  view.create(parent, name, node);
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
