import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { MAX_PATH_BYTES } from '@scratchfs/core';
import { MAX_LINK_HOPS } from '@scratchfs/core/internal';
import { type ConfigEntry, configEntries } from '@scratchfs/history';
import { isCode } from '../host-error.js';

/** Settings whose value is a path, of any form, that git runs or obeys. */
const PATH_SETTINGS: ReadonlySet<string> = new Set([
  'core.attributesfile',
  'core.excludesfile',
  'core.fsmonitor',
  'core.hookspath',
  'init.templatedir',
]);
const INCLUDES: ReadonlySet<string> = new Set(['include.path', 'includeif.path']);

/** Depth of nested includes after which git stops. */
const MAX_INCLUDE_DEPTH = 10;
const MAX_CONFIG_BYTES = 4n * 2n ** 20n;

/** Separators of the words of a command line. */
const BETWEEN_WORDS = /[\s"'`;|&()<>=!]+/;

/** A variable at the beginning of a word of a command line. */
const VARIABLE = /^\$\{?\w+\}?/;

/** A word of a setting that is the address of another repository or a reference name, not a path of this repository. */
const NO_PATH = /:\/\/|^\+?refs\/|^[\w.-]+@/;

interface ParsedConfig {
  readonly version: string;
  readonly entries: readonly ConfigEntry[];
}

/**
 * Paths that the configuration of repositories names: hooks, includes, attributes, and files in the text of commands
 * (aliases, filters, editors). A process that can write such a file may decide which programs the user's next git
 * command runs.
 */
export class ConfiguredPaths {
  readonly #parsed = new Map<string, ParsedConfig>();

  /**
   * Returns the absolute paths that the configuration of the repository at a directory and the user's own name, and the
   * paths to which their symbolic links lead. Returns an empty list if the directory has no `.git`, either as a
   * directory or as a file that names one.
   */
  of(workTree: string): string[] {
    const found = new Set<string>();
    const gitDirectory = gitDirectoryOf(workTree);
    if (gitDirectory === undefined) return [];
    const common = resolve(gitDirectory, textOf(join(gitDirectory, 'commondir')) ?? '.');
    const configs = [join(common, 'config'), join(gitDirectory, 'config.worktree'), ...userConfigs()];
    for (const config of configs) this.#collect(config, workTree, found, 0);
    return [...found];
  }

  /** Returns the paths of the user's own git settings, which apply to every repository. */
  ofUser(): string[] {
    const found = new Set<string>();
    const [config, other] = userConfigs();
    addWithLinks(config, found);
    // Attributes and ignore rules lie beside it.
    addWithLinks(dirname(other), found);
    return [...found];
  }

  #collect(config: string, workTree: string, found: Set<string>, depth: number): void {
    for (const { section, key, value } of this.#entriesOf(config)) {
      const name = `${section}.${key}`;
      if (INCLUDES.has(name)) {
        const included = pathOf(value, dirname(realpathSync(config)));
        addWithLinks(included, found);
        if (depth < MAX_INCLUDE_DEPTH) this.#collect(included, workTree, found, depth + 1);
        continue;
      }
      if (PATH_SETTINGS.has(name) && !['', 'true', 'false'].includes(value))
        addWithLinks(pathOf(value, workTree), found);
      for (const path of pathsInWords(value, workTree)) {
        // A directory that another setting names is not run. It may be another repository, or the work tree itself.
        if (statOf(path)?.isDirectory() !== true) addWithLinks(path, found);
      }
    }
  }

  #entriesOf(config: string): readonly ConfigEntry[] {
    const stat = statOf(config);
    if (stat === undefined || !stat.isFile() || stat.size > MAX_CONFIG_BYTES) return [];
    const version = `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`;
    const known = this.#parsed.get(config);
    if (known?.version === version) return known.entries;
    const entries = [...configEntries(textOf(config) ?? '')];
    this.#parsed.set(config, { version, entries });
    return entries;
  }
}

/**
 * Returns the paths of the user's own settings. A relative path in them, except in an include, is relative to each work
 * tree.
 */
function userConfigs(): [string, string] {
  const home = homedir();
  return [join(home, '.gitconfig'), join(process.env['XDG_CONFIG_HOME'] || join(home, '.config'), 'git', 'config')];
}

/** Returns the directory of git's own files for a work tree: `.git`, or the directory that the file `.git` names. */
function gitDirectoryOf(workTree: string): string | undefined {
  const path = join(workTree, '.git');
  const stat = statOf(path);
  if (stat === undefined || stat.isDirectory()) return stat && path;
  const [, target] = /^gitdir: (.*)/.exec(textOf(path) ?? '') ?? [];
  return target === undefined ? undefined : resolve(workTree, target);
}

/**
 * Returns the text of a regular file without the last line end; undefined if the file is missing, of another kind or
 * may not be read.
 */
function textOf(path: string): string | undefined {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return fstatSync(file).isFile() ? readFileSync(file, 'utf8').replace(/\n$/, '') : undefined;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'EISDIR', 'ENXIO')) return undefined;
    throw error;
  }
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (isCode(error, 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE')) return undefined;
    throw error;
  }
}

/**
 * Yields the paths in the words of a command line. A command line of one word is a path only if it contains a slash.
 */
function* pathsInWords(value: string, workTree: string): Generator<string> {
  const words = value.split(BETWEEN_WORDS);
  for (const word of words) {
    // An interpreter finds a script in the work tree without a slash: `sh clean.sh`.
    const isPath = word.includes('/') || (words.length > 1 && word.includes('.'));
    if (!isPath || NO_PATH.test(word)) continue;
    yield pathOf(word, workTree);
    // The part before the slash may be the work tree: `$PWD/run`, `$(git rev-parse --show-toplevel)/run`.
    const rest = word.replace(VARIABLE, '');
    if (rest.startsWith('/')) yield join(workTree, rest);
  }
}

/** Resolves a path of a setting: `~/` is the home directory, and a relative path is relative to `base`. */
function pathOf(written: string, base: string): string {
  const path = written.replace(/^:\(optional\)/, '').replace(/\0/g, '');
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(base, path);
}

/**
 * Adds a path, and the paths that result from following the symbolic links on it one by one, at most {@link
 * MAX_LINK_HOPS}.
 */
function addWithLinks(path: string, found: Set<string>): void {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return;
  let rest = path;
  for (let links = 0; links <= MAX_LINK_HOPS; links++) {
    found.add(rest);
    const link = firstLink(rest);
    if (link === undefined) return;
    rest = resolve(dirname(link.at), link.target, ...link.behind);
  }
}

interface FirstLink {
  readonly at: string;
  readonly target: string;
  /** The names of the path after the link. */
  readonly behind: readonly string[];
}

function firstLink(path: string): FirstLink | undefined {
  const above = dirname(path);
  if (above === path) return undefined;
  const link = firstLink(above);
  if (link !== undefined) return { ...link, behind: [...link.behind, basename(path)] };
  try {
    // lstat first: readlink on a path that is not a link throws, which is slow.
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return undefined;
    return { at: path, target: readlinkSync(path), behind: [] };
  } catch (error) {
    if (isCode(error, 'ENOENT', 'EINVAL', 'ENOTDIR', 'EACCES', 'ENAMETOOLONG')) return undefined;
    throw error;
  }
}
