import { open } from 'node:fs/promises';

/** Setting with which git syncs objects, references and the index to disk before it reports them written. */
export const DURABLE = [['core.fsync', 'committed,index']] as const;

/**
 * Creates a file and syncs its content. A crash of the machine before it returns may leave a part of the file. Its name
 * is durable only after {@link settle}.
 */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the names in a directory durable, on platforms on which directories can be opened. */
export async function settle(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const held = await open(directory, 'r');
  try {
    await held.sync();
  } finally {
    await held.close();
  }
}
