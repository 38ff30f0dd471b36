import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { SyncFileSystem } from 'scratchfs';

/**
 * Reports whether git, given the old files in a folder, produces the new ones from a patch; undefined if git is
 * missing.
 */
export function appliesWithGit(
  patch: string,
  before: SyncFileSystem,
  after: SyncFileSystem,
  paths: readonly string[],
): boolean | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'scratchfs-demo-'));
  try {
    for (const path of paths) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), before.readFileSync(path));
      chmodSync(join(folder, path), before.statSync(path).mode & 0o777);
    }
    const args = ['-c', 'core.autocrlf=false', 'apply', '--whitespace=nowarn', '-'];
    const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(folder) };
    const { status, error } = spawnSync('git', args, { cwd: folder, input: patch, env });
    if (error !== undefined) return undefined;
    const isSame = (path: string) => readFileSync(join(folder, path)).equals(after.readFileSync(path));
    return status === 0 && paths.every(isSame);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
