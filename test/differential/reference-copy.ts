import * as node from 'node:fs';
import { dirname, join } from 'node:path';

export interface CopyOptions {
  readonly recursive: boolean;
  readonly force: boolean;
  readonly errorOnExist: boolean;
}

/** node checks these itself and has codes of its own for them: what the kernel answers where it checks the same. */
const KERNEL_CODES: Readonly<Record<string, string>> = {
  ERR_FS_CP_DIR_TO_NON_DIR: 'ENOTDIR',
  ERR_FS_CP_NON_DIR_TO_DIR: 'EISDIR',
  ERR_FS_CP_EEXIST: 'EEXIST',
  ERR_FS_CP_EINVAL: 'EINVAL',
  ERR_FS_EISDIR: 'EISDIR',
};

/** The kernel's code for an error of node's own making. */
export function kernelCode(code: string): string {
  return KERNEL_CODES[code] ?? code;
}

/** Permission bits of the directories that a copy makes above its destination. */
const PARENT_MODE = 0o755;

/**
 * `cp`, links copied as links. A fresh copy is node's own. Onto something that exists, node leaves half of the work done
 * where it fails, and replaces a link whatever `force` says: there the copy is made by its documented rules, checked
 * whole before it begins.
 */
export function copyTree(from: string, to: string, options: CopyOptions): void {
  const source = node.lstatSync(from);
  if (source.isDirectory() && !options.recursive) throw withCode('EISDIR');
  const destination = node.lstatSync(to, { throwIfNoEntry: false });
  if (destination === undefined) {
    refuseTooLong(to);
    const parent = existing(dirname(to));
    const place = join(node.realpathSync(parent), to.slice(parent.length));
    if (source.isDirectory() && isWithin(place, node.realpathSync(from))) {
      // What is missing on the way may be named as well.
      const alternative = parent === dirname(to) ? [] : ['ENOENT', 'ENOTDIR', 'EEXIST', 'ELOOP'];
      throw Object.assign(withCode('EINVAL'), { alternative });
    }
    makeDirectory(dirname(to), true, PARENT_MODE);
    // node takes a place whose path begins with that of the source for one within it, links or not.
    node.cpSync(realName(from), place, { ...options, verbatimSymlinks: true });
    return;
  }
  if (isSame(source, destination)) throw withCode('EINVAL');
  const isInto = source.isDirectory() && isWithin(realName(to), node.realpathSync(from));
  if (isInto) throw Object.assign(withCode('EINVAL'), { alternative: destination.isDirectory() ? [] : ['ENOTDIR'] });
  const conflicts = new Set<string>();
  const steps: (() => void)[] = [];
  plan(realName(from), realName(to), options, conflicts, steps);
  const [code, ...others] = conflicts;
  if (code !== undefined) throw Object.assign(withCode(code), { alternative: others });
  for (const step of steps) step();
}

/** Collects what must be done for one name, and everything that stands against it. */
function plan(from: string, to: string, options: CopyOptions, conflicts: Set<string>, steps: (() => void)[]): void {
  const source = node.lstatSync(from);
  const destination = node.lstatSync(to, { throwIfNoEntry: false });
  if (destination === undefined) steps.push(() => node.cpSync(from, to, { ...options, verbatimSymlinks: true }));
  else if (source.isDirectory() && destination.isDirectory()) {
    for (const name of node.readdirSync(from)) plan(`${from}/${name}`, `${to}/${name}`, options, conflicts, steps);
  } else if (source.isDirectory()) conflicts.add('ENOTDIR');
  else if (destination.isDirectory()) conflicts.add('EISDIR');
  else if (!options.force && options.errorOnExist) conflicts.add('EEXIST');
  else if (isSame(source, destination)) conflicts.add('EINVAL');
  else if (options.force) {
    steps.push(() => {
      node.unlinkSync(to);
      node.cpSync(from, to, { verbatimSymlinks: true });
    });
  }
}

/** node looks where a dangling link leads after the kernel has said that the name exists; either is right. */
export function makeDirectory(path: string, recursive: boolean, mode: number): string | undefined {
  if (recursive) refuseTooLong(path);
  try {
    return node.mkdirSync(path, { recursive, mode });
  } catch (error) {
    throw recursive ? Object.assign(error as Error, { alternative: ['EEXIST'] }) : error;
  }
}

/** A name that is too long is found by node only after it has made the directories above it, which then stay. */
function refuseTooLong(path: string): void {
  if (path.split('/').every((name) => Buffer.byteLength(name) <= 255)) return;
  const code = codeOf(() => node.lstatSync(path));
  throw withCode(code === undefined || code === 'ENOENT' ? 'ENAMETOOLONG' : code);
}

/** The nearest directory above that exists. */
function existing(path: string): string {
  return codeOf(() => node.statSync(path)) === undefined ? path : existing(dirname(path));
}

/** A path without links before its last name. */
function realName(path: string): string {
  return join(node.realpathSync(dirname(path)), path.slice(path.lastIndexOf('/')));
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}

function isSame(a: node.Stats, b: node.Stats): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}

function withCode(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/**
 * `copyFile`, but where the source is a directory node would make, empty and remove the destination before it says so.
 * Two things can be wrong then, and either may be named.
 */
export function copyOne(from: string, to: string, exclusive: boolean): void {
  const isDirectory = codeOf(() => node.statSync(from)) === undefined && node.statSync(from).isDirectory();
  if (!isDirectory) {
    node.copyFileSync(from, to, exclusive ? node.constants.COPYFILE_EXCL : 0);
    return;
  }
  const alternative = codeOf(() => node.lstatSync(to)) ?? (exclusive ? 'EEXIST' : undefined);
  throw Object.assign(withCode('EISDIR'), { alternative: alternative === undefined ? [] : [alternative] });
}

function codeOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
}
