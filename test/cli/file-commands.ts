import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folder, json, ok, run } from './program.js';

/** Makes a directory with a script, a link and a subdirectory. */
export function project(): string {
  const path = folder('project');
  mkdirSync(join(path, 'src'));
  writeFileSync(join(path, 'README.md'), '# Title\n');
  writeFileSync(join(path, 'src', 'run.sh'), 'echo hello\n');
  chmodSync(join(path, 'src', 'run.sh'), 0o755);
  symlinkSync('src/run.sh', join(path, 'link'));
  return path;
}

/**
 * Tests every command on files of a storage.
 * @param url returns the URL of an empty place, another one for each name
 * @param reason why the tests are skipped; undefined if they run
 */
export function fileCommandsSuite(kind: string, url: (name: string) => string, reason?: string): void {
  describe(`on ${kind}${reason === undefined ? '' : ` (${reason})`}`, () => {
    it.skipIf(reason !== undefined)('every fs command works', async () => {
      const store = ['--store', url('files')];
      const source = project();
      const missing = await run(['fs', 'ls', ...store]);
      expect(missing).toMatchObject({ code: 3, stdout: '' });
      expect(missing.stderr).toMatch(/exist/);

      await ok(['copy', source, store[1] as string]);
      expect(await ok(['fs', 'find', ...store])).toBe('/README.md\n/link\n/src\n/src/run.sh\n');
      expect(await ok(['fs', 'cat', 'src/run.sh', ...store])).toBe('echo hello\n');
      const { entries } = await json('fs ls', ['src', ...store]);
      expect(entries).toMatchObject([{ path: '/src/run.sh', kind: 'file', size: 11, mode: 0o755 }]);
      expect(await ok(['fs', 'tree', ...store])).toContain('└── src/\n    └── run.sh\n');
      expect((await json('fs stat', ['link', ...store]))['entries']).toMatchObject([
        { path: '/link', kind: 'symlink', target: 'src/run.sh' },
      ]);

      expect((await json('fs write', ['notes/a.txt', 'one\n', ...store])).code).toBe(0);
      await ok(['fs', 'write', '--append', 'notes/a.txt', ...store], { input: 'two\n' });
      expect(await ok(['fs', 'cat', 'notes/a.txt', ...store])).toBe('one\ntwo\n');
      expect(await json('fs edit', ['notes/a.txt', 'two', 'three', ...store])).toMatchObject({ replaced: 1 });
      expect(await run(['fs', 'edit', 'notes/a.txt', 'absent', 'x', ...store])).toMatchObject({ code: 1 });
      expect((await json('fs grep', ['-i', 'THREE', ...store]))['matches']).toMatchObject([
        { path: '/notes/a.txt', line: 2, text: 'three' },
      ]);
      expect(await run(['fs', 'grep', 'absent', ...store])).toMatchObject({ code: 1, stdout: '', stderr: '' });

      expect(await run(['fs', 'cp', 'notes', 'copy', ...store])).toMatchObject({ code: 1 });
      await json('fs cp', ['-r', 'notes', 'copy', ...store]);
      expect(await json('fs mv', ['copy/a.txt', 'src', ...store])).toMatchObject({ to: '/src/a.txt' });
      expect((await run(['fs', 'mv', 'notes/a.txt', 'src/a.txt', ...store])).code).toBe(5);
      expect((await run(['fs', 'rm', 'notes', ...store])).code).toBe(1);
      await json('fs rm', ['-r', 'notes', 'copy', ...store]);
      expect((await json('fs find', ['*', ...store]))['paths']).toEqual(['/README.md', '/link', '/src']);

      await json('fs put', [join(source, 'README.md'), 'docs/', ...store]);
      await ok(['fs', 'put', '-', 'docs/bytes', ...store], { input: new Uint8Array([0, 255, 10]) });
      expect((await run(['fs', 'cat', 'docs/bytes', ...store])).bytes).toEqual(Buffer.from([0, 255, 10]));
      expect((await json('fs cat', ['docs/bytes', ...store]))['files']).toMatchObject([{ base64: 'AP8K' }]);
      const target = folder('target');
      await json('fs get', ['/', target, ...store]);
      expect(readFileSync(join(target, 'docs', 'README.md'), 'utf8')).toBe('# Title\n');
      execFileSync('test', ['-x', join(target, 'src', 'run.sh')]);
      expect((await run(['fs', 'get', 'README.md', join(target, 'README.md'), ...store])).code).toBe(5);
    });

    it.skipIf(reason !== undefined)('archives come and go, and a copy comes back', async () => {
      const place = folder('archives');
      const store = ['--store', url('archives')];
      await ok(['copy', project(), store[1] as string]);
      await json('export tar', [join(place, 'a.tar'), ...store]);
      expect(execFileSync('tar', ['-tf', join(place, 'a.tar')], { encoding: 'utf8' })).toContain('src/run.sh\n');
      expect((await run(['export', 'tar', join(place, 'a.tar'), ...store])).code).toBe(5);
      const { bytes } = await run(['export', 'snapshot', '-', ...store]);
      const { commit } = await json('export git', [join(place, 'a.git'), '--branch', 'agent', ...store]);
      expect(execFileSync('git', ['-C', join(place, 'a.git'), 'show', 'agent:README.md'], { encoding: 'utf8' })).toBe(
        '# Title\n',
      );
      const copies = join(place, 'copies.snapshot');
      await json('import tar', [join(place, 'a.tar'), '--to', 'tar', '--store', copies]);
      await ok(['import', 'snapshot', '-', '--to', 'snapshot', '--store', copies], { input: bytes });
      const worktree = folder('clone');
      execFileSync('git', ['clone', '-q', '-b', 'agent', join(place, 'a.git'), worktree]);
      expect(await json('import git', [worktree, '--to', 'git', '--store', copies])).toMatchObject({ commit });
      expect(await ok(['fs', 'find', '*/src/run.sh', '--store', copies])).toBe(
        '/git/src/run.sh\n/snapshot/src/run.sh\n/tar/src/run.sh\n',
      );
      await json('import tar', [join(place, 'a.tar'), '--to', 'again', ...store]);
      await json('copy', [store[1] as string, join(place, 'back')]);
      expect(readFileSync(join(place, 'back', 'again', 'src', 'run.sh'), 'utf8')).toBe('echo hello\n');
    });
  });
}
