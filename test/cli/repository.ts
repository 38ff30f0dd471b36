import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENVIRONMENT, folder } from './program.js';

/** Makes a git repository with some files. */
export function repository(
  files: Readonly<Record<string, string>> = { 'src/a.txt': 'one\ntwo\nthree\n', 'b.txt': 'bee\n' },
): string {
  const path = folder('repository');
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(path, name, '..'), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', path, ...args], { env: ENVIRONMENT });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'first');
  return path;
}
