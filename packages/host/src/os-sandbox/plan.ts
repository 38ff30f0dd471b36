import { contentOf } from './content.js';
import type { ChangedFile, CopiedFile, Workspace, WorkspaceChanges } from './workspace.js';

/** One path, from what the command found there to what it left; undefined is nothing. */
export interface Step {
  readonly path: string;
  readonly from: CopiedFile | 'directory' | undefined;
  readonly to: ChangedFile | 'directory' | undefined;
}

/**
 * All that a command did, in an order in which each step finds its place: room is made first, as what was a directory may be
 * something else now and the other way round, and what becomes smaller goes before what becomes larger.
 */
export function planOf(
  { files }: Workspace,
  { written, removed, addedDirectories, removedDirectories }: WorkspaceChanges,
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

/** A content, as {@link contentOf} names it, and where it went. */
export interface Place {
  readonly path: string;
  readonly content: string;
}

/** Where contents are with these steps. */
export function placesOf(steps: readonly Step[]): Place[] {
  return steps.flatMap(({ path, to }) => (typeof to === 'object' ? [{ path, content: contentOf(to) }] : []));
}

/** Those of the steps that take a content away from its path which went to one of the places, each with that place. */
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
 * The moves of which all places were refused, as where a file was renamed to a name that it may not have: with what was `taken`
 * their contents would be nowhere. Without them what they brought may be nowhere either, and so on.
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

/** The content that is no longer at the path of a step. */
function takenBy({ from, to }: Step): string | undefined {
  if (typeof from !== 'object') return undefined;
  const content = contentOf(from);
  return typeof to === 'object' && contentOf(to) === content ? undefined : content;
}
