import { asyncStorage, type FileSystem, fileSystemOn } from '@scratchfs/core';
import { readonly } from '@scratchfs/core/layers';
import { checkOptions } from './check-options.js';
import type { GitAccess } from './git-protection.js';
import { HostBackend } from './host-backend.js';
import { hostError } from './host-error.js';
import type { HardLinks } from './host-writes.js';
import { HAS_DESCRIPTOR_PATHS } from './path-handle.js';

export interface HostFileSystemOptions {
  /** Calls that would change the directory fail with EROFS, and nothing on the host is written. Default false. */
  readonly readonly?: boolean | undefined;
  /** If true, opening fails on a platform on which another process can race the confinement. Default false. */
  readonly strict?: boolean | undefined;
  /**
   * Treatment of a changed file that has other hard links, not all of which are known to lie inside the directory, such
   * as a file of pnpm's store or of `cp -al`. `break`: its name gets a new file with the new content or metadata, and
   * the other names keep the old file. `in-place`: the file itself changes, under all its names, including those
   * outside the directory. Links made by this filesystem are known as long as it is open; such a file stays one file.
   * Default `break`.
   */
  readonly hardLinks?: HardLinks | undefined;
  /**
   * Allowed access to git repositories in the directory at any depth, and above it. `read-only`: nothing can be
   * created, written, moved or removed at or under a name that HFS+ or NTFS reads as `.git`, in a bare repository, and
   * at paths that the configuration of a repository around the path names (hooks, includes, programs); a directory that
   * contains a repository cannot be moved, copied or removed. `hidden`: in addition, names read as `.git` are missing
   * for reads. `writable`: everything can be changed, as a `GitDirectory` on the filesystem needs; the user's next git
   * command may run what was written. A repository that is built under other names is not protected: set git's
   * `safe.bareRepository` to `explicit`. Default `read-only`.
   */
  readonly git?: GitAccess | undefined;
  /** Epoch milliseconds, for times that the host does not set itself. Default: the current time. */
  readonly clock?: (() => number) | undefined;
}

/** Strength of the confinement on a platform. */
export interface HostGuarantees {
  /** `descriptors`: names are looked up under held directories; `paths`: they are checked, then used by path. */
  readonly confinement: 'descriptors' | 'paths';
  /** True if a process that swaps directories and links concurrently cannot lead a call out of the root. */
  readonly raceFree: boolean;
  /** Guarantees that are weaker than on Linux, one sentence each. */
  readonly weaker: readonly string[];
}

/** Returns the strength of the confinement on this platform. The result is frozen. */
export function hostGuarantees(): HostGuarantees {
  if (HAS_DESCRIPTOR_PATHS)
    return Object.freeze({ confinement: 'descriptors', raceFree: true, weaker: Object.freeze([]) });
  return Object.freeze({
    confinement: 'paths',
    raceFree: false,
    weaker: Object.freeze([
      'A process that swaps a directory for a link between the check of a path and its use can lead a call out of the root.',
      'On a disk that ignores case one name has several spellings, and the rule of a sandbox for one of them does not apply to the others.',
    ]),
  });
}

/** Deadline of a call. Work on a large tree takes long on a disk, and giving up early gains nothing. */
const TIMEOUT_MS = 3_600_000;

/**
 * Opens a directory of the host as a filesystem that no path can leave. `/` is the directory. Links inside are
 * followed; links that lead out are shown but not followed (EACCES). Pipes, sockets, devices and names that are not
 * UTF-8 are not shown. Other processes may change the directory at any time, so each call confirms what the filesystem
 * remembers.
 *
 * A written file replaces the old one atomically, so that after a crash it is the old or the new one. Two kinds of
 * files are changed in place: files above 16 MiB of which a part changes, and files to which this filesystem has given
 * several names. If such a change fails, the old content is put back if the disk permits it. For other files with
 * several names see {@link HostFileSystemOptions.hardLinks}. Times are the host's. Names that begin with
 * `.scratchfs-tmp-` count as missing.
 *
 * `checkpoint`, `rollback`, `fork`, `transaction` and restoring a snapshot fail with ENOTSUP. An `overlay` of the
 * filesystem has them all and leaves the directory as it is. `stats` walks the tree to count it.
 *
 * @throws TypeError for malformed arguments; FsError ENOENT if the directory does not exist, ENOTDIR if it is not a
 *   directory, and other codes with which the host refuses to open it; Error if `strict` is set and the platform cannot
 *   confine
 * @example
 * ```ts no-run
 * import { hostFileSystem } from '@scratchfs/host';
 * import { overlay } from '@scratchfs/core/layers';
 *
 * const fs = overlay(hostFileSystem('./project', { readonly: true }));
 * const before = await fs.checkpoint();
 * await fs.rm('/src', { recursive: true });
 * await fs.rollback(before);
 * ```
 */
export function hostFileSystem(directory: string, options: HostFileSystemOptions = {}): FileSystem {
  const {
    readonly: isReadonly = false,
    strict = false,
    hardLinks = 'break',
    git = 'read-only',
    clock,
  } = checkHostOptions(directory, options);
  if (strict && !HAS_DESCRIPTOR_PATHS)
    throw new Error(
      'This platform cannot confine a directory against races: omit strict if no other process writes to it',
    );
  let backend: HostBackend;
  try {
    backend = new HostBackend(directory, isReadonly, hardLinks, git);
  } catch (error) {
    throw hostError(error, 'open', '/');
  }
  const storage = asyncStorage(backend, {
    timeoutMs: TIMEOUT_MS,
    retries: 0,
    ...(clock === undefined ? {} : { clock }),
  });
  const fileSystem = fileSystemOn(storage, clock === undefined ? {} : { clock });
  const close = fileSystem.close.bind(fileSystem);
  Object.assign(fileSystem, {
    close: async () => {
      await close();
      await storage.close();
    },
  });
  if (!isReadonly) return fileSystem;
  const view = readonly(fileSystem);
  const closeView = view.close.bind(view);
  return Object.assign(view, {
    close: async () => {
      await closeView();
      await fileSystem.close();
    },
  });
}

function checkHostOptions(directory: string, options: HostFileSystemOptions): HostFileSystemOptions {
  if (typeof directory !== 'string' || directory === '' || directory.includes('\0'))
    throw new TypeError('The path of the directory must be a string, not empty and without NUL');
  checkOptions(options, ['readonly', 'strict', 'hardLinks', 'git', 'clock'], 'hostFileSystem');
  for (const key of ['readonly', 'strict'] as const) {
    const value = Object.hasOwn(options, key) ? options[key] : undefined;
    if (value !== undefined && typeof value !== 'boolean') throw new TypeError(`${key} must be true or false`);
  }
  const hardLinks = Object.hasOwn(options, 'hardLinks') ? options.hardLinks : undefined;
  if (hardLinks !== undefined && hardLinks !== 'break' && hardLinks !== 'in-place')
    throw new TypeError("hardLinks must be 'break' or 'in-place'");
  const git = Object.hasOwn(options, 'git') ? options.git : undefined;
  if (git !== undefined && !['read-only', 'hidden', 'writable'].includes(git))
    throw new TypeError("git must be 'read-only', 'hidden' or 'writable'");
  return { ...options };
}
