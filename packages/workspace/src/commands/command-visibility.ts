import type { CopySource, Visibility } from '@scratchfs/host/internal';
import { type HiddenPathOptions, HiddenPaths } from '../visibility/hidden-paths.js';
import type { ReadOnlyPaths } from '../visibility/visible-backend.js';

/** Decides what a command sees of a directory and what it may leave there, by the rules of its workspace. */
export interface CommandVisibility {
  readonly visibilityOf: CopySource['visibilityOf'];
  /** Reports whether commands can only read a path: a secret that is shown by way of exception. */
  readonly isReadOnly: (path: string) => boolean;
}

/** @param ignored directories that git ignores */
export function commandVisibility(options: HiddenPathOptions, ignored: ReadOnlyPaths): CommandVisibility {
  const hidden = new HiddenPaths(options);
  const secrets = new HiddenPaths({ deny: options.deny });
  return {
    visibilityOf: (path, isDirectory) => {
      if (hidden.hidesLast(path.split('/'))) return 'hidden';
      // A file is ignored only with its directory, which the walk does not enter then.
      if (!isDirectory) return 'visible';
      return ignored
        .ignoredOn(`/${path}`, async () => true)
        .then((found): Visibility => (found === undefined ? 'visible' : 'ignored'));
    },
    isReadOnly: (path) => secrets.hides(`/${path}`),
  };
}
