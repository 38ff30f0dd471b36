import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type AttemptChange, type Contents, sameState } from '../accept/attempt-change.js';
import { DiskReader } from '../accept/disk-reader.js';
import { hashOf } from '../log/contents.js';
import type { EntryState } from '../operation.js';

/** Contents in memory. */
export class MemoryContents implements Contents {
  readonly #contents = new Map<string, Uint8Array>();

  async read(hash: string): Promise<Uint8Array> {
    const content = this.#contents.get(hash);
    if (content === undefined) throw new Error(`No content has the hash ${hash}`);
    return content;
  }

  async write(content: Uint8Array): Promise<string> {
    const hash = hashOf(content);
    this.#contents.set(hash, content);
    return hash;
  }
}

/** Returns the changes that lead from one directory of the disk to another, with the given moves from new to old path. */
export async function changesBetween(
  before: string,
  after: string,
  contents: Contents,
  moves: Readonly<Record<string, string>> = {},
): Promise<AttemptChange[]> {
  const [old, current] = [await statesOf(before, contents), await statesOf(after, contents)];
  return [...new Set([...old.keys(), ...current.keys()])]
    .map((path) => ({ path, from: moves[path], base: old.get(path) ?? null, now: current.get(path) ?? null }))
    .filter(({ base, now }) => !sameState(base, now));
}

/** Returns the states of all entries of a directory, without repositories. */
export async function statesOf(directory: string, contents: Contents): Promise<Map<string, EntryState>> {
  await using disk = DiskReader.open(directory);
  const states = new Map<string, EntryState>();
  const visit = async (path: string): Promise<void> => {
    for (const name of readdirSync(join(directory, path))) {
      const inside = join(path, name);
      const { state, content } = await disk.read(inside);
      if (state === null) continue;
      states.set(inside, state);
      if (content !== undefined) await contents.write(content);
      if (state.kind === 'directory') await visit(inside);
    }
  };
  await visit('/');
  return states;
}
