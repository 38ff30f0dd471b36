import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Temporary folders for tests, and a real git that runs in them without the user's configuration. */
export class SampleFolders {
  readonly top = mkdtempSync(join(tmpdir(), 'scratchfs-host-'));
  #count = 0;

  folder(): string {
    const path = join(this.top, `folder-${++this.#count}`);
    mkdirSync(path);
    return path;
  }

  repository(files: Readonly<Record<string, string>> = { 'a.txt': 'one\n' }, ...init: string[]): SampleRepository {
    const repository = new SampleRepository(this.folder(), this.top);
    repository.git('init', '-q', '-b', 'main', ...init);
    if (Object.keys(files).length > 0) repository.commit(files, 'first');
    return repository;
  }

  remove(): void {
    rmSync(this.top, { recursive: true, force: true });
  }
}

export class SampleRepository {
  constructor(
    readonly path: string,
    readonly home: string,
  ) {}

  /** Runs git and returns its output, trimmed. @throws Error if git fails */
  git(...args: string[]): string {
    const env = {
      PATH: process.env['PATH'],
      HOME: this.home,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_ALLOW_PROTOCOL: 'file',
      GIT_AUTHOR_NAME: 'A',
      GIT_AUTHOR_EMAIL: 'a@example.com',
      GIT_COMMITTER_NAME: 'A',
      GIT_COMMITTER_EMAIL: 'a@example.com',
    };
    const result = spawnSync('git', args, { cwd: this.path, env, encoding: 'utf8', maxBuffer: 2 ** 28 });
    if (result.status !== 0) throw new Error(`git ${args.join(' ')}: ${result.stderr}`);
    return result.stdout.trim();
  }

  write(path: string, content: string, mode = 0o644): void {
    mkdirSync(dirname(join(this.path, path)), { recursive: true });
    writeFileSync(join(this.path, path), content, { mode });
  }

  link(path: string, target: string): void {
    mkdirSync(dirname(join(this.path, path)), { recursive: true });
    symlinkSync(target, join(this.path, path));
  }

  commit(files: Readonly<Record<string, string>>, message: string): string {
    for (const [path, content] of Object.entries(files)) this.write(path, content);
    this.git('add', '-A');
    this.git('commit', '-q', '--allow-empty', '-m', message);
    return this.git('rev-parse', 'HEAD');
  }
}
