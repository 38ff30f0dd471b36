import { Dir } from './dir.js';
import { checkOptions } from './engine/arguments.js';
import type { FileSystem, OpendirOptions, ReaddirOptions, SyncFileSystem } from './file-system.js';
import { type Path, pathOf } from './paths.js';

type Argument = OpendirOptions | 'utf8' | 'utf-8' | null;

export async function opendir(fileSystem: FileSystem, path: Path, options?: Argument): Promise<Dir> {
  const text = pathOf(path);
  return new Dir(text, await fileSystem.readdir(text, listingOptions(options)));
}

export function opendirSync(fileSystem: SyncFileSystem, path: Path, options?: Argument): Dir {
  const text = pathOf(path);
  return new Dir(text, fileSystem.readdirSync(text, listingOptions(options)));
}

function listingOptions(options: Argument | undefined): ReaddirOptions & { readonly withFileTypes: true } {
  const known = ['encoding', 'recursive', 'bufferSize'];
  const { bufferSize: _, ...rest } = checkOptions<OpendirOptions>(options, known, 'opendir');
  return { ...rest, withFileTypes: true };
}
