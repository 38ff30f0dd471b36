import { open } from 'node:fs/promises';

/** Of git: objects, references and the index are on the disk before it says that they are written. */
export const DURABLE = [['core.fsync', 'committed,index']] as const;

/** So that a crash of the machine leaves all of it, or nothing that counts. */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the names in a directory durable, where directories can be opened at all. */
export async function settle(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const held = await open(directory, 'r');
  try {
    await held.sync();
  } finally {
    await held.close();
  }
}
