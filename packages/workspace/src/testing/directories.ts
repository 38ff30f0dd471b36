import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A file's content, `-> target` for a link, `/` for a directory, or a content with a mode. */
export type Entry = string | Uint8Array | { readonly content: string; readonly mode: number };

/** Temporary directories for tests, and a real git without the user's configuration. */
export class Directories {
  readonly top = mkdtempSync(join(tmpdir(), 'scratchfs-accept-'));
  #count = 0;

  /** Creates a directory with entries. */
  directory(entries: Readonly<Record<string, Entry>> = {}): string {
    const path = join(this.top, `${++this.#count}`);
    mkdirSync(path);
    fill(path, entries);
    return path;
  }

  /** Creates a copy of a directory, without repositories. */
  copy(directory: string): string {
    const path = join(this.top, `${++this.#count}`);
    const filter = (from: string): boolean => !from.split('/').includes('.git');
    cpSync(directory, path, { recursive: true, filter, verbatimSymlinks: true, preserveTimestamps: true });
    return path;
  }

  /** Creates a repository with one commit. */
  repository(entries: Readonly<Record<string, Entry>> = {}, ...init: string[]): string {
    const path = this.directory(entries);
    this.git(path, 'init', '-q', '-b', 'main', ...init);
    this.commit(path, 'first');
    return path;
  }

  commit(directory: string, message: string): string {
    this.git(directory, 'add', '-A');
    this.git(directory, 'commit', '-q', '--allow-empty', '-m', message);
    return this.git(directory, 'rev-parse', 'HEAD').trim();
  }

  /** Runs git and returns its output. */
  git(directory: string, ...args: string[]): string {
    return this.gitWith(directory, args);
  }

  gitWith(directory: string, args: readonly string[], input?: Uint8Array): string {
    const env = {
      PATH: process.env['PATH'],
      HOME: this.top,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'Ada',
      GIT_AUTHOR_EMAIL: 'ada@example.com',
      GIT_COMMITTER_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'ada@example.com',
    };
    const settings = ['-c', 'core.quotePath=false', '-c', 'protocol.file.allow=always'];
    const result = spawnSync('git', [...settings, ...args], { cwd: directory, env, input, maxBuffer: 2 ** 28 });
    if (result.status !== 0) throw new Error(`git ${args.join(' ')}: ${result.stderr}`);
    return result.stdout.toString('utf8');
  }

  remove(): void {
    rmSync(this.top, { recursive: true, force: true });
  }
}

/** Creates entries. Existing files are written anew. */
export function fill(directory: string, entries: Readonly<Record<string, Entry>>): void {
  for (const [name, entry] of Object.entries(entries)) {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    if (entry === '/') mkdirSync(path);
    else if (typeof entry === 'string' && entry.startsWith('-> ')) symlinkSync(entry.slice(3), path);
    else if (typeof entry === 'string' || entry instanceof Uint8Array) writeFileSync(path, entry);
    else {
      writeFileSync(path, entry.content);
      chmodSync(path, entry.mode);
    }
  }
}
