import type { Access } from '../engine/guard.js';
import { mayChange } from '../engine/open-how.js';
import type { EntryKind } from '../entry.js';
import type { SyncFileHandle } from '../file-handle.js';
import type { OpenHow, SyncFileSystem } from '../file-system.js';
import { type Path, pathOf } from '../paths.js';

/** A method's use of one of its paths. */
export interface PathUse {
  /** The path as the caller gave it. */
  readonly path: string;
  /** Its index among the arguments. */
  readonly at: number;
  readonly access: Access;
  /** True if a link under the last name is followed. */
  readonly follow: boolean;
  /** Kind of entry created if the path is missing. Undefined for a destination that takes the source's kind. */
  readonly makes?: EntryKind | undefined;
}

/**
 * Form of a method's result: `call` is a promise (and a value in the `…Sync` form), `iterator` items, `own` what each
 * layer makes from its other methods (a stream from `open`, a directory from `readdir`, the promise methods), `value` a
 * property, `end` closes the filesystem.
 */
export type Shape = 'call' | 'iterator' | 'own' | 'value' | 'end';

export interface MethodSpec {
  readonly shape: Shape;
  /** The system call, as errors name it. */
  readonly syscall: string;
  /** Returns the paths among the arguments, in order. */
  readonly paths: (args: readonly unknown[]) => readonly PathUse[];
  /** Effect beyond the paths: `look` and `change` concern the state as a whole, `code` runs a caller's function. */
  readonly whole: 'nothing' | 'look' | 'change' | 'code';
  /** Kind of the result or callback argument, if the layer has to wrap it. */
  readonly answers: 'plain' | 'handle' | 'fileSystem';
  /** `promise`: there is no `…Sync` form. `sync`: there is no other form. */
  readonly forms: 'both' | 'promise' | 'sync';
}

type SyncNames = Extract<keyof SyncFileSystem, `${string}Sync`>;
/** Every method and property of a filesystem; `…Sync` forms are not listed separately. */
export type MethodName = Exclude<Extract<keyof SyncFileSystem, string>, SyncNames>;

type Args = readonly unknown[];
const none = (): readonly PathUse[] => [];

function use(args: Args, at: number, access: Access, follow: boolean, makes?: EntryKind): PathUse {
  return { path: args[at] as string, at, access, follow, makes };
}

function option(args: Args, at: number, key: string): unknown {
  const options = args[at];
  return typeof options === 'object' && options !== null ? (options as Record<string, unknown>)[key] : undefined;
}

/** Reports whether flags have an `x`: then the last name is created, so a link there is not followed. */
const exclusive = (flags: unknown): boolean => typeof flags === 'string' && flags.includes('x');
/**
 * Reports whether `copyFile` must create the destination, and so does not follow a link there: by its option
 * `exclusive`, or by COPYFILE_EXCL in node's mode.
 */
const isExclusiveCopy = (options: unknown): boolean =>
  typeof options === 'number' ? (options & 1) === 1 : option([options], 0, 'exclusive') === true;
const isHow = (flags: unknown): flags is OpenHow => typeof flags === 'object' && flags !== null;

function call(syscall: string, paths: MethodSpec['paths'], rest: Partial<MethodSpec> = {}): MethodSpec {
  return { shape: 'call', syscall, paths, whole: 'nothing', answers: 'plain', forms: 'both', ...rest };
}

const one = (syscall: string, access: Access, follow: boolean, rest?: Partial<MethodSpec>): MethodSpec =>
  call(syscall, (args) => [use(args, 0, access, follow)], rest);

const whole = (syscall: string, effect: MethodSpec['whole'], rest?: Partial<MethodSpec>): MethodSpec =>
  call(syscall, none, { whole: effect, ...rest });

const value = (): MethodSpec => call('', none, { shape: 'value', forms: 'promise' });

/** Describes a write to the file at the first argument, with the flag among the options at `at`. */
const written = (at: number, key: string, rest?: Partial<MethodSpec>): MethodSpec =>
  call('open', (args) => [use(args, 0, 'write', !exclusive(option(args, at, key)), 'file')], rest);

/**
 * The methods of a filesystem, with the paths among their arguments. A new method must be added here, otherwise the
 * code does not compile. Layers that forward methods (`observe`, `mount`, a policy over any filesystem) use it.
 */
export const METHODS = {
  kind: value(),
  capabilities: value(),
  limits: value(),
  promises: call('', none, { shape: 'own', forms: 'promise' }),

  exists: one('access', 'look', true),
  isFile: one('stat', 'look', true),
  isDirectory: one('stat', 'look', true),
  getEntry: one('open', 'read', false),
  stat: one('stat', 'look', true),
  lstat: one('lstat', 'look', false),
  access: one('access', 'look', true),
  realpath: one('realpath', 'look', true),
  readlink: one('readlink', 'read', false),
  readdir: one('scandir', 'read', true),
  opendir: one('scandir', 'read', true, { shape: 'own' }),
  entries: one('scandir', 'read', true),
  walk: call('scandir', (args) => [use([args[0] ?? '/'], 0, 'read', true)], { shape: 'iterator' }),
  watch: one('watch', 'read', false, { shape: 'iterator', forms: 'promise' }),

  readFile: one('open', 'read', true),
  readText: one('open', 'read', true),
  readLines: one('open', 'read', true),
  createReadStream: one('open', 'read', true, { shape: 'own', forms: 'promise' }),

  mkdir: call('mkdir', (args) => [use(args, 0, 'write', option(args, 1, 'recursive') === true, 'directory')]),
  mkdtemp: call('mkdtemp', (args) => [use(args, 0, 'write', false, 'directory')]),
  writeFile: written(2, 'flag'),
  writeLines: written(2, 'flag'),
  appendFile: written(2, 'flag'),
  editFile: one('open', 'write', true),
  truncate: one('open', 'write', true),
  createWriteStream: written(1, 'flags', { shape: 'own', forms: 'promise' }),
  open: call(
    'open',
    (args) => {
      const how = args[1] ?? 'r';
      const follow = isHow(how) ? how.exclusive !== true && how.noFollow !== true : !exclusive(how);
      const reads = isHow(how) ? !mayChange(how) : how === 'r';
      return [reads ? use(args, 0, 'read', follow) : use(args, 0, 'write', follow, 'file')];
    },
    { answers: 'handle' },
  ),

  rm: one('rm', 'remove', false),
  unlink: one('unlink', 'remove', false),
  rmdir: one('rmdir', 'remove', false),
  cp: call('cp', (args) => [use(args, 0, 'read', false), use(args, 1, 'write', false)]),
  copyFile: call('copyfile', (args) => [
    use(args, 0, 'read', true),
    use(args, 1, 'write', !isExclusiveCopy(args[2]), 'file'),
  ]),
  rename: call('rename', (args) => [use(args, 0, 'remove', false), use(args, 1, 'write', false)]),
  symlink: call('symlink', (args) => [use(args, 1, 'write', false, 'symlink')]),
  link: call('link', (args) => [use(args, 0, 'write', false), use(args, 1, 'write', false)]),
  chmod: one('chmod', 'write', true),
  chown: one('chown', 'write', true),
  lchown: one('lchown', 'write', false),
  utimes: one('utime', 'write', true),
  lutimes: one('lutime', 'write', false),

  stats: whole('statfs', 'look'),
  /** Layers that use this table refuse it: the limits are those of the lower filesystem. */
  setLimits: whole('setLimits', 'nothing'),
  checkpoint: whole('checkpoint', 'change'),
  checkpoints: whole('checkpoints', 'look'),
  rollback: whole('rollback', 'change'),
  drop: whole('drop', 'change'),
  at: whole('at', 'look', { answers: 'fileSystem' }),
  fork: whole('fork', 'look', { answers: 'fileSystem' }),
  transaction: whole('transaction', 'code', { answers: 'fileSystem' }),
  run: whole('run', 'code'),
  iterate: whole('iterate', 'code', { shape: 'iterator' }),
  compare: whole('diff', 'code'),
  toJSON: whole('toJSON', 'look', { forms: 'sync' }),
  close: whole('close', 'nothing', { shape: 'end', forms: 'promise' }),
} as const satisfies Record<MethodName, MethodSpec>;

/** Methods whose first two arguments are paths. Of the others at most the first one is. */
const PAIRS: ReadonlySet<string> = new Set(['cp', 'copyFile', 'rename', 'symlink', 'link'] satisfies MethodName[]);

/**
 * Returns a function that converts the paths among a method's arguments to text, so that a layer sees the paths that
 * the lower filesystem will use.
 */
export function textPaths(name: MethodName): (args: readonly unknown[]) => readonly unknown[] {
  const count = PAIRS.has(name) ? 2 : 1;
  return (args) =>
    typeof args[0] !== 'object' && (count === 1 || typeof args[1] !== 'object')
      ? args
      : args.map((arg, at) => (at < count ? pathOf(arg as Path) : arg));
}

/** A method's effect on an open file. */
export interface HandleSpec {
  readonly access: Access | 'nothing';
  readonly shape: 'call' | 'value' | 'end';
}

export type HandleMethodName = Exclude<Extract<keyof SyncFileHandle, string>, `${string}Sync`>;

export const HANDLE_METHODS = {
  path: { access: 'nothing', shape: 'value' },
  read: { access: 'read', shape: 'call' },
  write: { access: 'write', shape: 'call' },
  readFile: { access: 'read', shape: 'call' },
  writeFile: { access: 'write', shape: 'call' },
  truncate: { access: 'write', shape: 'call' },
  stat: { access: 'look', shape: 'call' },
  chmod: { access: 'write', shape: 'call' },
  chown: { access: 'write', shape: 'call' },
  utimes: { access: 'write', shape: 'call' },
  close: { access: 'nothing', shape: 'end' },
} as const satisfies Record<HandleMethodName, HandleSpec>;

/**
 * Names of `…Sync` methods without a method of the same name without `Sync`. The table has no entry for those, so the
 * next line compiles only if there are none.
 */
type Unpaired = Exclude<SyncNames, `${MethodName}Sync`>;
const ALL_PAIRED: [Unpaired] extends [never] ? true : never = true;

/** Returns the names of a table, in its order. */
export function namesOf<T extends object>(table: T): (keyof T & string)[] {
  return ALL_PAIRED ? (Object.keys(table) as (keyof T & string)[]) : [];
}
