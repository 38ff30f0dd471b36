import {
  type CallOptions,
  type FileSystem,
  FsError,
  isFsError,
  parentPath,
  type SyncFileSystem,
} from '@scratchfs/core';
import { type CallSequence, invoke, runCalls, runCallsSync } from '@scratchfs/core/internal';
import { restrict } from '@scratchfs/core/layers';
import { parseSandboxConfig, type SandboxConfig } from './config.js';
import { DenyList } from './deny-list.js';
import { childPolicy, type DeriveOptions, type Parent, parseDeriveOptions } from './derive.js';
import {
  isSandboxError,
  linkedRootError,
  outsideError,
  PathDeniedError,
  PathNotInSandboxError,
  type Refusal,
  refusalError,
  restated,
  SuffixNotAllowedError,
  type Words,
} from './errors.js';
import type { Approvals, FileSystemSandbox, FollowOptions, ListedEntry } from './file-sandbox.js';
import { find, findName, isAbsent } from './find.js';
import { checkPattern, entriesAtTop, entriesIn, filesAmong, type LocatedEntry } from './list-files.js';
import { Namespace, rootOf, TOP } from './namespace.js';
import { describe, entriesOf } from './plain-data.js';
import { DenyPolicy, type Policy, RootPolicy } from './policy.js';
import { PolicyGuard, pathRefusal } from './policy-guard.js';
import { checkPiece, pieceOf, type ReadOptions, type ReadResult } from './read-result.js';
import { type SandboxRoot, sandboxRoots } from './sandbox-root.js';

export interface SandboxOptions {
  /** Directory of the filesystem that relative roots refer to. Default `/`. */
  readonly basePath?: string | undefined;
}

/** The filesystem of a sandbox has synchronous methods if the underlying one does. */
export type Guarded<F extends FileSystem> = F extends SyncFileSystem ? SyncFileSystem : FileSystem;

/**
 * Access to the part of a filesystem that a configuration allows, under the paths that a person or a model writes:
 * `/src/a.ts` or `src/a.ts` with one root, `notes/a.md` or `notes:a.md` with names. Links are followed, and their
 * targets must be allowed too. `..` above a root, `~`, drive letters and `//` are outside.
 *
 * `derive` returns a child with no more access than its parent. Methods with `Sync` work if the filesystem is
 * synchronous. Most errors about access name what is allowed.
 *
 * @throws TypeError, RangeError for an invalid configuration
 * @example
 * ```ts
 * import { createFileSystem } from 'scratchfs';
 * import { Sandbox } from '@scratchfs/sandbox';
 *
 * const project = createFileSystem({ files: { '/src/a.ts': 'let x = 1;', '/docs/x.md': 'x' } });
 * const program = new Sandbox(project);
 * const analyser = await program.derive({ allowRead: '/src', readonly: true });
 * console.log((await analyser.read('/src/a.ts')).content); // → let x = 1;
 * console.log(await analyser.canWrite('/src/a.ts')); // → false
 * await analyser.read('/docs/x.md').catch((error: Error) => console.log(error.message.split('\n')[1])); // → Readable paths: /src
 * ```
 */
export class Sandbox<F extends FileSystem = FileSystem> implements FileSystemSandbox {
  readonly #fileSystem: Guarded<F>;
  readonly readableRoots: readonly string[];
  readonly writableRoots: readonly string[];
  /** True if commands may use the network. */
  readonly network: boolean;
  /** True if commands are refused when no OS sandbox can confine them. */
  readonly requireOsSandbox: boolean;
  readonly #access: Access;

  /** Creates a sandbox of the whole filesystem. Writes need approval. */
  constructor(fileSystem: F);
  constructor(fileSystem: F, config: SandboxConfig, options?: SandboxOptions);
  constructor(fileSystem: FileSystem, ...given: readonly [(SandboxConfig | Access)?, SandboxOptions?]) {
    // A configuration that is undefined by mistake is an error. It does not mean the whole filesystem.
    const [config, options] = given.length === 0 ? [{ root: '/' }] : given;
    const access = Access.isOne(config) ? config : accessOf(fileSystem, config as SandboxConfig, options);
    const { namespace, policy } = access;
    const roots = (paths: readonly string[]): readonly string[] =>
      Object.freeze(paths.map((path) => namespace.show(path) as string));
    this.#access = access;
    this.readableRoots = roots(policy.readableRoots);
    this.writableRoots = roots(policy.writableRoots);
    this.network = access.network;
    this.requireOsSandbox = access.requireOsSandbox;
    const { readableRoots, writableRoots } = policy;
    this.#fileSystem = restrict(
      access.fileSystem,
      new PolicyGuard(namespace.roots, policy, { readableRoots, writableRoots, namesWritable: namespace.isRootForm }),
    ) as unknown as Guarded<F>;
  }

  /** The filesystem under the policy, with the same paths as the underlying one. */
  get fileSystem(): Guarded<F> {
    return this.#fileSystem;
  }

  /**
   * Reports whether the policy allows reading a path. False for an invalid path, and for a directory that shows only
   * the names that lead to allowed paths.
   */
  async canRead(path: string, options?: CallOptions): Promise<boolean> {
    return runCalls(this.#can(path, 'read'), options?.signal);
  }
  canReadSync(this: Sandbox<SyncFileSystem>, path: string): boolean {
    return runCallsSync(this.#can(path, 'read'));
  }

  async canWrite(path: string, options?: CallOptions): Promise<boolean> {
    return runCalls(this.#can(path, 'write'), options?.signal);
  }
  canWriteSync(this: Sandbox<SyncFileSystem>, path: string): boolean {
    return runCallsSync(this.#can(path, 'write'));
  }

  /**
   * @throws PathNotInSandboxError, PathNotWritableError, SuffixNotAllowedError; for a path that `deny` hides, FsError
   *   ENOENT about a read and PathDeniedError about a write; what else the filesystem throws
   */
  async check(path: string, access: 'read' | 'write', options?: FollowOptions & CallOptions): Promise<void> {
    return runCalls(this.#check(path, access, options?.follow !== false), options?.signal);
  }
  checkSync(this: Sandbox<SyncFileSystem>, path: string, access: 'read' | 'write', options?: FollowOptions): void {
    runCallsSync(this.#check(path, access, options?.follow !== false));
  }

  /**
   * @throws PathNotInSandboxError if it may be neither read nor written; PathDeniedError if `deny` hides it; what else
   *   the filesystem throws
   */
  async resolve(path: string, options?: FollowOptions & CallOptions): Promise<string> {
    return runCalls(this.#resolve(path, options?.follow !== false), options?.signal);
  }
  resolveSync(this: Sandbox<SyncFileSystem>, path: string, options?: FollowOptions): string {
    return runCallsSync(this.#resolve(path, options?.follow !== false));
  }

  locate(path: string): string {
    const found = this.#access.namespace.locate(path);
    if (typeof found !== 'string') throw outsideError(path, this.#words);
    return found;
  }

  show(path: string): string | undefined {
    return this.#access.namespace.show(path);
  }

  explain(error: unknown, path: string, dest?: string): unknown {
    if (!isFsError(error)) return error;
    const isDest = dest !== undefined && error.path !== undefined && error.path === this.#access.namespace.locate(dest);
    const given = isDest ? dest : path;
    if (isSandboxError(error)) return restated(error, given, this.#words);
    const { code, syscall, hint, limit, used, requested, allowed, expected, actual } = error;
    const paths = error.dest === undefined ? { path: given } : { path, dest };
    return new FsError(code, { syscall, ...paths, hint, limit, used, requested, allowed, expected, actual });
  }

  /**
   * Returns the approvals that a path needs: those of the root that contains it as written, and of the root to which
   * its links lead.
   */
  async approvals(path: string, options?: CallOptions): Promise<Approvals> {
    return runCalls(this.#approvals(path), options?.signal);
  }
  approvalsSync(this: Sandbox<SyncFileSystem>, path: string): Approvals {
    return runCallsSync(this.#approvals(path));
  }

  /**
   * Returns a part of a file as UTF-8 text; malformed bytes become U+FFFD.
   * @throws PathNotInSandboxError, SuffixNotAllowedError, FileTooLargeError, FsError; TypeError, RangeError for invalid
   *   options
   */
  async read(path: string, options?: ReadOptions & CallOptions): Promise<ReadResult> {
    return runCalls(this.#read(path, options), options?.signal);
  }
  readSync(this: Sandbox<SyncFileSystem>, path: string, options?: ReadOptions): ReadResult {
    return runCallsSync(this.#read(path, options));
  }

  /**
   * @throws PathNotInSandboxError, PathNotWritableError, PathDeniedError, SuffixNotAllowedError, FsError; TypeError for
   *   a content that is not a string
   */
  async write(path: string, content: string, options?: CallOptions): Promise<void> {
    return runCalls(this.#write(path, content), options?.signal);
  }
  writeSync(this: Sandbox<SyncFileSystem>, path: string, content: string): void {
    runCallsSync(this.#write(path, content));
  }

  /**
   * Lists files, named as in `read`: `/src/a.ts` with one root, `notes/a.md` with names. A link is listed if it leads
   * to a visible file.
   * @throws PathNotInSandboxError, FsError such as ENOENT and ENOTDIR; TypeError, RangeError for an invalid pattern or
   *   one that starts elsewhere
   */
  async listFiles(path = '.', pattern = '**/*', options?: CallOptions): Promise<string[]> {
    return runCalls(this.#listFiles(path, pattern), options?.signal);
  }
  listFilesSync(this: Sandbox<SyncFileSystem>, path = '.', pattern = '**/*'): string[] {
    return runCallsSync(this.#listFiles(path, pattern));
  }

  /**
   * Lists files, directories and links, with their kinds and sizes. Links are not followed.
   * @throws as `listFiles`
   */
  async list(path = '.', pattern = '**/*', options?: CallOptions): Promise<ListedEntry[]> {
    return (await runCalls(this.#list(path, pattern), options?.signal)).map(listed);
  }
  listSync(this: Sandbox<SyncFileSystem>, path = '.', pattern = '**/*'): ListedEntry[] {
    return runCallsSync(this.#list(path, pattern)).map(listed);
  }

  /**
   * Returns a sandbox with the access that the options give. The child has the same spelling of paths, suffixes, limits
   * and approvals as this sandbox. Without `strictEntries`, an entry that is a file opens its directory; for a link, its
   * current target counts.
   * @throws SandboxPermissionEscalationError for access that this sandbox lacks; TypeError, RangeError for invalid
   *   options; what the filesystem throws
   */
  async derive(options?: DeriveOptions, call?: CallOptions): Promise<Sandbox<F>> {
    const parsed = parseDeriveOptions(options ?? {});
    return this.#child(await runCalls(childPolicy(this.#asParent(), parsed), call?.signal));
  }
  deriveSync(this: Sandbox<SyncFileSystem>, options?: DeriveOptions): Sandbox<SyncFileSystem> {
    const parsed = parseDeriveOptions(options ?? {});
    return this.#child(runCallsSync(childPolicy(this.#asParent(), parsed)));
  }

  #child(policy: Policy): Sandbox<F> {
    const { fileSystem, namespace, network, requireOsSandbox } = this.#access;
    const access = new Access(fileSystem, namespace, policy, network, requireOsSandbox);
    return new Sandbox<F>(fileSystem as F, access as unknown as SandboxConfig);
  }

  #asParent(): Parent {
    const { namespace, policy } = this.#access;
    const { fileSystem, readableRoots, writableRoots } = this;
    const explain = (error: unknown, path: string): unknown => this.explain(error, path);
    return { fileSystem, namespace, policy, readableRoots, writableRoots, explain };
  }

  get #words(): Words {
    const { readableRoots, writableRoots } = this;
    return { readableRoots, writableRoots, namesWritable: this.#access.namespace.isRootForm };
  }

  /** Runs a sequence on a path, and translates its errors for the caller. */
  *#on<R>(given: string, work: (path: string, fileSystem: FileSystem) => CallSequence<R>): CallSequence<R> {
    const path = this.locate(given);
    try {
      return yield* work(path, this.#fileSystem);
    } catch (error) {
      const root = error instanceof PathNotInSandboxError ? yield* this.#linkedRoot(path) : undefined;
      throw root === undefined ? this.explain(error, given) : linkedRootError(given, root.name ?? '/');
    }
  }

  /** Returns the root of a path if the root is a link or lies behind one. */
  *#linkedRoot(path: string): CallSequence<SandboxRoot | undefined> {
    const { fileSystem, namespace } = this.#access;
    const root = rootOf(namespace.roots, path);
    if (root === undefined) return undefined;
    try {
      return (yield* invoke<string>(fileSystem, 'realpath', [root.path])) === root.path ? undefined : root;
    } catch {
      // The caller reports the refusal itself.
      return undefined;
    }
  }

  *#can(given: string, access: 'read' | 'write'): CallSequence<boolean> {
    try {
      yield* this.#check(given, access, true);
      return true;
    } catch (error) {
      if (isFsError(error)) return false;
      throw error;
    }
  }

  *#check(given: string, access: 'read' | 'write', follow: boolean): CallSequence<void> {
    const { namespace, policy } = this.#access;
    yield* this.#on(given, function* (path, fileSystem) {
      const found = yield* follow ? find(fileSystem, path) : findName(fileSystem, path);
      // A read of a hidden file fails like that of a missing one. A write is refused with a reason.
      if (access === 'read' && policy.denies(found.path)) throw new FsError('ENOENT', { syscall: 'open', path });
      // A directory that only leads to allowed paths can be listed, but not read.
      const isOutside = access === 'read' && !policy.canRead(found.path);
      const refusal: Refusal | undefined = isOutside
        ? { kind: 'outside' }
        : pathRefusal(namespace.roots, policy, found.path, access, found.kind ?? 'file');
      if (refusal !== undefined) throw refusalError(refusal, path, policy);
    });
  }

  *#resolve(given: string, follow: boolean): CallSequence<string> {
    const { policy } = this.#access;
    return yield* this.#on(given, function* (path, fileSystem) {
      const found = yield* follow ? find(fileSystem, path) : findName(fileSystem, path);
      if (policy.canRead(found.path) || policy.canWrite(found.path)) return found.path;
      throw refusalError({ kind: policy.denies(found.path) ? 'denied' : 'outside' }, path, policy);
    });
  }

  *#approvals(given: string): CallSequence<Approvals> {
    const { roots } = this.#access.namespace;
    return yield* this.#on(given, function* (path, fileSystem) {
      const touched = [rootOf(roots, path), rootOf(roots, yield* whereItLeads(fileSystem, path))];
      return {
        read: touched.some((root) => root?.readApproval === true),
        write: touched.some((root) => root?.writeApproval === true),
      };
    });
  }

  *#read(given: string, options: ReadOptions | undefined): CallSequence<ReadResult> {
    const piece = checkPiece(options);
    try {
      return yield* this.#on(given, function* (path, fileSystem) {
        return pieceOf(yield* invoke<string>(fileSystem, 'readText', [path]), piece);
      });
    } catch (error) {
      // The error for a wrong suffix is the same whether the file exists or not.
      if (isAbsent(error)) yield* this.#check(given, 'read', true);
      throw error;
    }
  }

  *#write(given: string, content: string): CallSequence<void> {
    if (typeof content !== 'string') throw new TypeError(`content must be a string, not ${describe(content)}`);
    const { policy } = this.#access;
    yield* this.#on(given, function* (path, fileSystem) {
      if (policy.denies(path)) throw new PathDeniedError(path);
      try {
        yield* invoke(fileSystem, 'writeFile', [path, content]);
      } catch (error) {
        if (!isFsError(error, 'ENOENT') || parentPath(path) === '/') throw error;
        yield* writeWithParents(fileSystem, path, content);
      }
    });
  }

  *#listFiles(given: string, pattern: string): CallSequence<string[]> {
    return yield* filesAmong(this.#fileSystem, yield* this.#list(given, pattern));
  }

  *#list(given: string, pattern: string): CallSequence<LocatedEntry[]> {
    const glob = checkPattern(pattern);
    const { namespace, policy } = this.#access;
    if (namespace.locate(given) === TOP) {
      return yield* entriesAtTop(this.#fileSystem, namespace.roots, glob, (path) => policy.canList(path));
    }
    try {
      return yield* this.#on(given, function* (path, fileSystem) {
        return yield* entriesIn(fileSystem, { path, name: namespace.show(path) as string }, pattern, glob);
      });
    } catch (error) {
      // Listings leave out files with a wrong suffix, so a listing of one reports that it does not exist.
      if (!(error instanceof SuffixNotAllowedError)) throw error;
      throw new FsError('ENOENT', { syscall: 'scandir', path: given });
    }
  }
}

function listed({ path, kind, size }: LocatedEntry): ListedEntry {
  return { path, kind, size: kind === 'file' || kind === 'symlink' ? size : 0 };
}

/** Returns where a path leads, or the path itself if its links cannot be followed. */
function* whereItLeads(fileSystem: FileSystem, path: string): CallSequence<string> {
  try {
    return (yield* find(fileSystem, path)).path;
  } catch (error) {
    if (isFsError(error)) return path;
    throw error;
  }
}

/**
 * Creates a file and the directories that lead to it: atomically, if the filesystem has transactions. Otherwise, if the
 * file cannot be written, the new directories are removed as far as they are empty.
 */
function* writeWithParents(fileSystem: FileSystem, path: string, content: string): CallSequence<void> {
  const work = function* (target: FileSystem): CallSequence<void> {
    yield* invoke(target, 'mkdir', [parentPath(path)], { recursive: true });
    yield* invoke(target, 'writeFile', [path, content]);
  };
  try {
    yield {
      sync: () => (fileSystem as SyncFileSystem).transactionSync((branch) => runCallsSync(work(branch))),
      async: (signal) => fileSystem.transaction((branch) => runCalls(work(branch), signal), { signal }),
    };
  } catch (error) {
    if (!isFsError(error, 'ENOTSUP')) throw error;
    const first = yield* invoke<string | undefined>(fileSystem, 'mkdir', [parentPath(path)], { recursive: true });
    try {
      yield* invoke(fileSystem, 'writeFile', [path, content]);
    } catch (failure) {
      yield* removeEmpty(fileSystem, first, parentPath(path));
      throw failure;
    }
  }
}

/** Removes a directory and those above it up to `first`, as far as they are empty. */
function* removeEmpty(fileSystem: FileSystem, first: string | undefined, last: string): CallSequence<void> {
  if (first === undefined) return;
  try {
    for (let path = last; path.length >= first.length; path = parentPath(path))
      yield { fileSystem, name: 'rmdir', args: [path] };
  } catch {
    // Another client uses the directory, or it cannot be removed: the error of the write is reported.
  }
}

/** The private part of a sandbox. Only this file can create one, so callers cannot pass one in. */
class Access {
  readonly #isAccess = true;

  constructor(
    readonly fileSystem: FileSystem,
    readonly namespace: Namespace,
    readonly policy: Policy,
    readonly network: boolean,
    readonly requireOsSandbox: boolean,
  ) {}

  static isOne(value: unknown): value is Access {
    return typeof value === 'object' && value !== null && #isAccess in value;
  }
}

function accessOf(fileSystem: FileSystem, config: SandboxConfig, options: SandboxOptions | undefined): Access {
  const parsed = parseSandboxConfig(config);
  const roots = sandboxRoots(parsed, basePathOf(options));
  const { deny, network, requireOsSandbox } = parsed;
  const policy = new RootPolicy(roots);
  const restricted = deny === undefined ? policy : new DenyPolicy(policy, new DenyList(deny, roots));
  return new Access(fileSystem, new Namespace(roots), restricted, network, requireOsSandbox);
}

/** @throws TypeError for unknown options, and if `basePath` is not a string */
function basePathOf(options: SandboxOptions | undefined): string {
  const given = new Map(options === undefined ? [] : entriesOf(options, 'options'));
  const basePath = given.get('basePath') ?? '/';
  given.delete('basePath');
  for (const key of given.keys()) throw new TypeError(`Sandbox has no option ${describe(key)}. It takes basePath`);
  if (typeof basePath !== 'string') throw new TypeError(`basePath must be a string, not ${describe(basePath)}`);
  return basePath;
}
