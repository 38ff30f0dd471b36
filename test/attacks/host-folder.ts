import {
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { FileSystem, InitialFiles } from '@scratchfs/core';

const opened: { readonly fileSystem: FileSystem; readonly folder: string }[] = [];

/**
 * Opens a new directory of the host with files as a filesystem. In the files' absolute links, `/` means the directory.
 */
export function folderWith(files: InitialFiles, open: (folder: string) => FileSystem): FileSystem {
  const folder = mkdtempSync(join(tmpdir(), 'scratchfs-attacks-'));
  for (const [path, value] of Object.entries(files)) {
    const place = join(folder, path);
    mkdirSync(dirname(place), { recursive: true });
    if (typeof value === 'string') writeFileSync(place, value);
    else if ('symlink' in value) symlinkSync(value.symlink.replace(/^\//, `${folder}/`), place);
  }
  // With `relatime`, a read does not update an access time that is recent and later than the last change.
  for (const name of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
    const { mtimeMs } = lstatSync(join(folder, name));
    lutimesSync(join(folder, name), mtimeMs / 1000 + 60, mtimeMs / 1000);
  }
  const fileSystem = open(folder);
  opened.push({ fileSystem, folder });
  return fileSystem;
}

/** Closes and removes all folders. */
export async function removeFolders(): Promise<void> {
  for (const { fileSystem, folder } of opened.splice(0)) {
    await fileSystem.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
