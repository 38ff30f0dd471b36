import { contentOf } from './content.js';
import type { ChangedFile, CopiedFile, StagedCopy, StagedCopyChanges } from './staged-copy.js';

/** Change of one path by a command. */
export interface Step {
  readonly path: string;
  /** The entry that the command was given; undefined if the path was missing. */
  readonly from: CopiedFile | 'directory' | undefined;
  /** The entry that the command left; undefined if the path is missing. */
  readonly to: ChangedFile | 'directory' | undefined;
}

/**
 * Returns all changes of a command in the order in which they are applied: removals first, because a directory may have
 * become a file or the other way round, and files that shrink before files that grow, because space may be short.
 */
export function planOf(
  { files }: StagedCopy,
  { written, removed, addedDirectories, removedDirectories }: StagedCopyChanges,
): Step[] {
  const growth = ({ path, size }: ChangedFile): number => size - (files.get(path)?.size ?? 0);
  return [
    ...removed.map((from): Step => ({ path: from.path, from, to: undefined })),
    ...removedDirectories.toReversed().map((path): Step => ({ path, from: 'directory', to: undefined })),
    ...addedDirectories.map((path): Step => ({ path, from: undefined, to: 'directory' })),
    ...written
      .toSorted((a, b) => growth(a) - growth(b))
      .map((to): Step => ({ path: to.path, from: files.get(to.path), to })),
  ];
}

/** A content, identified by {@link contentOf}, and the path that holds it. */
export interface Place {
  readonly path: string;
  readonly content: string;
}

/** Returns the contents that the steps write, with their paths. */
export function placesOf(steps: readonly Step[]): Place[] {
  return steps.flatMap(({ path, to }) => (typeof to === 'object' ? [{ path, content: contentOf(to) }] : []));
}

/** Returns the steps that remove or replace a file whose content one of the places has too, each with that path. */
export function movesTo(places: readonly Place[], steps: readonly Step[]): Map<Step, string> {
  const paths = new Map(places.map(({ path, content }) => [content, path]));
  const moves = new Map<Step, string>();
  for (const step of steps) {
    const path = paths.get(takenBy(step) ?? '');
    if (path !== undefined) moves.set(step, path);
  }
  return moves;
}

/**
 * Returns the steps that would lose a content, because every other place of it was refused, as in a rename to a
 * forbidden name; each with such a place. Skipping a step also skips the content that it would write, which can strand
 * further steps, and so on.
 */
export function strandedBy(refused: readonly Place[], taken: readonly Step[]): Map<Step, string> {
  const places = new Map<string, number>();
  for (const { content } of placesOf(taken)) places.set(content, (places.get(content) ?? 0) + 1);
  const takers = new Map<string, Step[]>();
  for (const step of taken) {
    const content = takenBy(step);
    if (content === undefined) continue;
    const steps = takers.get(content);
    if (steps === undefined) takers.set(content, [step]);
    else steps.push(step);
  }
  const stranded = new Map<Step, string>();
  const nowhere = [...refused];
  for (const { content, path } of nowhere) {
    if ((places.get(content) ?? 0) > 0) continue;
    const steps = takers.get(content) ?? [];
    takers.delete(content);
    for (const step of steps) stranded.set(step, path);
    for (const place of placesOf(steps)) {
      places.set(place.content, (places.get(place.content) as number) - 1);
      nowhere.push(place);
    }
  }
  return stranded;
}

/** Returns the content that a step removes from its path. */
function takenBy({ from, to }: Step): string | undefined {
  if (typeof from !== 'object') return undefined;
  const content = contentOf(from);
  return typeof to === 'object' && contentOf(to) === content ? undefined : content;
}
