import { execFileSync } from 'node:child_process';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** A file or link on the disk. */
export interface SourceFile {
  /** Path relative to the folder, with `/`. */
  readonly path: string;
  readonly kind: 'file' | 'symlink';
  readonly size: number;
  readonly mode: number;
}

export interface SourceTree {
  readonly folder: string;
  /** Sorted by path. */
  readonly files: readonly SourceFile[];
  readonly totalSize: number;
  readonly foundBy: 'git ls-files' | 'a walk';
  /** Files that were left out, with the reason. */
  readonly leftOut: readonly string[];
}

const MAX_FILES = 20_000;
const MAX_TOTAL_SIZE = 256_000_000;
const MAX_FILE_SIZE = 32_000_000;

/** Finds the files of a source tree: those that git tracks or would add; without git everything except node_modules. */
export async function findSourceTree(folder: string): Promise<SourceTree> {
  const fromGit = listWithGit(folder);
  const paths = (fromGit ?? (await walk(folder))).sort();
  const files: SourceFile[] = [];
  const leftOut: string[] = [];
  let totalSize = 0;
  for (const path of paths) {
    if (path.includes('\\')) leftOut.push(`${path}: a backslash in its name`);
    else if (files.length >= MAX_FILES) leftOut.push(`${path}: more than ${MAX_FILES.toLocaleString('en-US')} files`);
    else {
      const stat = await lstat(join(folder, path)).catch(() => undefined);
      // Deleted but still in git's index, or a submodule.
      if (stat === undefined || stat.isDirectory()) continue;
      if (!stat.isFile() && !stat.isSymbolicLink()) leftOut.push(`${path}: neither a file nor a link`);
      else if (stat.size > MAX_FILE_SIZE || totalSize + stat.size > MAX_TOTAL_SIZE) leftOut.push(`${path}: too large`);
      else {
        totalSize += stat.size;
        const kind = stat.isFile() ? 'file' : 'symlink';
        files.push({ path, kind, size: stat.size, mode: stat.mode & 0o777 });
      }
    }
  }
  return { folder, files, totalSize, foundBy: fromGit === undefined ? 'a walk' : 'git ls-files', leftOut };
}

function listWithGit(folder: string): string[] | undefined {
  try {
    const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 256 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const paths = [...new Set(list.split('\0').filter((path) => path !== ''))];
    return paths.length > 0 ? paths : undefined;
  } catch {
    return undefined;
  }
}

async function walk(folder: string): Promise<string[]> {
  const found: string[] = [];
  const folders = [''];
  for (let beneath = folders.pop(); beneath !== undefined && found.length <= MAX_FILES; beneath = folders.pop()) {
    const entries = await readdir(join(folder, beneath), { withFileTypes: true }).catch((error: unknown) => {
      if (beneath === '') throw error;
      return [];
    });
    for (const entry of entries) {
      if (entry.name === 'node_modules' || entry.name === '.git') continue;
      const path = beneath === '' ? entry.name : `${beneath}/${entry.name}`;
      if (entry.isDirectory()) folders.push(path);
      else found.push(path);
    }
  }
  return found;
}
