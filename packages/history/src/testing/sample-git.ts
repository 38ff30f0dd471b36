import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { FileSystem } from '@scratchfs/core';

/** A real git in a directory of its own, without the user's configuration. */
export class SampleGit {
  readonly folder = mkdtempSync(join(tmpdir(), 'scratchfs-git-'));

  /** Runs git and returns its trimmed output. @throws if git fails */
  run(args: readonly string[], input?: string | Uint8Array): string {
    const { status, stdout, stderr } = this.try(args, input);
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  }

  try(args: readonly string[], input?: string | Uint8Array): { status: number | null; stdout: string; stderr: string } {
    const env = {
      PATH: process.env.PATH,
      HOME: this.folder,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'A',
      GIT_AUTHOR_EMAIL: 'a@example.com',
      GIT_COMMITTER_NAME: 'A',
      GIT_COMMITTER_EMAIL: 'a@example.com',
    };
    const result = spawnSync('git', args, { cwd: this.folder, env, input, encoding: 'utf8', maxBuffer: 2 ** 30 });
    return { status: result.status, stdout: result.stdout, stderr: result.stderr };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Writes the directories and files of a filesystem to a directory on the disk. */
export async function toDisk(fileSystem: FileSystem, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for await (const entry of fileSystem.walk()) {
    const target = join(folder, entry.path);
    if (entry.kind === 'directory') mkdirSync(target, { recursive: true });
    else writeFileSync(target, await fileSystem.readFile(entry.path));
  }
}

/** Reads the directories and files of a directory on the disk into a filesystem. */
export async function fromDisk(folder: string, fileSystem: FileSystem): Promise<void> {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const full = join(entry.parentPath, entry.name);
    const target = `/${full.slice(folder.length + 1)}`;
    await fileSystem.mkdir(entry.isDirectory() ? target : dirname(target), { recursive: true });
    if (!entry.isDirectory()) await fileSystem.writeFile(target, readFileSync(full));
  }
}
