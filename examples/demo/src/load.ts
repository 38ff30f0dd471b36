import { createHash } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { SyncFileSystem } from 'scratchfs';
import type { SourceFile, SourceTree } from './source-tree.js';

const AT_ONCE = 32;

export interface Loaded {
  readonly files: readonly SourceFile[];
  readonly size: number;
  /** Hash of the disk's contents, in the order of the files. */
  readonly hash: string;
  /** Files that could not be read, with the reason. */
  readonly leftOut: readonly string[];
}

/** Loads a source tree into a filesystem. Files that cannot be read are left out. */
export async function load(tree: SourceTree, fs: SyncFileSystem, onProgress: (done: number) => void): Promise<Loaded> {
  const hash = createHash('sha256');
  const files: SourceFile[] = [];
  const leftOut: string[] = [];
  let size = 0;
  for (let at = 0; at < tree.files.length; at += AT_ONCE) {
    const part = tree.files.slice(at, at + AT_ONCE);
    const contents = await Promise.all(part.map((file) => read(tree.folder, file)));
    for (const [index, file] of part.entries()) {
      const content = contents[index];
      if (content === undefined || content instanceof Error) {
        leftOut.push(`${file.path}: ${content?.message}`);
        continue;
      }
      files.push(file);
      const path = `/${file.path}`;
      fs.mkdirSync(path.slice(0, path.lastIndexOf('/')) || '/', { recursive: true });
      if (typeof content === 'string') fs.symlinkSync(content, path);
      else fs.writeFileSync(path, content, { mode: file.mode });
      addTo(hash, file, content);
      size += typeof content === 'string' ? Buffer.byteLength(content) : content.length;
    }
    onProgress(Math.min(at + AT_ONCE, tree.files.length));
  }
  return { files, size, hash: hash.digest('hex'), leftOut };
}

/** Returns the hash of the filesystem's contents, computed as for the disk. */
export function hashOf(files: readonly SourceFile[], fs: SyncFileSystem): string {
  const hash = createHash('sha256');
  for (const file of files) {
    const path = `/${file.path}`;
    const { mode } = fs.lstatSync(path);
    const content = file.kind === 'symlink' ? fs.readlinkSync(path) : fs.readFileSync(path);
    addTo(hash, { ...file, mode: mode & 0o777 }, content);
  }
  return hash.digest('hex');
}

async function read(folder: string, file: SourceFile): Promise<Uint8Array | string | Error> {
  const path = join(folder, file.path);
  try {
    return file.kind === 'symlink' ? await readlink(path) : await readFile(path);
  } catch (error) {
    return error as Error;
  }
}

function addTo(hash: ReturnType<typeof createHash>, file: SourceFile, content: Uint8Array | string): void {
  const length = typeof content === 'string' ? Buffer.byteLength(content) : content.length;
  hash.update(JSON.stringify([file.path, file.kind, file.kind === 'file' ? file.mode : 0, length]));
  hash.update(content);
}
