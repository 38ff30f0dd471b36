import { asyncStorage, type FileSystem, fileSystemOn } from '@scratchfs/core';
import { readonly } from '@scratchfs/core/layers';
import { HAS_DESCRIPTOR_PATHS } from './anchor.js';
import type { GitAccess } from './git-protection.js';
import { HostBackend } from './host-backend.js';
import { hostError } from './host-error.js';
import type { HardLinks } from './host-writes.js';

export interface HostFileSystemOptions {
  /** Whatever would change the directory is EROFS, and nothing on the host is written. Default false. */
  readonly readonly?: boolean | undefined;
  /** Refuse to open on a platform where the confinement can be raced. Default false. */
  readonly strict?: boolean | undefined;
  /**
   * How a file is changed that has other hard links, not all of which are known to lie inside the directory, as a file of
   * pnpm's store or of `cp -al` has. `break`: its name gets a file of its own with the new content, mode or times, and the other
   * names keep the old file. `in-place`: the file itself changes, under all its names, those outside the directory included.
   * Links that this filesystem has made are known as long as it is open; such a file stays one file. Default `break`.
   */
  readonly hardLinks?: HardLinks | undefined;
  /**
   * What may be done with git repositories in the directory, above it, and in it at any depth. `read-only`: nothing can be made,
   * written, moved or removed at or under a name that HFS+ or NTFS reads as `.git`, in a bare repository, and at paths that the
   * configuration of a repository around the path names (hooks, includes, programs); a directory that holds a repository cannot be
   * moved, copied or removed. `hidden`: such names are missing as well, for reads too. `writable`: all of it can be changed, as a
   * `GitDirectory` on the filesystem needs; the user's next git command may run what was written. A repository that is built
   * under other names is not held: set `safe.bareRepository` to `explicit`. Default `read-only`.
   */
  readonly git?: GitAccess | undefined;
  /** Epoch milliseconds, for what the host does not stamp itself. Default: the time of day. */
  readonly clock?: (() => number) | undefined;
}

/** What confinement means on this platform. */
export interface HostGuarantees {
  /** `descriptors`: names are looked up beneath held directories; `paths`: they are checked, then used by path. */
  readonly confinement: 'descriptors' | 'paths';
  /** Whether another process that swaps directories and links meanwhile can lead a call out of the root. */
  readonly raceFree: boolean;
  /** What is weaker than on Linux, as sentences. */
  readonly weaker: readonly string[];
}

export function hostGuarantees(): HostGuarantees {
  if (HAS_DESCRIPTOR_PATHS)
    return Object.freeze({ confinement: 'descriptors', raceFree: true, weaker: Object.freeze([]) });
  return Object.freeze({
    confinement: 'paths',
    raceFree: false,
    weaker: Object.freeze([
      'A process that swaps a directory for a link between the check of a path and its use can lead a call out of the root.',
      'Where the disk ignores case, one name has several spellings, and what a sandbox says of one does not hold for the others.',
    ]),
  });
}

/** Work on a large tree takes long on a disk, and nothing is gained by giving it up. */
const TIMEOUT_MS = 3_600_000;

/**
 * A directory of the host as a filesystem that cannot be left. `/` is the directory; links inside are followed, links that
 * lead out are seen and not followed (EACCES); pipes, sockets, devices and names that are no UTF-8 are not there. Other
 * processes may change it at any time: what was read is confirmed on each call.
 *
 * A file that is written takes the place of the old one in one step, so that after a crash it is the old or the new one.
 * In place are changed: files above 16 MiB of which a part changes, and files that this filesystem has given several names;
 * where that fails, what they held is put back. Other files with several names: {@link HostFileSystemOptions.hardLinks}. Times are the host's. Names that begin with `.scratchfs-tmp-` are not there.
 *
 * `checkpoint`, `rollback`, `fork`, `transaction` and restoring a snapshot are ENOTSUP: take an `overlay` of it, which
 * has them all and leaves the directory as it is. `stats` counts, at the cost of a walk.
 *
 * @throws FsError ENOENT, ENOTDIR where the directory is none; Error where `strict` and the platform cannot confine
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
      'This platform cannot confine a directory against races: open it without strict where nobody else writes to it',
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
    throw new TypeError('The path of a directory is needed');
  if (typeof options !== 'object' || options === null) throw new TypeError('options must be an object');
  for (const key of Object.keys(options)) {
    if (!['readonly', 'strict', 'hardLinks', 'git', 'clock'].includes(key))
      throw new TypeError(`hostFileSystem has no option ${key}`);
  }
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
