import { baseName } from '@scratchfs/core';
import type { ObjectReader } from './object-reader.js';
import type { TreeEntry } from './objects/tree.js';
import type { RepositoryCall } from './repository.js';
import { linesOf } from './text/lines.js';

/** A path with what it holds. */
export interface PathSide {
  readonly path: string;
  readonly entry: TreeEntry;
}

/** A file that went from one path to another. */
export interface Rename {
  readonly from: PathSide;
  readonly to: PathSide;
  /** How much of it stayed, in percent. */
  readonly similarity: number;
}

export interface RenameOptions extends RepositoryCall {
  /** Percent that has to stay for a file to count as renamed. Default 50, as in git. */
  readonly similarity?: number | undefined;
  /** Above this many files on both sides only files that did not change at all are paired. Default 400. */
  readonly limit?: number | undefined;
}

/**
 * Pairs what is gone with what is new: first files with the same content, then those that share most, as
 * `git diff --find-renames` does.
 */
export async function findRenames(
  reader: ObjectReader,
  removed: readonly PathSide[],
  added: readonly PathSide[],
  { similarity = 50, limit = 400, signal }: RenameOptions = {},
): Promise<Rename[]> {
  const sources = new Set(removed.filter(({ entry }) => entry.mode !== '160000'));
  const targets = new Set(added.filter(({ entry }) => entry.mode !== '160000'));
  const renames: Rename[] = [];
  const pair = (from: PathSide, to: PathSide, percent: number): void => {
    renames.push({ from, to, similarity: percent });
    sources.delete(from);
    targets.delete(to);
  };
  pairExact(sources, targets, pair);
  if (similarity < 100 && sources.size > 0 && targets.size > 0 && Math.max(sources.size, targets.size) <= limit) {
    const from = await profiles(reader, sources, { signal });
    const to = await profiles(reader, targets, { signal });
    const candidates: Rename[] = [];
    for (const a of from) {
      for (const b of to) {
        const percent = similarityOf(a, b, similarity);
        if (percent >= similarity) candidates.push({ from: a.side, to: b.side, similarity: percent });
      }
    }
    candidates.sort((a, b) => b.similarity - a.similarity || sameBase(b) - sameBase(a));
    for (const { from: a, to: b, similarity: percent } of candidates)
      if (sources.has(a) && targets.has(b)) pair(a, b, percent);
  }
  return renames;
}

function pairExact(
  sources: Set<PathSide>,
  targets: Set<PathSide>,
  pair: (from: PathSide, to: PathSide, percent: number) => void,
): void {
  const byId = new Map<string, PathSide[]>();
  for (const side of sources) byId.set(keyOf(side), [...(byId.get(keyOf(side)) ?? []), side]);
  for (const to of [...targets]) {
    const candidates = byId.get(keyOf(to)) ?? [];
    const named = candidates.findIndex(({ path }) => baseName(path) === baseName(to.path));
    const [from] = candidates.splice(Math.max(0, named), 1);
    if (from !== undefined) pair(from, to, 100);
  }
}

/** A link does not become a file. */
function keyOf({ entry }: PathSide): string {
  return `${entry.mode === '120000' ? 'link' : 'file'} ${entry.id}`;
}

function sameBase({ from, to }: Rename): number {
  return baseName(from.path) === baseName(to.path) ? 1 : 0;
}

/** How many bytes a file has in lines of each content. */
interface Profile {
  readonly side: PathSide;
  readonly size: number;
  readonly bytes: ReadonlyMap<string, number>;
}

async function profiles(reader: ObjectReader, sides: Iterable<PathSide>, call: RepositoryCall): Promise<Profile[]> {
  const result: Profile[] = [];
  for (const side of sides) {
    if (side.entry.mode === '120000') continue;
    const body = await reader.blob(side.entry.id, call);
    const [lines] = linesOf([body]);
    const bytes = new Map<string, number>();
    const starts = lines?.starts ?? [];
    for (let i = 0; i + 1 < starts.length; i++) {
      const line = body.subarray(starts[i], starts[i + 1]);
      const key = fingerprint(line);
      bytes.set(key, (bytes.get(key) ?? 0) + line.length);
    }
    result.push({ side, size: body.length, bytes });
  }
  return result;
}

/** Two hashes of a line and its length: enough to tell lines apart for a guess. */
function fingerprint(line: Uint8Array): string {
  let a = 0x811c9dc5;
  let b = 5381;
  for (const byte of line) {
    a = Math.imul(a ^ byte, 0x01000193);
    b = (Math.imul(b, 33) + byte) | 0;
  }
  return `${a}:${b}:${line.length}`;
}

function similarityOf(a: Profile, b: Profile, least: number): number {
  const larger = Math.max(a.size, b.size);
  if (larger === 0 || Math.min(a.size, b.size) * 100 < larger * least) return 0;
  let shared = 0;
  for (const [key, bytes] of a.bytes) shared += Math.min(bytes, b.bytes.get(key) ?? 0);
  return Math.floor((shared * 100) / larger);
}
