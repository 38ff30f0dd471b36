import { baseName } from '@scratchfs/core';
import { Yielder } from '@scratchfs/core/internal';
import type { DirectoryRenames } from './directory-renames.js';
import { groupBy } from './group-by.js';
import type { ObjectReader } from './object-reader.js';
import { idOf } from './objects/git-object.js';
import type { TreeEntry } from './objects/tree.js';
import type { RepositoryCall } from './repository.js';
import { MAX_SCORE, type Profile, profileOf, similarityOf } from './similarity.js';
import { directoryOf } from './tree-path.js';

/** A path with its entry. */
export interface PathSide {
  readonly path: string;
  readonly entry: TreeEntry;
}

/** An entry that moved from one path to another. */
export interface Rename {
  readonly from: PathSide;
  readonly to: PathSide;
  /** Percentage of the content that is the same. */
  readonly similarity: number;
}

export interface RenameOptions extends RepositoryCall {
  /** Minimum percentage of equal content for a file to count as renamed. Default 50, as in git. */
  readonly similarity?: number | undefined;
  /**
   * If the removed times the added files that are still unpaired exceed the square of this, only files with the same
   * content or the same name are paired. Default 1,000, as in git.
   */
  readonly limit?: number | undefined;
}

/** Additional input for the renames of a merge. */
export interface MergeRenames {
  /**
   * Removed files whose renames matter: for their content, or for detecting where their directories went. Other files
   * are paired only if their content is the same.
   */
  readonly relevant: ReadonlyMap<string, 'content' | 'location'>;
  readonly directories: DirectoryRenames;
}

interface Candidate extends Rename {
  readonly score: number;
  readonly sameName: number;
}

/** Maximum number of sources to keep per target. */
const MAX_CANDIDATES = 4;

/**
 * Pairs removed files with added ones in the steps of git's diffcore-rename: files with the same content, then files
 * with the same name and enough equal content, then those with the most equal content.
 */
export async function findRenames(
  reader: ObjectReader,
  removed: readonly PathSide[],
  added: readonly PathSide[],
  options: RenameOptions = {},
  merge?: MergeRenames,
): Promise<Rename[]> {
  return new RenameSearch(reader, removed, added, options, merge).run();
}

class RenameSearch {
  readonly #renames: Rename[] = [];
  readonly #sources: Set<PathSide>;
  readonly #targets: Set<PathSide>;
  readonly #profiles = new Map<PathSide, Profile>();
  readonly #least: number;

  constructor(
    readonly reader: ObjectReader,
    removed: readonly PathSide[],
    added: readonly PathSide[],
    readonly options: RenameOptions,
    readonly merge: MergeRenames | undefined,
  ) {
    // Empty files are equal without being related, so a merge does not pair them.
    const empty = idOf({ type: 'blob', body: new Uint8Array() }, reader.store.format, reader.primitives);
    const counts = ({ entry }: PathSide): boolean => merge === undefined || entry.id !== empty;
    this.#sources = new Set(removed.filter(counts));
    this.#targets = new Set(added.filter(counts));
    this.#least = (Math.max(0, Math.min(100, options.similarity ?? 50)) * MAX_SCORE) / 100;
  }

  async run(): Promise<Rename[]> {
    this.#exact();
    if (this.#least < MAX_SCORE) {
      await this.#byName();
      this.#forgetIrrelevant();
      const { limit = 1_000 } = this.options;
      if (this.#sources.size * this.#targets.size <= limit * limit) await this.#byContent();
    }
    return this.#renames;
  }

  #exact(): void {
    const byId = groupBy(this.#sources, keyOf);
    for (const to of [...this.#targets]) {
      const candidates = byId.get(keyOf(to)) ?? [];
      const named = candidates.findIndex(({ path }) => baseName(path) === baseName(to.path));
      const [from] = candidates.splice(Math.max(0, named), 1);
      if (from !== undefined) this.#pair(from, to, MAX_SCORE);
    }
  }

  /**
   * Pairs similar files whose name is unique on both sides, or, in a merge, whose directory seems to have moved to that
   * of a file with the same name.
   */
  async #byName(): Promise<void> {
    const least = this.#least + Math.floor((MAX_SCORE - this.#least) / 2);
    const sources = groupBy(this.#sources, nameOf);
    const targets = groupBy(this.#targets, nameOf);
    const places = new Map([...this.#targets].map((side) => [side.path, side]));
    const directories = this.merge?.directories;
    const guesses = new Map<string, string | undefined>();
    if (directories !== undefined)
      for (const { path } of this.#sources) guesses.set(directoryOf(path), directories.guess(directoryOf(path)));
    for (const from of [...this.#sources]) {
      if (this.merge?.relevant.has(from.path) === false) continue;
      const name = baseName(from.path);
      const named = targets.get(name) ?? [];
      let [to] = named;
      if (to === undefined) continue;
      if (named.length > 1 || (sources.get(name)?.length ?? 0) > 1) {
        const guess = guesses.get(directoryOf(from.path));
        to = guess === undefined ? undefined : places.get(`${guess}/${name}`);
      }
      if (to === undefined || !this.#targets.has(to)) continue;
      const score = await this.#score(from, to, least);
      if (score >= least) this.#pair(from, to, score);
    }
  }

  #forgetIrrelevant(): void {
    if (this.merge === undefined) return;
    const { relevant, directories } = this.merge;
    for (const side of [...this.#sources]) if (!relevant.has(side.path)) this.#sources.delete(side);
    directories.decideEarly([...this.#sources].map(({ path }) => path));
    for (const side of [...this.#sources])
      if (relevant.get(side.path) === 'location' && !directories.isOpen(side.path)) this.#sources.delete(side);
  }

  async #byContent(): Promise<void> {
    const yielder = new Yielder(this.options.signal);
    const candidates: Candidate[] = [];
    for (const to of this.#targets) {
      const best: Candidate[] = [];
      for (const from of this.#sources) {
        await yielder.pauseIfDue();
        const score = await this.#score(from, to, this.#least);
        const sameName = Number(baseName(from.path) === baseName(to.path));
        keepBest(best, { from, to, score, sameName, similarity: 0 });
      }
      candidates.push(...best);
    }
    candidates.sort(better);
    for (const { from, to, score } of candidates)
      if (score >= this.#least && this.#sources.has(from) && this.#targets.has(to)) this.#pair(from, to, score);
  }

  async #score(from: PathSide, to: PathSide, least: number): Promise<number> {
    if (!isFile(from) || !isFile(to)) return 0;
    return similarityOf(await this.#profile(from), await this.#profile(to), least);
  }

  async #profile(side: PathSide): Promise<Profile> {
    let profile = this.#profiles.get(side);
    if (profile === undefined) {
      profile = profileOf(await this.reader.blob(side.entry.id, { signal: this.options.signal }));
      this.#profiles.set(side, profile);
    }
    return profile;
  }

  #pair(from: PathSide, to: PathSide, score: number): void {
    this.#renames.push({ from, to, similarity: Math.floor((score * 100) / MAX_SCORE) });
    this.#sources.delete(from);
    this.#targets.delete(to);
    this.merge?.directories.record(from.path, to.path);
  }
}

function keepBest(best: Candidate[], candidate: Candidate): void {
  if (best.length < MAX_CANDIDATES) {
    best.push(candidate);
    return;
  }
  let worst = 0;
  for (let i = 1; i < best.length; i++) if (better(best[i] as Candidate, best[worst] as Candidate) > 0) worst = i;
  if (better(best[worst] as Candidate, candidate) > 0) best[worst] = candidate;
}

function better(a: Candidate, b: Candidate): number {
  return b.score - a.score || b.sameName - a.sameName;
}

function nameOf({ path }: PathSide): string {
  return baseName(path);
}

function isFile({ entry }: PathSide): boolean {
  return entry.mode.startsWith('100');
}

/** Returns the key by which exact matches are grouped. A link is not paired with a file. */
function keyOf(side: PathSide): string {
  return `${isFile(side) ? 'file' : side.entry.mode} ${side.entry.id}`;
}
