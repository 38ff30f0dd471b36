import { createHash } from 'node:crypto';
import { type Dirent, lstatSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { Git } from '../git/git.js';
import type { Binding } from './bubblewrap.js';

/**
 * Returns mounts that show a repository to a command, read-only. A linked work tree also gets the repository that it
 * belongs to, at the same path as on the host. In place of each configuration file that {@link configurationsIn} finds
 * in it, a copy from {@link withoutCredentials} is shown. Other files are shown as they are, also those that a
 * configuration includes.
 *
 * @param place path of `.git` on the host, a directory or a file
 * @param inside path of `.git` for the command
 * @param scratch an existing directory of the host for the copies, which the command's user can reach
 */
export async function gitMounts(place: string, inside: string, scratch: string): Promise<Binding[]> {
  const mounts: Binding[] = [{ host: place, inside, isWritable: false }];
  const gitDirectory = lstatSync(place).isDirectory() ? place : linkedDirectory(place);
  if (gitDirectory === undefined) return mounts;
  const common = resolve(gitDirectory, firstLine(join(gitDirectory, 'commondir')) ?? '.');
  const isLinked = gitDirectory !== place;
  if (isLinked && !isWithin(common, dirname(place))) mounts.push({ host: common, inside: common, isWritable: false });
  const shown = isLinked ? common : inside;
  const top = realpathSync(common);
  for (const path of configurationsIn(common)) {
    // A link is shown as one. What it leads to outside the repository is not shown by these mounts.
    const real = realPathOf(path);
    if (real === undefined || !isWithin(real, top)) continue;
    const target = join(shown, relative(top, real));
    const copy = join(scratch, `config-${createHash('sha256').update(target).digest('hex')}`);
    writeFileSync(copy, await withoutCredentials(real), { mode: 0o644, encoding: 'latin1' });
    mounts.push({ host: copy, inside: target, isWritable: false });
  }
  return mounts;
}

/** Directories of a repository that contain no configuration and may contain many files. */
const WITHOUT_CONFIGURATION: ReadonlySet<string> = new Set(['objects', 'refs', 'logs', 'lfs', 'annex']);

/** Returns the configuration files of a repository, of its linked work trees and of its submodules. */
function configurationsIn(directory: string): string[] {
  const entries = entriesOf(directory);
  const isRepository = entries.some(({ name }) => name === 'HEAD');
  return entries.flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return isRepository && WITHOUT_CONFIGURATION.has(entry.name) ? [] : configurationsIn(path);
    return entry.name === 'config' || entry.name === 'config.worktree' ? [path] : [];
  });
}

/** Returns the directory that a `.git` file names; undefined for another file. */
function linkedDirectory(file: string): string | undefined {
  const named = /^gitdir: (.+)$/.exec(firstLine(file) ?? '')?.[1];
  if (named === undefined) return undefined;
  const directory = resolve(dirname(file), named);
  // Anything may be written in the file: only what looks like a repository is shown.
  return textOf(join(directory, 'HEAD')) === undefined ? undefined : directory;
}

/** User names and passwords in URLs. */
const URL_CREDENTIALS = /(:\/\/)[^/\n]*@/g;

/** Names of settings that can hold credentials. */
const SECRET_SETTING =
  /\.(?:[^.]*(?:pass|passwd|passphrase|password|token|secret|api-?key)|extraheader|proxy|cookiefile|helper|sslkey|sslcertpasswordprotected)$/i;

/**
 * Returns a configuration that git reads like a file, but without comments, settings that {@link SECRET_SETTING}
 * matches, and credentials in URLs. Empty if git cannot read the file, or is not installed. Each character is one byte.
 */
export async function withoutCredentials(file: string): Promise<string> {
  const listing = ['config', '--file', file, '--no-includes', '--list', '-z'];
  // Git itself reads the file, because a setting may share a line with its section or go on in the next line.
  const settings = await new Git(dirname(file), { GIT_DIR: devNull }).items(listing, {}, 'latin1').catch(() => []);
  const lines = settings.map((setting) => {
    const end = setting.indexOf('\n');
    const key = end < 0 ? setting : setting.slice(0, end);
    if (SECRET_SETTING.test(key)) return '';
    const [section, name] = [key.slice(0, key.lastIndexOf('.')), key.slice(key.lastIndexOf('.') + 1)];
    const [first, ...rest] = section.split('.');
    const subsection = rest.length === 0 ? '' : ` ${quoted(withoutUser(rest.join('.')))}`;
    // A name without a value means true, unlike an empty value.
    return `[${first}${subsection}]\n\t${name}${end < 0 ? '' : ` = ${quoted(withoutUser(setting.slice(end + 1)))}`}\n`;
  });
  return lines.join('');
}

function withoutUser(text: string): string {
  return text.replace(URL_CREDENTIALS, '$1');
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}

/** Returns a path without links; undefined if it cannot be resolved. */
function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    // Nothing is replaced in a directory that this process cannot read.
    return [];
  }
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}

function firstLine(file: string): string | undefined {
  return textOf(file)?.split('\n', 1)[0];
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
