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

/** A directory of the host with files, as a filesystem. Absolute links mean the directory itself. */
export function folderWith(files: InitialFiles, open: (folder: string) => FileSystem): FileSystem {
  const folder = mkdtempSync(join(tmpdir(), 'scratchfs-attacks-'));
  for (const [path, value] of Object.entries(files)) {
    const place = join(folder, path);
    mkdirSync(dirname(place), { recursive: true });
    if (typeof value === 'string') writeFileSync(place, value);
    else if ('symlink' in value) symlinkSync(value.symlink.replace(/^\//, `${folder}/`), place);
  }
  // A disk moves an access time that is not later than the last change. Later ones are left alone by everybody who reads.
  for (const name of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
    const { mtimeMs } = lstatSync(join(folder, name));
    lutimesSync(join(folder, name), mtimeMs / 1000 + 60, mtimeMs / 1000);
  }
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
