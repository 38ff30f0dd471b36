import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { Git } from './git.js';

/** Places of git's rules for ignored paths, besides the `.gitignore` files. */
export interface IgnoreFacts {
  /** Top of the work tree around the directory. Undefined outside of a work tree, or without git. */
  readonly top?: string | undefined;
  /** Files of rules for the whole work tree, the strongest first. They need not exist. */
  readonly files: readonly string[];
  /** git's setting `core.ignoreCase`. */
  readonly ignoreCase: boolean;
}

/**
 * Asks the user's git where its rules are. Without git, or outside of a repository, only the user's own file counts.
 */
export async function ignoreFacts(directory: string, signal?: AbortSignal): Promise<IgnoreFacts> {
  const git = new Git(directory);
  const text = async (...args: string[]): Promise<string | undefined> => {
    try {
      return await git.text(args, { signal });
    } catch {
      signal?.throwIfAborted();
      return undefined;
    }
  };
  const [places, file, ignoreCase] = await Promise.all([
    text('rev-parse', '--show-toplevel', '--git-path', 'info/exclude'),
    text('config', '--type=path', 'core.excludesFile'),
    text('config', '--type=bool', 'core.ignoreCase'),
  ]);
  const [top, exclude] = places?.split('\n') ?? [];
  const config = process.env['XDG_CONFIG_HOME'];
  const home = config !== undefined && isAbsolute(config) ? config : join(homedir(), '.config');
  const own = file === undefined || file === '' ? join(home, 'git', 'ignore') : resolve(top ?? directory, file);
  return {
    top,
    files: exclude === undefined ? [own] : [resolve(directory, exclude), own],
    ignoreCase: ignoreCase === 'true',
  };
}

/**
 * Returns the tracked files in a directory that git's ignore rules match, relative to it. Empty if git fails, for
 * example outside of a repository.
 */
export async function trackedIgnored(directory: string, signal?: AbortSignal): Promise<readonly string[]> {
  try {
    return await new Git(directory).items(['ls-files', '-z', '--cached', '--ignored', '--exclude-standard'], {
      signal,
    });
  } catch {
    signal?.throwIfAborted();
    return [];
  }
}
