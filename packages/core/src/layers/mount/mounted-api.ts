import { signalIn } from '../../engine/arguments.js';
import {
  cannotRestore,
  publicMethods,
  type SyncTrustedApi,
  type TrustedStart,
  trustedApi,
} from '../../engine/internals.js';
import type { RestoredPaths } from '../../engine/restore/restore-allowed.js';
import { FsError } from '../../errors.js';
import type { Checkpoint, FileSystem, SyncFileSystem } from '../../file-system.js';
import { runCalls, runCallsSync } from '../call-sequence.js';
import type { PathUse } from '../method-table.js';
import { onlyChangeable } from './abilities.js';
import type { Checkpoints } from './checkpoints.js';
import type { Mounted, Namespace } from './namespace.js';
import { type Place, placeOf } from './resolve.js';
import { busy, isHeld } from './rules.js';
import { translateError } from './translate.js';

type Which = Checkpoint | string | undefined;

/**
 * Returns the methods that run this library's code over a mount: the public ones, except that `diff` compares states of
 * the only filesystem that can be changed, and `restore` runs in the filesystem of its path. Both translate paths.
 */
export function mountedApi(
  space: Namespace,
  self: FileSystem,
  checkpoints: Checkpoints,
  enter: () => void,
): SyncTrustedApi {
  const api = publicMethods(self as SyncFileSystem);
  const aim = <T>(from: Which, to: Which, start: TrustedStart<T>) => {
    enter();
    const mounted = onlyChangeable(space);
    if (mounted === undefined) throw compareRefused();
    const { fileSystem } = mounted;
    const [a, b] = [from, to].map((which) => partOf(checkpoints, which, fileSystem));
    const moved: TrustedStart<T> = (before, after, inMounted = itself) =>
      start(before, after, (path) => {
        const inner = inMounted(path);
        return inner === undefined ? undefined : visibleFrom(space, mounted, inner);
      });
    return { fileSystem, a, b, moved };
  };
  const use = (path: string): PathUse => ({ path, at: 0, access: 'look', follow: false });
  /** Returns the API of the filesystem that has the path to restore, and its part of the checkpoint. */
  const partAt = (which: Checkpoint | string, place: Place) => {
    const { fileSystem } = place.mounted;
    if (isHeld(space, place)) throw busy({ syscall: 'restore', path: place.given });
    const inner = trustedApi(fileSystem as SyncFileSystem);
    if (inner.runBeside === undefined) throw cannotRestore();
    return { inner, part: checkpoints.part(which, fileSystem, 'restore') };
  };
  const outside = (place: Place, { added, removed, changed }: RestoredPaths): RestoredPaths => {
    const all = (paths: readonly string[]): string[] => paths.map((path) => space.outside(place.mounted, path));
    return { added: all(added), removed: all(removed), changed: all(changed) };
  };
  // If nothing is mounted, operations run over the root as they do without a mount.
  const code = space.all.length === 1 ? trustedApi(space.root.fileSystem as SyncFileSystem) : api;
  return {
    run: async (operation, args, options) => {
      enter();
      return code.run(operation, args, options);
    },
    iterate: (start, options) => api.iterate(start, options),
    collect: (start, options) => api.collect(start, options),
    runSync: (operation, args) => {
      enter();
      return code.runSync(operation, args);
    },
    iterateSync: (start) => api.iterateSync(start),
    runBeside: async (which, path, operation, options) => {
      enter();
      const place = await runCalls(placeOf(space, use(path), 'restore', true), signalIn(options));
      try {
        const { inner, part } = partAt(which, place);
        const restored = await inner.runBeside?.(part, place.inner, operation, options);
        return outside(place, restored as RestoredPaths);
      } catch (error) {
        throw translateError(error, space, [place]);
      }
    },
    runBesideSync: (which, path, operation) => {
      enter();
      const place = runCallsSync(placeOf(space, use(path), 'restore', true));
      try {
        const { inner, part } = partAt(which, place);
        return outside(place, inner.runBesideSync?.(part, place.inner, operation) as RestoredPaths);
      } catch (error) {
        throw translateError(error, space, [place]);
      }
    },
    compare: async (from, to, start, options) => {
      const { fileSystem, a, b, moved } = aim(from, to, start);
      return trustedApi(fileSystem).compare(a, b, moved, options);
    },
    compareSync: (from, to, start) => {
      const { fileSystem, a, b, moved } = aim(from, to, start);
      return trustedApi(fileSystem as SyncFileSystem).compareSync(a, b, moved);
    },
  };
}

export function compareRefused(): FsError {
  const hint =
    'A mount compares its states only if exactly one of its filesystems can be changed, mounted once: compare the checkpoints of each filesystem that is mounted';
  return new FsError('ENOTSUP', { syscall: 'diff', hint });
}

function itself(path: string): string {
  return path;
}

/** Returns the part of a checkpoint that belongs to one filesystem. Undefined (the current state) stays undefined. */
export function partOf(checkpoints: Checkpoints, which: Which, fileSystem: FileSystem): Which {
  return which === undefined ? undefined : checkpoints.part(which, fileSystem, 'diff');
}

/** Returns the path in the mount; undefined if a mount point hides it. */
function visibleFrom(space: Namespace, mounted: Mounted, inner: string): string | undefined {
  const path = space.outside(mounted, inner);
  return space.inside(path).mounted === mounted ? path : undefined;
}
