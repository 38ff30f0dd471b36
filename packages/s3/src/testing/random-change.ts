import type { CallOptions, FileSystem } from '@scratchfs/core';
import type { Random } from '@scratchfs/testkit';

/** Entries under a directory: texts of files by path, null for directories. */
export type State = ReadonlyMap<string, string | null>;

export interface Change {
  readonly run: (fs: FileSystem, options: CallOptions) => Promise<unknown>;
  readonly after: State;
}

const MOST_ENTRIES = 40;
/** Length of a large content. */
const LARGE = 300_000;

/** Returns a random change under `top`, a path without a trailing slash; `token` is unique. */
export function randomChange(random: Random, top: string, before: State, token: string): Change {
  const paths = [...before.keys()];
  const directories = [top, ...paths.filter((path) => before.get(path) === null)];
  const after = new Map(before);
  const kind = before.size > MOST_ENTRIES ? 'rm' : random.pick(KINDS);
  if (kind === 'rm' && paths.length > 0) {
    const path = random.pick(paths);
    for (const one of beneath(before, path)) after.delete(one);
    return { run: (fs, options) => fs.rm(path, { ...options, recursive: true }), after };
  }
  if ((kind === 'cp' || kind === 'rename') && paths.length > 0) {
    const from = random.pick(paths);
    const to = `${random.pick(directories.filter((path) => !isBeneath(path, from)))}/${kind}-${token}`;
    for (const path of beneath(before, from)) {
      after.set(to + path.slice(from.length), before.get(path) as string | null);
      if (kind === 'rename') after.delete(path);
    }
    if (kind === 'rename') return { run: (fs, options) => fs.rename(from, to, options), after };
    return { run: (fs, options) => fs.cp(from, to, { ...options, recursive: true }), after };
  }
  const files = paths.filter((path) => before.get(path) !== null);
  if (kind === 'append' && files.length > 0) {
    const path = random.pick(files);
    after.set(path, before.get(path) + token);
    return { run: (fs, options) => fs.appendFile(path, token, options), after };
  }
  if (kind === 'mkdir') {
    const path = `${random.pick(directories)}/d-${token}`;
    after.set(path, null);
    return { run: (fs, options) => fs.mkdir(path, options), after };
  }
  const path = `${random.pick(directories)}/f${random.below(4)}`;
  const text = random.chance(0.05) ? token.padEnd(LARGE, '.') : token;
  after.set(path, text);
  return { run: (fs, options) => fs.writeFile(path, text, options), after };
}

const KINDS = ['write', 'write', 'append', 'append', 'mkdir', 'rm', 'rename', 'cp'] as const;

function isBeneath(path: string, top: string): boolean {
  return path === top || path.startsWith(`${top}/`);
}

/** Returns a path and all paths under it. */
function beneath(state: State, top: string): string[] {
  return [...state.keys()].filter((path) => isBeneath(path, top));
}

/** Returns the part of a state under a directory, without the directory itself. */
export function partOf(state: State, top: string): State {
  return new Map([...state].filter(([path]) => path !== top && isBeneath(path, top)));
}

export function isSame(a: State, b: State): boolean {
  return a.size === b.size && [...a].every(([path, text]) => b.get(path) === text);
}

/** Returns the entries under a directory, with the texts of files. */
export async function stateOf(fs: FileSystem, top: string): Promise<State> {
  const state = new Map<string, string | null>();
  for await (const { path, kind } of fs.walk(top === '' ? '/' : top))
    state.set(path, kind === 'file' ? await fs.readText(path) : null);
  return state;
}
