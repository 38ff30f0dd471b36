import { applyChanges } from '@scratchfs/host';
import type { DiskWrite } from './accept-record.js';
import { hostChange } from './apply.js';
import { type Contents, contentOf } from './attempt-change.js';

/**
 * Takes back the writes of an accept, all of them or none: none if a path does not hold what the accept wrote.
 * @returns the paths that could not be written, such as those that hold something else now; empty after success
 */
export function undoWrites(
  directory: string,
  writes: readonly DiskWrite[],
  contents: Contents,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const inverse = writes.map(({ path, before, after }) => ({ path, before: after, after: before }));
  return redoWrites(directory, inverse, contents, signal);
}

/** Makes writes, such as those that were undone, by the rules of {@link undoWrites}. */
export async function redoWrites(
  directory: string,
  writes: readonly DiskWrite[],
  contents: Contents,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const changes = await Promise.all(
    writes.map(async ({ path, before, after }) =>
      hostChange(path, before, after, await contentOf(after, contents, signal)),
    ),
  );
  const { conflicts } = await applyChanges(changes, directory, { signal });
  return conflicts.map(({ path }) => path);
}
