import { lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Binding } from './bubblewrap.js';
import { INSIDE } from './link-targets.js';

/**
 * Returns mounts that show a repository to a command, read-only. A linked work tree also gets the repository that it
 * belongs to, at the same path as on the host. In place of a `config` or `config.worktree` in which
 * {@link withoutCredentials} finds credentials, a copy without them is shown.
 *
 * @param place path of `.git` on the host, a directory or a file
 * @param inside path of `.git` for the command
 * @param scratch an existing directory of the host for the copies, which the command's user can reach
 */
export function gitMounts(place: string, inside: string, scratch: string): Binding[] {
  const mounts: Binding[] = [{ host: place, inside, isWritable: false }];
  const gitDirectory = lstatSync(place).isDirectory() ? place : linkedDirectory(place);
  if (gitDirectory === undefined) return mounts;
  const common = resolve(gitDirectory, firstLine(join(gitDirectory, 'commondir')) ?? '.');
  const isLinked = gitDirectory !== place;
  if (isLinked && !isWithin(common, dirname(place))) mounts.push({ host: common, inside: common, isWritable: false });
  const shown = isLinked ? common : inside;
  for (const name of ['config', 'config.worktree']) {
    const config = textOf(join(common, name));
    const safe = config === undefined ? undefined : withoutCredentials(config);
    if (safe === undefined || safe === config) continue;
    const copy = join(scratch, `${name}-${inside.slice(INSIDE.length + 1).replaceAll('/', '_')}`);
    writeFileSync(copy, safe, { mode: 0o644 });
    mounts.push({ host: copy, inside: join(shown, name), isWritable: false });
  }
  return mounts;
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
const URL_CREDENTIALS = /(:\/\/)[^/@\s"]+@/g;

/** Lines of settings that can hold credentials. */
const SECRET_SETTING =
  /^\s*(extraheader|proxy|cookiefile|helper|sslkey|sslcertpasswordprotected|password|token|pass)\s*=.*$/gim;

/** Returns the text of a git configuration without the credentials that the patterns find. */
export function withoutCredentials(config: string): string {
  return config.replace(URL_CREDENTIALS, '$1').replace(SECRET_SETTING, '');
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
