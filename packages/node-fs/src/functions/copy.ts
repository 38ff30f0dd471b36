import { FsError, isFsError, isWithin, normalizePath, parentPath, type Stats } from '@scratchfs/core';
import type { Given } from '../arguments/options.js';
import { toPath } from '../arguments/paths.js';
import { checkBoolean, checkFunction, checkInteger, checkObject } from '../arguments/values.js';
import { constants } from '../constants.js';
import { coded } from '../errors/argument-errors.js';
import { nodeError } from '../errors/node-error.js';
import { received } from '../errors/received.js';
import { type SystemErrorInfo, systemError } from '../errors/system-error.js';
import { awaited, type Eventual, type FsDriver, type FsProcedure, runAsync } from '../fs-driver.js';
import { type Facade, type NodeFunction, nodeFunction } from '../node-function.js';

type Filter = (source: string, destination: string) => Eventual<unknown>;

interface Copy {
  readonly source: string;
  readonly destination: string;
  readonly dereference: boolean;
  readonly errorOnExist: boolean;
  readonly filter: Filter | undefined;
  readonly force: boolean;
  readonly exclusive: boolean;
  readonly preserveTimestamps: boolean;
  readonly recursive: boolean;
  readonly verbatimSymlinks: boolean;
}

function toCopy(_: Facade, source: unknown, destination: unknown, options: unknown): Copy {
  const given: Given = options === undefined ? {} : { ...checkObject(options, 'options') };
  const flag = (name: string, fallback = false): boolean =>
    checkBoolean(name in given ? given[name] : fallback, `options.${name}`);
  const flags = {
    dereference: flag('dereference'),
    errorOnExist: flag('errorOnExist'),
    force: flag('force', true),
    preserveTimestamps: flag('preserveTimestamps'),
    recursive: flag('recursive'),
    verbatimSymlinks: flag('verbatimSymlinks'),
  };
  const { mode, filter } = given;
  const bits = mode === undefined || mode === null ? 0 : checkInteger(mode, 'mode', 0, 7);
  if (flags.dereference && flags.verbatimSymlinks) {
    const message = 'Option "dereference" cannot be used in combination with option "verbatimSymlinks"';
    throw coded(new TypeError(message), 'ERR_INCOMPATIBLE_OPTION_PAIR');
  }
  if (filter !== undefined) checkFunction(filter, 'options.filter');
  return {
    ...flags,
    filter: filter as Filter | undefined,
    exclusive: (bits & constants.COPYFILE_EXCL) !== 0,
    source: toPath(source, 'src'),
    destination: toPath(destination, 'dest'),
  };
}

export const cpSync: NodeFunction<Copy, void> = nodeFunction(
  3,
  toCopy,
  ({ driver }, copy) => driver.run(copyAll(driver, copy, settled(copy.filter))),
  (error) => nodeError(withOwnErrno(error)),
);

/** `cp` with a callback or a promise: the filter may return a promise. */
export const cp: NodeFunction<Copy, void> = nodeFunction(3, toCopy, ({ driver }, copy) =>
  runAsync(copyAll(driver, copy, copy.filter)),
);

function settled(filter: Filter | undefined): Filter | undefined {
  if (filter === undefined) return undefined;
  return (source, destination) => {
    const answer = filter(source, destination);
    if (!(answer instanceof Promise)) return answer;
    const message = `Expected boolean to be returned from the "filter" function but got ${received(answer)}.`;
    throw coded(new TypeError(message), 'ERR_INVALID_RETURN_VALUE');
  };
}

/** One step: copy an entry, or set a directory's mode after its contents are complete. */
type Task = { readonly from: string; readonly to: string } | { readonly to: string; readonly mode: number };

const PERMISSIONS = 0o7777;

function* copyAll(driver: FsDriver, copy: Copy, filter: Filter | undefined): FsProcedure<void> {
  const tasks: Task[] = [{ from: copy.source, to: copy.destination }];
  for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
    if ('mode' in task) {
      yield* awaited(driver.fs.chmod(task.to, task.mode));
      continue;
    }
    const { from, to } = task;
    if (filter !== undefined && !(yield* awaited(filter(from, to)))) continue;
    const look = copy.dereference ? driver.fs.stat : driver.fs.lstat;
    const source = yield* awaited(look(from));
    const there = yield* optional(look, to);
    if (there !== undefined) checkPair(source, there, from, to);
    if (to === '') throw nowhere(source, from);
    if (source.isDirectory() && isWithin(resolved(to), resolved(from))) throw intoItself(from, to);
    if (from === copy.source) yield* prepareParent(driver, source, from, to);
    if (source.isDirectory()) yield* copyDirectory(driver, copy, source, there, task, tasks);
    else if (source.isFile()) yield* copyFile(driver, copy, source, there, from, to);
    else yield* copyLink(driver, copy, there, from, to);
  }
}

function nowhere(source: Stats, from: string): FsError {
  const blame = source.isDirectory() ? { syscall: 'mkdir', path: '' } : { syscall: 'copyfile', path: from, dest: '' };
  return new FsError('ENOENT', blame);
}

function* optional(look: (path: string) => Eventual<Stats>, path: string): FsProcedure<Stats | undefined> {
  try {
    return yield* awaited(look(path));
  } catch (error) {
    if (isFsError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function* prepareParent(driver: FsDriver, source: Stats, from: string, to: string): FsProcedure<void> {
  const parent = parentPath(resolved(to));
  for (let above = parent; above !== parentPath(resolved(from)) && above !== '/'; above = parentPath(above)) {
    const stats = yield* optional(driver.fs.stat, above);
    if (stats === undefined) break;
    if (isSame(source, stats)) throw intoItself(from, to);
  }
  if ((yield* optional(driver.fs.stat, parent)) === undefined)
    yield* awaited(driver.fs.mkdir(parent, { recursive: true }));
}

function* copyDirectory(
  driver: FsDriver,
  copy: Copy,
  source: Stats,
  there: Stats | undefined,
  { from, to }: { readonly from: string; readonly to: string },
  tasks: Task[],
): FsProcedure<void> {
  if (!copy.recursive) {
    throw refusal('ERR_FS_EISDIR', 'EISDIR', `${from} is a directory (not copied)`, from);
  }
  if (there === undefined) {
    yield* awaited(driver.fs.mkdir(to));
    tasks.push({ to, mode: source.mode & PERMISSIONS });
  }
  const names = yield* awaited(driver.fs.readdir(from));
  for (const name of names.reverse()) tasks.push({ from: beneath(from, name), to: beneath(to, name) });
}

function* copyFile(
  driver: FsDriver,
  copy: Copy,
  source: Stats,
  there: Stats | undefined,
  from: string,
  to: string,
): FsProcedure<void> {
  if (there !== undefined) {
    if (!copy.force) {
      if (copy.errorOnExist) throw refusal('ERR_FS_CP_EEXIST', 'EEXIST', `${to} already exists`, to);
      return;
    }
    yield* awaited(driver.fs.unlink(to));
  }
  yield* awaited(driver.fs.copyFile(from, to, { exclusive: copy.exclusive }));
  if (copy.preserveTimestamps) yield* awaited(driver.fs.utimes(to, source.atime, source.mtime));
  yield* awaited(driver.fs.chmod(to, source.mode & PERMISSIONS));
}

function* copyLink(
  driver: FsDriver,
  copy: Copy,
  there: Stats | undefined,
  from: string,
  to: string,
): FsProcedure<void> {
  const text = yield* awaited(driver.fs.readlink(from));
  const target = copy.verbatimSymlinks ? text : absolute(text, from);
  if (there?.isSymbolicLink() === true) {
    const old = absolute(yield* awaited(driver.fs.readlink(to)), to);
    if (isWithin(resolved(old), resolved(target))) throw intoItself(target, old, to);
    const isDirectory = (yield* awaited(driver.fs.stat(to))).isDirectory();
    if (isDirectory && isWithin(resolved(target), resolved(old))) {
      throw refusal('ERR_FS_CP_SYMLINK_TO_SUBDIRECTORY', 'EINVAL', `cannot overwrite ${old} with ${target}`, to);
    }
    yield* awaited(driver.fs.unlink(to));
  }
  yield* awaited(driver.fs.symlink(target, to));
}

function checkPair(source: Stats, there: Stats, from: string, to: string): void {
  if (isSame(source, there)) throw refusal('ERR_FS_CP_EINVAL', 'EINVAL', 'src and dest cannot be the same', to);
  if (source.isDirectory() && !there.isDirectory()) {
    const message = `cannot overwrite non-directory ${to} with directory ${from}`;
    throw refusal('ERR_FS_CP_DIR_TO_NON_DIR', 'EISDIR', message, to);
  }
  if (!source.isDirectory() && there.isDirectory()) {
    const message = `cannot overwrite directory ${to} with non-directory ${from}`;
    throw refusal('ERR_FS_CP_NON_DIR_TO_DIR', 'ENOTDIR', message, to);
  }
}

const ERRNO = { EEXIST: 17, EINVAL: 22, EISDIR: 21, ENOTDIR: 20 } as const;

function refusal(
  code: Parameters<typeof systemError>[0],
  kernelCode: keyof typeof ERRNO,
  message: string,
  path: string,
): Error {
  const info: SystemErrorInfo = { message, path, syscall: 'cp', errno: ERRNO[kernelCode], code: kernelCode };
  return systemError(code, info);
}

function intoItself(from: string, to: string, path = to): Error {
  return refusal('ERR_FS_CP_EINVAL', 'EINVAL', `cannot copy ${from} to a subdirectory of self ${to}`, path);
}

/** Replaces the errno of ERR_FS_EISDIR: Node's synchronous form reports that of EINVAL. */
function withOwnErrno(error: unknown): unknown {
  const { code, info } = error as { code?: unknown; info?: SystemErrorInfo };
  if (code !== 'ERR_FS_EISDIR' || info === undefined) return error;
  return Object.assign(error as Error, { errno: ERRNO.EINVAL, info: { ...info, errno: ERRNO.EINVAL } });
}

function isSame(a: Stats, b: Stats): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}

function resolved(path: string): string {
  return normalizePath(path);
}

/** Resolves a link's text against the directory of the link. */
function absolute(target: string, link: string): string {
  return target.startsWith('/') ? target : resolved(beneath(parentPath(resolved(link)), target));
}

function beneath(directory: string, name: string): string {
  return directory.endsWith('/') ? directory + name : `${directory}/${name}`;
}
