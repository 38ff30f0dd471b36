import * as node from 'node:fs';
import { dirname, join } from 'node:path';

export interface CopyOptions {
  readonly recursive: boolean;
  readonly force: boolean;
  readonly errorOnExist: boolean;
}

/** Codes of node's own for errors of the kernel. */
const KERNEL_CODES: Readonly<Record<string, string>> = { ERR_FS_EISDIR: 'EISDIR' };

/** Returns the kernel's code for an error of node's own. */
export function kernelCode(code: string): string {
  return KERNEL_CODES[code] ?? code;
}

/** Permission bits of the directories that a copy creates above its destination. */
const PARENT_MODE = 0o755;

/**
 * `cp` with links copied as links, as `fs.cpSync` of node 20 documents it. It is made of single calls and checked as a
 * whole first, because node leaves half of the work done on failure, replaces a link regardless of `force`, and decides
 * by the text of a path whether it lies within the source; later versions keep owners and lose modes. `follow` resolves
 * a link that may climb above the root.
 */
export function copyTree(from: string, to: string, options: CopyOptions, follow: (link: string) => string): void {
  const source = node.lstatSync(from);
  if (source.isDirectory() && !options.recursive) throw withCode('EISDIR');
  const destination = node.lstatSync(to, { throwIfNoEntry: false });
  if (destination === undefined) {
    refuseTooLong(to);
    const parent = existing(dirname(to));
    const place = join(node.realpathSync(parent), to.slice(parent.length));
    if (source.isDirectory() && isWithin(place, node.realpathSync(from))) {
      // A missing directory on the way may be reported as well.
      const alternative = parent === dirname(to) ? [] : ['ENOENT', 'ENOTDIR', 'EEXIST', 'ELOOP'];
      throw Object.assign(withCode('EINVAL'), { alternative });
    }
    makeDirectory(dirname(to), true, PARENT_MODE);
    copyNew(realName(from), place);
    return;
  }
  if (isSame(source, destination)) throw withCode('EINVAL');
  const isInto = source.isDirectory() && isWithin(realName(to), node.realpathSync(from));
  if (isInto) throw Object.assign(withCode('EINVAL'), { alternative: destination.isDirectory() ? [] : ['ENOTDIR'] });
  const conflicts = new Set<string>();
  const steps: (() => void)[] = [];
  plan(realName(from), realName(to), { ...options, follow }, conflicts, steps);
  const [code, ...others] = conflicts;
  if (code !== undefined) throw Object.assign(withCode(code), { alternative: others });
  for (const step of steps) step();
}

/**
 * Returns the codes for which the source of a copy is refused regardless of the destination. If both are wrong, either
 * may be reported.
 */
export function wrongWithSource(from: string, recursive: boolean): string[] {
  const code = codeOf(() => node.lstatSync(from));
  if (code !== undefined) return [code];
  return node.lstatSync(from).isDirectory() && !recursive ? ['EISDIR'] : [];
}

/** Copies to a free name. */
function copyNew(from: string, to: string): void {
  recall(from)(to);
}

/**
 * Reads the source completely first, because a copy may replace something within its own source. Returns the function
 * that writes it.
 */
function recall(from: string): (to: string) => void {
  const source = node.lstatSync(from);
  const mode = source.mode & 0o7777;
  if (source.isSymbolicLink()) {
    const target = node.readlinkSync(from);
    return (to) => node.symlinkSync(target, to);
  }
  if (!source.isDirectory()) {
    const content = node.readFileSync(from);
    return (to) => {
      node.writeFileSync(to, content, { flag: 'wx', mode });
      node.chmodSync(to, mode);
    };
  }
  const entries = node.readdirSync(from).map((name) => [name, recall(`${from}/${name}`)] as const);
  return (to) => {
    node.mkdirSync(to);
    for (const [name, write] of entries) write(`${to}/${name}`);
    node.chmodSync(to, mode);
  };
}

type Plan = CopyOptions & { readonly follow: (link: string) => string };

/** Collects the steps for one name and all codes that prevent it. */
function plan(from: string, to: string, options: Plan, conflicts: Set<string>, steps: (() => void)[]): void {
  const source = node.lstatSync(from);
  const destination = node.lstatSync(to, { throwIfNoEntry: false });
  if (destination === undefined) {
    const write = recall(from);
    steps.push(() => write(to));
  } else if (source.isDirectory() && destination.isDirectory()) {
    for (const name of node.readdirSync(from)) plan(`${from}/${name}`, `${to}/${name}`, options, conflicts, steps);
  } else if (source.isDirectory()) conflicts.add('ENOTDIR');
  else if (destination.isDirectory()) conflicts.add('EISDIR');
  else if (!options.force && options.errorOnExist) conflicts.add('EEXIST');
  else if (isSame(source, destination)) conflicts.add('EINVAL');
  else if (options.force && leadsTo(from, destination, options.follow)) conflicts.add('EEXIST');
  else if (options.force) {
    const write = recall(from);
    steps.push(() => {
      node.unlinkSync(to);
      write(to);
    });
  }
}

/** Allows either error: after EEXIST, node checks where a dangling link leads and may report that instead. */
export function makeDirectory(path: string, recursive: boolean, mode: number): string | undefined {
  if (recursive) refuseTooLong(path);
  try {
    return node.mkdirSync(path, { recursive, mode });
  } catch (error) {
    throw recursive ? Object.assign(error as Error, { alternative: ['EEXIST'] }) : error;
  }
}

/**
 * Refuses a name that is too long. Node finds it only after it has created the directories above it, which then stay.
 */
function refuseTooLong(path: string): void {
  if (path.split('/').every((name) => Buffer.byteLength(name) <= 255)) return;
  const code = codeOf(() => node.lstatSync(path));
  // Nothing can be created behind a dangling link; node reports that itself.
  if (code === 'ENOENT' && isDangling(existingName(path))) return;
  throw withCode(code === undefined || code === 'ENOENT' ? 'ENAMETOOLONG' : code);
}

/** Returns the path, or the nearest path above it that exists. */
function existing(path: string): string {
  return codeOf(() => node.statSync(path)) === undefined ? path : existing(dirname(path));
}

/** Returns the path, or the nearest path above it that exists, without following a link in its last name. */
function existingName(path: string): string {
  return codeOf(() => node.lstatSync(path)) === undefined ? path : existingName(dirname(path));
}

function isDangling(path: string): boolean {
  return codeOf(() => node.statSync(path)) === 'ENOENT';
}

/** Resolves links in all but the last name of a path. */
function realName(path: string): string {
  return join(node.realpathSync(dirname(path)), path.slice(path.lastIndexOf('/')));
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}

function isSame(a: node.Stats, b: node.Stats): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}

/**
 * Reports whether a link leads to the file at the destination: node copies no link onto a file, and GNU `cp` not onto
 * this one.
 */
function leadsTo(from: string, destination: node.Stats, follow: Plan['follow']): boolean {
  if (!node.lstatSync(from).isSymbolicLink()) return false;
  const place = follow(from);
  return codeOf(() => node.statSync(place)) === undefined && isSame(node.statSync(place), destination);
}

function withCode(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/**
 * `copyFile` as in node 20, made of single calls: later versions also keep the owner. For a directory as the source,
 * node would create, empty and remove the destination before it fails; two things can be wrong then, and either may be
 * reported.
 */
export function copyOne(from: string, to: string, exclusive: boolean): void {
  const isDirectory = codeOf(() => node.statSync(from)) === undefined && node.statSync(from).isDirectory();
  if (isDirectory) {
    const alternative = codeOf(() => node.lstatSync(to)) ?? (exclusive ? 'EEXIST' : undefined);
    throw Object.assign(withCode('EISDIR'), { alternative: alternative === undefined ? [] : [alternative] });
  }
  try {
    copyContent(from, to, exclusive);
  } catch (error) {
    throw Object.assign(withCode((error as { code: string }).code), { syscall: 'copyfile', path: from, dest: to });
  }
}

function copyContent(from: string, to: string, exclusive: boolean): void {
  const { O_WRONLY, O_CREAT, O_EXCL } = node.constants;
  const content = node.readFileSync(from);
  const source = node.statSync(from);
  const mode = source.mode & 0o7777;
  const fd = node.openSync(to, O_WRONLY | O_CREAT | (exclusive ? O_EXCL : 0), mode);
  try {
    if (isSame(source, node.fstatSync(fd))) return;
    node.ftruncateSync(fd, 0);
    node.fchmodSync(fd, mode);
    node.writeFileSync(fd, content);
  } finally {
    node.closeSync(fd);
  }
}

function codeOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
}

/** `rm` as all versions of node agree: `force` ignores a missing name and nothing else. */
export function removePath(path: string, options: { readonly recursive: boolean; readonly force: boolean }): void {
  try {
    node.lstatSync(path);
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT' && options.force) return;
    throw error;
  }
  node.rmSync(path, options);
}
