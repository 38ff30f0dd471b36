import { systemClock } from '../engine/defaults.js';
import { internalsOf } from '../engine/internals.js';
import type { FileSystem, SyncFileSystem } from '../file-system.js';
import { mountFileSystem } from './mount/mount-file-system.js';
import { Namespace } from './mount/namespace.js';

/**
 * Combines several filesystems. A mount point hides what the lower filesystem has there, and is listed together with
 * the directories that lead to it, whether these exist in the lower filesystem or not; the first write into such a
 * directory creates it. Links are followed across filesystems: an absolute target starts at the root of the whole, `..`
 * leaves a mount.
 *
 * As on a disk: `rename` and `link` across filesystems are EXDEV; `rm` with `recursive`, `rmdir` and `rename` of a
 * mount point, or of a directory that contains one, are EBUSY (ENOTEMPTY for `rmdir` of a directory that leads to one).
 * `cp` and `copyFile` copy contents across filesystems. `ino` is unique together with `dev`.
 *
 * A change is atomic in the filesystem that its path leads to; the path is resolved before. `cp` and `copyFile` from
 * one filesystem to another, and `cp` of a directory that contains mount points, work step by step: a failure leaves
 * what was already copied. Each filesystem keeps its own limits; `limits` are those of the only one that can be changed
 * (of the root if none can), else `{}`; `stats` is the sum of all, including what mount points hide, each filesystem
 * once.
 *
 * `checkpoint`, `rollback` and `drop` apply to all filesystems that can be changed (`capabilities.writes`), one after
 * another (on synchronous ones nothing runs in between): a read-only one has no state to keep. `checkpoint` and
 * `rollback` are ENOTSUP if one of those cannot, or there is none. If `rollback` fails in one, the others return to
 * their state at its start; one that fails to return stays rolled back, and keeps an unnamed checkpoint of that state.
 * `fork` applies to all. If exactly one filesystem can be changed, `transaction` and `diff` work as in that one (`diff`
 * only if it is mounted once); the others are read as they are. If none can be changed, `transaction` reads the root.
 * If there are several, both are ENOTSUP, but `transactionSync` is all or nothing over all. Unless `mounts` is empty,
 * `restoreSnapshot`, `compare` and a writing operation given to `run` are ENOTSUP: use the mounted filesystem itself.
 * `walk`, `iterate` and `run` see one tree, at one point in time if all filesystems are synchronous and can fork.
 * `watch` with `recursive` reports changes of all filesystems under the path. `close` ends the layer; the mounted
 * filesystems stay open.
 *
 * @throws TypeError if a mounted value is not a filesystem, or a mount point is duplicated or `/`; FsError for an
 *   invalid path of a mount point
 * @example
 * ```ts
 * import { createFileSystem } from 'scratchfs';
 * import { mount, readonly } from '@scratchfs/core/layers';
 *
 * const library = createFileSystem({ files: { '/guide.md': 'read me' } });
 * const fs = mount(createFileSystem(), { '/mnt/library': readonly(library) });
 * fs.writeFileSync('/notes.txt', 'mine');
 * fs.symlinkSync('/mnt/library/guide.md', '/guide');
 * console.log(fs.readTextSync('/guide')); // → read me
 * console.log(fs.readdirSync('/')); // → [ 'guide', 'mnt', 'notes.txt' ]
 * ```
 */
export function mount(root: SyncFileSystem, mounts: Readonly<Record<string, SyncFileSystem>>): SyncFileSystem;
export function mount(root: FileSystem, mounts: Readonly<Record<string, FileSystem>>): FileSystem;
export function mount(root: FileSystem, mounts: Readonly<Record<string, FileSystem>>): FileSystem {
  const clock = internalsOf(root)?.context.clock ?? systemClock;
  return mountFileSystem(new Namespace(root, mounts, clock));
}
