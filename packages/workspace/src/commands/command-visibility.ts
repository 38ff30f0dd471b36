import type { CopySource, Visibility } from '@scratchfs/host/internal';
import { HiddenPaths } from '../visibility/hidden-paths.js';
import type { ReadOnlyPaths } from '../visibility/visible-backend.js';

/** Decides what a command sees of a directory and what it may leave there, by the rules of its workspace. */
export interface CommandVisibility {
  readonly visibilityOf: CopySource['visibilityOf'];
  /** Reports whether commands can only read a path, because it is a secret that `allowSecrets` shows. */
  readonly isReadOnly: (path: string) => boolean;
}

/** @param hidden paths that no command sees @param deny patterns of the workspace @param ignored directories that git ignores */
export function commandVisibility(
  hidden: HiddenPaths,
  deny: readonly string[] | undefined,
  ignored: ReadOnlyPaths,
): CommandVisibility {
  let secrets: HiddenPaths | undefined;
  return {
    visibilityOf: (path, isDirectory) => {
      if (hidden.hidesLast(path.split('/'))) return 'hidden';
      // A file is ignored only with its directory.
      if (!isDirectory) return 'visible';
      return ignored
        .ignoredOn(`/${path}`, async () => true)
        .then((found): Visibility => (found === undefined ? 'visible' : 'ignored'));
    },
    isReadOnly: (path) => {
      secrets ??= new HiddenPaths({ deny });
      return secrets.hides(`/${path}`);
    },
  };
}
