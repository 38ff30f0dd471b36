import { systemClock } from '../engine/defaults.js';
import { internalsOf } from '../engine/internals.js';
import type { FileSystem, SyncFileSystem } from '../file-system.js';
import { mountFileSystem } from './mount/mount-file-system.js';
import { Namespace } from './mount/namespace.js';

/**
 * Several filesystems as one. A mount point hides what the filesystem beneath has there, and is listed with the
 * directories that lead to it, whether they exist beneath or not; the first write into such a directory makes it. Links
 * are followed from filesystem to filesystem: an absolute target starts at the root of the whole, `..` leaves a mount.
 *
 * As on a disk: `rename` and `link` from one filesystem into another are EXDEV; `rm` with `recursive`, `rmdir` and
 * `rename` of a mount point, or of what holds one, are EBUSY (ENOTEMPTY for `rmdir` of a directory that leads to one).
 * `cp` and `copyFile` copy contents from one filesystem into another. `ino` is unique together with `dev`.
 *
 * Every method is atomic in the filesystem that its path leads to; the way there is looked up before. `cp` out of a
 * filesystem, or of a directory with mount points beneath, is made entry by entry: a failure leaves what was made.
 * Each filesystem keeps its own limits; `stats` is the sum of all, with what mount points hide, each filesystem once.
 *
 * `checkpoint`, `rollback`, `drop` and `fork` do the same to all filesystems, one after another (on synchronous ones
 * nothing comes between); ENOTSUP where one cannot. `transactionSync` is all or nothing over all. `transaction` is
 * ENOTSUP, as are `compare` and an operation given to `run` that writes: use the mounted filesystem itself. `walk`,
 * `iterate` and `run` see all as one tree, at one point in time where all are synchronous and can fork. `watch` tells of
 * every filesystem beneath with `recursive`. `close` ends the layer; what is mounted stays open.
 *
 * @throws TypeError where something mounted is no filesystem, or a mount point stands twice or is `/`
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
