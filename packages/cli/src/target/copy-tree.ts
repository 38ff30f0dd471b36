import { baseName, type FileSystem, type NewEntry } from '@scratchfs/core';
import { setMany } from '@scratchfs/core/internal';

/** A batch is stored as soon as it has so many entries, or so many bytes of content. */
const BATCH_ENTRIES = 256;
const BATCH_BYTES = 4 * 2 ** 20;

export interface CopyCount {
  files: number;
  directories: number;
  symlinks: number;
  bytes: number;
}

export interface CopyOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (copied: CopyCount) => void;
}

/**
 * Copies a file, link or directory with everything in it to a path of another filesystem. Kinds, contents, modes and
 * modification times are kept; a file with several names becomes separate files. If the target is the root, only what
 * is in the directory is copied. Other entries of the target stay.
 * @throws FsError, such as ENOENT if `path` does not exist, EEXIST or ENOTDIR if the target has another kind at a path
 */
export async function copyTree(
  from: FileSystem,
  path: string,
  to: FileSystem,
  target: string,
  { signal, onProgress }: CopyOptions = {},
): Promise<CopyCount> {
  const copied: CopyCount = { files: 0, directories: 0, symlinks: 0, bytes: 0 };
  let batch: NewEntry[] = [];
  let bytes = 0;
  const store = async (): Promise<void> => {
    if (batch.length > 0) await to.run(setMany, [batch], { signal });
    batch = [];
    bytes = 0;
    onProgress?.(copied);
  };
  const add = async (source: string, place: string): Promise<void> => {
    signal?.throwIfAborted();
    const { kind, mode, modifiedAt, target: link, content } = await from.getEntry(source, { signal });
    const entry: NewEntry = { path: place, kind, mode, modifiedAt };
    if (kind === 'directory') {
      copied.directories++;
      batch.push(entry);
    } else if (kind === 'symlink') {
      copied.symlinks++;
      batch.push({ ...entry, target: link ?? '' });
    } else {
      copied.files++;
      copied.bytes += content.length;
      bytes += content.length;
      batch.push({ ...entry, content });
    }
    if (batch.length >= BATCH_ENTRIES || bytes >= BATCH_BYTES) await store();
  };
  const { kind } = await from.lstat(path, { signal });
  if (target !== '/') await to.mkdir(parentOf(target), { recursive: true, signal });
  if (kind !== 'directory') {
    await add(path, target);
  } else {
    if (target !== '/') await add(path, target);
    const prefix = path === '/' ? '' : path;
    const under = target === '/' ? '' : target;
    for await (const { path: source } of from.walk(path, { signal }))
      await add(source, under + source.slice(prefix.length));
  }
  await store();
  return copied;
}

/**
 * Returns the path that a copy gets. As with `cp`, it is inside the target if that is a directory, otherwise the target
 * itself. With `isInside` it is inside, even if the target does not exist yet.
 */
export async function placeFor(to: FileSystem, target: string, name: string, isInside: boolean): Promise<string> {
  if (!isInside && !(await to.isDirectory(target))) return target;
  return target === '/' ? `/${baseName(name)}` : `${target}/${baseName(name)}`;
}

function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}
