import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Git } from '../git/git.js';
import { isCode } from '../host-error.js';

/** Settings of the merging user that, together with the repository's attributes, decide which bytes git writes. */
export interface LineEnds {
  /** Value of `core.autocrlf`. */
  readonly autocrlf: string;
  /** Value of `core.eol`. */
  readonly eol: string;
}

/** Name of the file in a stage with a copy of the merging user's global attributes. */
export const ATTRIBUTES = 'attributes';

export async function lineEndsOf(git: Git): Promise<LineEnds> {
  return {
    autocrlf: (await settingOf(git, 'core.autocrlf')) ?? 'false',
    eol: (await settingOf(git, 'core.eol')) ?? 'native',
  };
}

export function isLineEnds(value: unknown): value is LineEnds {
  const { autocrlf, eol } = Object(value) as Partial<Record<keyof LineEnds, unknown>>;
  return [autocrlf, eol].every((setting) => typeof setting === 'string' && /^[\w-]{0,20}$/.test(setting));
}

/**
 * Returns git settings that restore those of the merge: the user who undoes it may have others, and what the merge
 * wrote has to be recognized.
 */
export function settingsFor({ autocrlf, eol }: LineEnds, stage: string): readonly (readonly [string, string])[] {
  return [
    ['core.autocrlf', autocrlf],
    ['core.eol', eol],
    ['core.attributesFile', join(stage, ATTRIBUTES)],
  ];
}

/** Returns the content of the user's global attributes file; empty if it does not exist or cannot be read. */
export async function attributesOf(git: Git, workTree: string): Promise<Uint8Array> {
  const { HOME = '', XDG_CONFIG_HOME } = git.env();
  // An empty XDG_CONFIG_HOME counts as unset.
  const settings = XDG_CONFIG_HOME || join(HOME, '.config');
  const path = (await settingOf(git, 'core.attributesFile', '--type=path')) ?? join(settings, 'git/attributes');
  try {
    return await readFile(resolve(workTree, path));
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EACCES', 'EPERM')) return new Uint8Array();
    throw error;
  }
}

async function settingOf(git: Git, name: string, ...how: readonly string[]): Promise<string | undefined> {
  const { exitCode, stdout } = await git.run(['config', ...how, '--get', name], { accept: [0, 1] });
  return exitCode === 0 ? stdout.toString('utf8').replace(/\n$/, '') : undefined;
}
