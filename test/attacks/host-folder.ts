import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { FileSystem, InitialFiles } from '@scratchfs/core';

const opened: { readonly fileSystem: FileSystem; readonly folder: string }[] = [];

/** A directory of the host with files, as a filesystem. Absolute links mean the directory itself. */
export function folderWith(files: InitialFiles, open: (folder: string) => FileSystem): FileSystem {
  const folder = mkdtempSync(join(tmpdir(), 'scratchfs-attacks-'));
  for (const [path, value] of Object.entries(files)) {
    const place = join(folder, path);
    mkdirSync(dirname(place), { recursive: true });
    if (typeof value === 'string') writeFileSync(place, value);
    else if ('symlink' in value) symlinkSync(value.symlink.replace(/^\//, `${folder}/`), place);
  }
  // The first listing moves a directory's access time, later ones do not.
  readdirSync(folder, { recursive: true });
  const fileSystem = open(folder);
  opened.push({ fileSystem, folder });
  return fileSystem;
}

/** Leaves nothing behind. */
export async function removeFolders(): Promise<void> {
  for (const { fileSystem, folder } of opened.splice(0)) {
    await fileSystem.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
