import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { glob, grep } from '@scratchfs/core/search';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorkspace } from '../workspace.js';
import type { Workspace, WorkspaceOptions } from '../workspace-types.js';
import { HiddenPaths } from './hidden-paths.js';

let directory: string;
const open: Workspace[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'visibility-'));
});
afterEach(async () => {
  for (const workspace of open.splice(0)) await workspace.close();
  rmSync(directory, { recursive: true, force: true });
});

function put(files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
}

async function attemptOf(options: WorkspaceOptions = {}) {
  const workspace = await openWorkspace(directory, { store: 'memory:', ...options });
  open.push(workspace);
  return workspace.attempt();
}

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const result: T[] = [];
  for await (const item of items) result.push(item);
  return result;
}

const SECRETS = {
  '.env': 'TOKEN=1',
  'app/.env.local': 'TOKEN=2',
  'app/.envrc': 'TOKEN=3',
  '.ENV': 'TOKEN=4',
  'keys/server.pem': 'TOKEN=5',
  '.npmrc': 'TOKEN=6',
  '.ssh/config': 'TOKEN=7',
  id_ed25519: 'TOKEN=8',
  'deep/.docker/config.json': 'TOKEN=9',
  '.git/config': 'TOKEN=10',
  'sub/.git/config': 'TOKEN=11',
};
const SHOWN = {
  '.env.example': 'TOKEN=',
  'app/main.ts': 'x',
  'keys/readme.md': 'x',
  'deep/config.json': 'x',
  '.gitignore': '',
};

describe('secrets', () => {
  it('are missing in everything that reads', async () => {
    put({ ...SECRETS, ...SHOWN });
    const { fileSystem: fs } = await attemptOf();
    for (const path of Object.keys(SECRETS)) {
      expect(await fs.exists(`/${path}`)).toBe(false);
      await expect(fs.readText(`/${path}`)).rejects.toMatchObject({ code: 'ENOENT' });
      await expect(fs.stat(`/${path}`)).rejects.toMatchObject({ code: 'ENOENT' });
    }
    expect(await fs.readdir('/')).toEqual(['.env.example', '.gitignore', 'app', 'deep', 'keys', 'sub']);
    expect(await fs.readdir('/app')).toEqual(['main.ts']);
    const walked: string[] = [];
    for await (const { path } of fs.walk('/')) walked.push(path);
    expect(walked.filter((path) => Object.hasOwn(SECRETS, path.slice(1)))).toEqual([]);
    expect(walked).toContain('/.env.example');
    expect(await collected(glob(fs, '**/*', { dot: true }))).not.toContain('/app/.env.local');
    const found = await collected(grep(fs, 'TOKEN', { dot: true }));
    expect(found.map(({ path }) => path)).toEqual(['/.env.example']);
  });

  it('cannot be created, written, moved to, copied to or linked to, and the disk stays', async () => {
    put({ '.env': 'TOKEN=1', 'a.txt': 'a', 'd/x': 'x' });
    const attempt = await attemptOf();
    const { fileSystem: fs } = attempt;
    const refused = expect.objectContaining({ code: 'EACCES', message: expect.stringContaining('allowSecrets') });
    for (const path of ['/.env', '/new/../.env', '/.env.production', '/d/server.key', '/.git', '/d/.GIT', '/git~1'])
      await expect(fs.writeFile(path, 'x')).rejects.toEqual(refused);
    await expect(fs.appendFile('/.env', 'x')).rejects.toEqual(refused);
    await expect(fs.mkdir('/.ssh')).rejects.toEqual(refused);
    await expect(fs.mkdir('/.git/hooks', { recursive: true })).rejects.toEqual(refused);
    await expect(fs.rename('/a.txt', '/.npmrc')).rejects.toEqual(refused);
    await expect(fs.rename('/d', '/.aws')).rejects.toEqual(refused);
    await expect(fs.copyFile('/a.txt', '/.npmrc')).rejects.toEqual(refused);
    await expect(fs.link('/a.txt', '/id_rsa')).rejects.toEqual(refused);
    await expect(fs.symlink('a.txt', '/.netrc')).rejects.toEqual(refused);
    await expect(fs.rm('/.env')).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await attempt.head()).toBe(0);
  });

  it('stay hidden behind links and in moved and copied directories', async () => {
    put({ 'config/prod.json': 'TOKEN=1', 'config/dev.json': 'dev', 'config/.env': 'TOKEN=2', 'other/prod.json': 'x' });
    symlinkSync('config', join(directory, 'link'));
    symlinkSync('config/prod.json', join(directory, 'prod'));
    const attempt = await attemptOf({ deny: ['/config/prod.json'] });
    const { fileSystem: fs } = attempt;
    for (const path of ['/link/prod.json', '/prod', '/link/.env', '/config/prod.json'])
      await expect(fs.readText(path)).rejects.toMatchObject({ code: 'ENOENT' });
    await fs.symlink('config/prod.json', '/mine');
    await expect(fs.readText('/mine')).rejects.toMatchObject({ code: 'ENOENT' });
    await fs.cp('/config', '/copy', { recursive: true });
    expect(await fs.readdir('/copy')).toEqual(['dev.json']);
    await fs.rename('/config', '/x');
    expect(await fs.readdir('/x')).toEqual(['dev.json']);
    await expect(fs.readText('/x/prod.json')).rejects.toMatchObject({ code: 'ENOENT' });
    // An entry that is moved to a hidden name is hidden too.
    await fs.rename('/other', '/config');
    expect(await fs.readdir('/config')).toEqual([]);
    expect((await collected(grep(fs, 'TOKEN', { dot: true }))).length).toBe(0);
    expect(await attempt.at(1).exists('/config/prod.json')).toBe(false);
  });

  it('that options allow are shown, and nothing else is', async () => {
    put({ '.env': 'TOKEN=1', 'app/.env.test': 'TOKEN=2', 'app/.env.local': 'TOKEN=3', 'x.pem': 'TOKEN=4' });
    const { fileSystem: fs } = await attemptOf({ allowSecrets: ['.env.test', '/x.pem'], deny: ['*.tmp', '!.env'] });
    expect(await fs.readdir('/')).toEqual(['app', 'x.pem']);
    expect(await fs.readdir('/app')).toEqual(['.env.test']);
    await fs.writeFile('/app/.env.test', 'new');
    await expect(fs.writeFile('/a.tmp', 'x')).rejects.toMatchObject({ code: 'EACCES' });
    await expect(fs.writeFile('/.env', 'x')).rejects.toMatchObject({ code: 'EACCES' });
  });

  it.each([
    [{ allowSecrets: ['!.env'] }, RangeError],
    [{ deny: ['!.env'] }, RangeError],
    [{ deny: 'x' as unknown as string[] }, TypeError],
    [{ deny: [7 as unknown as string] }, TypeError],
    [{ deny: ['../x'] }, RangeError],
    [{ allowSecrets: [''] }, RangeError],
  ])('bad patterns are refused: %j', async (options, kind) => {
    await expect(attemptOf(options)).rejects.toThrow(kind);
  });

  it('in large directories, pages without a shown name are not the end', async () => {
    const files: Record<string, string> = { 'z.txt': 'z' };
    for (let i = 0; i < 3_000; i++) files[`.env.${i}`] = '';
    put(files);
    const { fileSystem: fs } = await attemptOf();
    expect(await fs.readdir('/')).toEqual(['z.txt']);
    await fs.writeFile('/a.txt', 'a');
    expect(await fs.readdir('/')).toEqual(['a.txt', 'z.txt']);
  });

  it('cost a fraction of a microsecond for each name', () => {
    const hidden = new HiddenPaths();
    const names = Array.from({ length: 2_000 }, (_, i) => `file-${i}.ts`);
    const started = process.cpuUsage().user;
    for (let round = 0; round < 25; round++) for (const name of names) hidden.hidesLast(['src', 'lib', name]);
    expect((process.cpuUsage().user - started) / 50_000).toBeLessThan(10);
  });
});

describe('directories that git ignores', () => {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: directory, encoding: 'utf8' });
  const readOnly = expect.objectContaining({ code: 'EROFS', message: expect.stringMatching(/ignore/) });

  beforeEach(() => {
    git('init', '-q');
    put({
      '.gitignore': 'node_modules/\n/dist\n*.log\n',
      'node_modules/a/index.js': 'a',
      'dist/tracked.js': 't',
      'dist/built.js': 'b',
      'src/a.ts': 'a',
      'x.log': 'log',
    });
    git('add', '-f', 'dist/tracked.js', 'src', '.gitignore');
  });

  it('are shown and cannot be changed', async () => {
    const attempt = await attemptOf();
    const { fileSystem: fs } = attempt;
    expect(await fs.readText('/node_modules/a/index.js')).toBe('a');
    await expect(fs.writeFile('/node_modules/a/index.js', 'x')).rejects.toEqual(readOnly);
    await expect(fs.writeFile('/node_modules/new.js', 'x')).rejects.toEqual(readOnly);
    await expect(fs.rm('/node_modules', { recursive: true })).rejects.toEqual(readOnly);
    await expect(fs.rename('/node_modules', '/src/n')).rejects.toEqual(readOnly);
    await expect(fs.rename('/src', '/node_modules/src')).rejects.toEqual(readOnly);
    await expect(fs.mkdir('/src/node_modules')).rejects.toEqual(readOnly);
    await expect(fs.cp('/src', '/src2/node_modules', { recursive: true })).rejects.toEqual(readOnly);
    await expect(fs.chmod('/dist/built.js', 0o600)).rejects.toEqual(readOnly);
    await expect(fs.writeFile('/dist/new.js', 'x')).rejects.toEqual(readOnly);
    expect((await attempt.diff()).paths).toEqual([]);
  });

  it('may be copied out of; ignored files, tracked files and files of such a name can be changed', async () => {
    const { fileSystem: fs } = await attemptOf();
    await fs.copyFile('/node_modules/a/index.js', '/src/index.js');
    await fs.writeFile('/x.log', 'more');
    await fs.writeFile('/dist/tracked.js', 'T');
    await fs.writeFile('/src/node_modules', 'a file');
    await fs.rename('/src', '/lib');
    expect(await fs.readText('/lib/index.js')).toBe('a');
  });

  it('rules come from the disk and not from the attempt', async () => {
    const { fileSystem: fs } = await attemptOf();
    await fs.writeFile('/.gitignore', '');
    await expect(fs.writeFile('/node_modules/new.js', 'x')).rejects.toEqual(readOnly);
    await fs.writeFile('/.gitignore', 'src/\n');
    await fs.writeFile('/src/a.ts', 'x');
    put({ '.gitignore': 'src2/\n' });
    await fs.writeFile('/node_modules/new.js', 'x');
    await expect(fs.mkdir('/src2')).rejects.toEqual(readOnly);
  });
});

it('a hard link to a secret under another name is an ordinary file', async () => {
  // The name decides: this helps against mistakes, but guarantees nothing in a directory that was prepared.
  put({ '.env': 'TOKEN=1' });
  linkSync(join(directory, '.env'), join(directory, 'plain.txt'));
  expect(await (await attemptOf()).fileSystem.readText('/plain.txt')).toBe('TOKEN=1');
});
