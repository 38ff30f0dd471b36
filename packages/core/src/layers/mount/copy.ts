import type { CopyFilter } from '../../argument-types.js';
import { checkBoolean, checkExclusive } from '../../engine/arguments.js';
import { checkCpOptions } from '../../engine/operations/copy.js';
import { notLater } from '../../engine/scheduling/both-forms.js';
import type { FileEntry, Stats } from '../../entry.js';
import { FsError, isFsError } from '../../errors.js';
import type { CpOptions } from '../../file-system.js';
import { isWithin, joinPath, normalizePath, parentPath } from '../../paths.js';
import { type CallSequence, withFilterFor } from '../call-sequence.js';
import type { Place } from './resolve.js';
import type { RuleOf } from './rule.js';

type Rules = Record<
  'lstat' | 'getEntry' | 'readdir' | 'mkdir' | 'writeFile' | 'symlink' | 'unlink' | 'lutimes' | 'chmod',
  RuleOf
>;

interface Options {
  readonly filter: CopyFilter | undefined;
  readonly recursive: boolean;
  readonly force: boolean;
  readonly errorOnExist: boolean;
  readonly preserve: boolean;
}

interface Work {
  readonly kind: 'directory' | 'file' | 'symlink';
  readonly from: string;
  readonly to: string;
  readonly stats: Stats;
  readonly exists: boolean;
}

/**
 * `cp` through the methods, across filesystems: all conflicts are found first, then the entries are created one by one.
 * Contents are copied. Not atomic: a failure leaves the entries created before it.
 */
export function* copyAcross(rules: Rules, source: Place, destination: Place, given: unknown): CallSequence<undefined> {
  const options = checkCopyOptions(given);
  const details = { syscall: 'cp', path: source.given, dest: destination.given };
  const fail = (code: ConstructorParameters<typeof FsError>[0], hint?: string): never => {
    throw new FsError(code, { ...details, hint });
  };
  const from = yield* lookAt(rules, source.path);
  if (from === undefined) return fail('ENOENT');
  const isDirectory = from.kind === 'directory';
  if (isDirectory && !options.recursive) fail('EISDIR', 'Pass { recursive: true } to copy a directory');
  const to = yield* lookAt(rules, destination.path);
  if (destination.path === source.path) fail('EINVAL', 'Source and destination are the same');
  if (isDirectory && isWithin(destination.path, source.path))
    fail('EINVAL', 'A directory cannot be copied into itself');
  if (to !== undefined && isDirectory && to.kind !== 'directory') fail('ENOTDIR');
  if (to !== undefined && !isDirectory && to.kind === 'directory') fail('EISDIR');
  const { filter, ...rest } = options;
  const shown = withFilterFor(
    { filter },
    { given: source.given, inner: source.path },
    { given: destination.given, inner: destination.path },
  ) as Pick<Options, 'filter'>;
  const top = { from: source.path, to: destination.path, stats: from };
  const work = yield* plan(rules, top, to, { ...rest, ...shown });
  const parent = parentPath(normalizePath(destination.given, 'cp', false));
  yield* rules.mkdir([parent, { recursive: true }]);
  for (const item of work) yield* make(rules, item);
  if (!options.preserve) return undefined;
  for (const { to: path, stats, exists, kind } of work.reverse())
    if (kind !== 'directory' || !exists) yield* rules.lutimes([path, new Date(stats.atimeMs), new Date(stats.mtimeMs)]);
  return undefined;
}

/** `copyFile` across filesystems. */
export function* copyFileAcross(
  rules: Rules,
  source: Place,
  destination: Place,
  given: unknown,
): CallSequence<undefined> {
  const exclusive = checkExclusive(given as { readonly exclusive?: boolean } | number | undefined);
  const details = { syscall: 'copyfile', path: source.given, dest: destination.given };
  const from = yield* lookAt(rules, source.path);
  if (from === undefined) throw new FsError('ENOENT', details);
  if (from.kind === 'directory') throw new FsError('EISDIR', details);
  const to = yield* lookAt(rules, destination.path);
  if (to !== undefined && exclusive) throw new FsError('EEXIST', details);
  if (to?.kind === 'directory') throw new FsError('EISDIR', details);
  const { content } = (yield* rules.getEntry([source.path])) as FileEntry;
  const mode = from.mode & 0o7777;
  yield* rules.writeFile([destination.path, content, { mode }]);
  if (to !== undefined && (to.mode & 0o7777) !== mode) yield* rules.chmod([destination.path, mode]);
  return undefined;
}

function* plan(
  rules: Rules,
  top: Pick<Work, 'from' | 'to' | 'stats'>,
  there: Stats | undefined,
  options: Options,
): CallSequence<Work[]> {
  const work: Work[] = [];
  const pending = [{ ...top, there }];
  for (let i = 0; i < pending.length; i++) {
    const { from, to, stats, there: inTheWay } = pending[i] as (typeof pending)[number];
    const details = { syscall: 'cp', path: from, dest: to };
    const asked = options.filter;
    if (asked !== undefined) {
      const isTaken = yield { sync: () => notLater(asked(from, to)), async: async () => asked(from, to) };
      if (!isTaken) continue;
    }
    if (stats.kind !== 'directory') {
      if (inTheWay?.kind === 'directory') throw new FsError('EISDIR', details);
      if (inTheWay !== undefined && !options.force) {
        if (options.errorOnExist) throw new FsError('EEXIST', details);
        continue;
      }
      work.push({ kind: stats.kind, from, to, stats, exists: inTheWay !== undefined });
      continue;
    }
    if (inTheWay !== undefined && inTheWay.kind !== 'directory') throw new FsError('ENOTDIR', details);
    work.push({ kind: 'directory', from, to, stats, exists: inTheWay !== undefined });
    for (const name of (yield* rules.readdir([from])) as string[]) {
      const path = joinPath(from, name);
      const dest = joinPath(to, name);
      const below = (yield* rules.lstat([path])) as Stats;
      pending.push({ from: path, to: dest, stats: below, there: yield* lookAt(rules, dest) });
    }
  }
  return work;
}

function* make(rules: Rules, item: Work): CallSequence<void> {
  const { kind, from, to, stats, exists } = item;
  const mode = stats.mode & 0o7777;
  if (kind === 'directory') {
    if (!exists) yield* rules.mkdir([to, { mode }]);
    return;
  }
  const entry = (yield* rules.getEntry([from])) as FileEntry;
  if (exists) yield* rules.unlink([to]);
  if (kind === 'symlink') yield* rules.symlink([entry.target, to]);
  else yield* rules.writeFile([to, entry.content, { mode, flag: 'wx' }]);
}

function checkCopyOptions(given: unknown): Options {
  const { filter, recursive, force, errorOnExist, preserveTimestamps } = checkCpOptions(given as CpOptions | undefined);
  return {
    filter,
    recursive: checkBoolean(recursive, 'recursive'),
    force: force === undefined ? true : checkBoolean(force, 'force'),
    errorOnExist: checkBoolean(errorOnExist, 'errorOnExist'),
    preserve: checkBoolean(preserveTimestamps, 'preserveTimestamps'),
  };
}

function* lookAt(rules: Rules, path: string): CallSequence<Stats | undefined> {
  try {
    return (yield* rules.lstat([path])) as Stats;
  } catch (error) {
    if (isFsError(error, 'ENOENT')) return undefined;
    throw error;
  }
}
