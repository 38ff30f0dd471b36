import { AsyncFileSystem } from '../async-file-system.js';
import type { Cursor } from '../engine/cursor.js';
import type { View } from '../engine/view.js';
import type { CallOptions, FileSystem } from '../file-system.js';

/**
 * All items of a cursor, of one point in time. In memory a walk shows that anyway; over a far storage it has to be read
 * whole and then confirmed, and is read again where somebody wrote in between.
 */
export async function collect<T>(
  fileSystem: FileSystem,
  start: (view: View) => Cursor<T>,
  options: CallOptions | undefined,
): Promise<T[]> {
  if (fileSystem.kind === 'async' && fileSystem instanceof AsyncFileSystem) {
    // Refuses what is closed, and a signal that is none.
    await fileSystem.run(() => undefined, [], options);
    return fileSystem.executor.collect(fileSystem.context, start, options?.signal);
  }
  const items: T[] = [];
  for await (const item of fileSystem.iterate(start, options)) items.push(item);
  return items;
}
