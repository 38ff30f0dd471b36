import { type FileSystem, type InitialFiles, isFsError, type SyncFileSystem } from '@scratchfs/core';
import { mount, observe, overlay } from '@scratchfs/core/layers';
import { grep } from '@scratchfs/core/search';
import { describe, expect, it } from 'vitest';
import { parseSandboxConfig } from './config.js';
import { SECRET_FILES } from './deny-patterns.js';
import { Sandbox } from './sandbox.js';
import { asyncMemory, memory, message, refusal } from './testing/memory.js';
import { workerSandbox } from './worker-sandbox.js';

const FILES: InitialFiles = {
  '/.env': 'TOKEN=1',
  '/.env.example': 'TOKEN=',
  '/app/.env.local': 'TOKEN=2',
  '/app/main.ts': 'main',
  '/keys/a.pem': 'pem',
  '/docs/a.md': 'a',
  '/docs/link.md': { symlink: '../.env' },
  '/docs/gone.md': { symlink: '../app/.env.none' },
};
const DENY = ['.env', '.env.*', '!.env.example', '/keys'];

const BACKENDS: Record<string, (files: InitialFiles) => FileSystem | Promise<FileSystem>> = {
  memory,
  'async memory': asyncMemory,
  'an overlay': (files) => overlay(memory(files)),
  'an observed filesystem': (files) => observe(memory(files), () => {}),
  'a mount': (files) => mount(memory({}), { '/w': memory(files) }),
};

describe.each(Object.entries(BACKENDS))('a path that patterns hide, over %s,', (name, create) => {
  const root = name === 'a mount' ? '/w' : '/';
  const open = async (files = FILES): Promise<{ lower: FileSystem; sandbox: Sandbox }> => {
    const lower = await create(files);
    return { lower, sandbox: new Sandbox(lower, { root, deny: DENY }) };
  };
  const at = (path: string): string => `${root === '/' ? '' : root}${path}`;

  it('is not listed, walked, searched or counted', async () => {
    const { sandbox } = await open();
    expect(await sandbox.listFiles()).toEqual(['/.env.example', '/app/main.ts', '/docs/a.md']);
    expect(await sandbox.fileSystem.readdir(at('/app'))).toEqual(['main.ts']);
    expect(await sandbox.fileSystem.readdir(at('/'))).toEqual(['.env.example', 'app', 'docs']);
    const found: string[] = [];
    for await (const { path } of grep(sandbox.fileSystem, 'TOKEN', { paths: [at('/')], dot: true })) found.push(path);
    expect(found).toEqual([at('/.env.example')]);
  });

  it('reads like a missing one', async () => {
    const { sandbox } = await open();
    for (const path of ['/.env', '/app/.env.local', '/app/.env.none', '/keys', '/keys/a.pem', '/keys/none', '/.ENV']) {
      expect(await message(() => sandbox.read(path)), path).toBe(`ENOENT: no such file or directory, open '${path}'`);
      expect(await sandbox.canRead(path), path).toBe(false);
      expect(await sandbox.canWrite(path), path).toBe(false);
      expect(await sandbox.fileSystem.exists(at(path)), path).toBe(false);
      expect(await refusal(() => sandbox.fileSystem.stat(at(path)))).toBe('ENOENT');
      expect(await refusal(() => sandbox.fileSystem.rm(at(path), { recursive: true }))).toBe('ENOENT');
    }
  });

  it('is refused as the target of a link, whether it exists or not', async () => {
    const { sandbox } = await open();
    for (const path of ['/docs/link.md', '/docs/gone.md']) {
      expect(await message(() => sandbox.read(path))).toBe(
        `Cannot access '${path}': it is, leads to or contains a name that is not allowed here.\nUse another name, or leave what is there as it is`,
      );
      expect(await refusal(() => sandbox.fileSystem.stat(at(path)))).toBe('PathDeniedError');
    }
  });

  it('cannot be created, and nothing can be given its name', async () => {
    const { sandbox, lower } = await open();
    for (const path of ['/new/.env', '/.env', '/keys/new', '/keys'])
      expect(await refusal(() => sandbox.write(path, 'x')), path).toBe('PathDeniedError');
    expect(await refusal(() => sandbox.check('/new/.env', 'write'))).toBe('PathDeniedError');
    const { fileSystem: fs } = sandbox;
    for (const attempt of [
      () => fs.rename(at('/docs/a.md'), at('/docs/.env')),
      () => fs.cp(at('/docs/a.md'), at('/keys/a.md')),
      () => fs.link(at('/docs/a.md'), at('/.env.x')),
      () => fs.symlink('a.md', at('/docs/.env')),
      () => fs.mkdir(at('/app/.env/x'), { recursive: true }),
      () => fs.writeFile(at('/.env'), 'x'),
    ])
      expect(await refusal(attempt)).toBe('ENOENT');
    expect(await lower.readText(at('/.env'))).toBe('TOKEN=1');
    expect(await lower.exists(at('/new'))).toBe(false);
    expect(await lower.readText(at('/docs/a.md'))).toBe('a');
  });

  it('refuses the removal, the move and the copy of a directory that contains it', async () => {
    const { sandbox, lower } = await open();
    const { fileSystem: fs } = sandbox;
    for (const attempt of [
      () => fs.rm(at('/app'), { recursive: true }),
      () => fs.rename(at('/app'), at('/moved')),
      () => fs.cp(at('/app'), at('/copy'), { recursive: true }),
    ])
      expect(await refusal(attempt)).toBe('PathDeniedError');
    expect(await lower.readText(at('/app/main.ts'))).toBe('main');
    expect(await lower.exists(at('/copy'))).toBe(false);
    await fs.unlink(at('/app/main.ts'));
    expect(await refusal(() => fs.rmdir(at('/app')))).not.toBeUndefined();
    expect(await lower.readText(at('/app/.env.local'))).toBe('TOKEN=2');
  });

  it('reads the same whether it exists or not, by every method', async () => {
    const calls: Readonly<Record<string, (sandbox: Sandbox, path: string) => unknown>> = {
      read: (sandbox, path) => sandbox.read(path),
      write: (sandbox, path) => sandbox.write(path, 'x'),
      'check a read': (sandbox, path) => sandbox.check(path, 'read'),
      'check a write': (sandbox, path) => sandbox.check(path, 'write'),
      'check a name': (sandbox, path) => sandbox.check(path, 'write', { follow: false }),
      resolve: (sandbox, path) => sandbox.resolve(path),
      approvals: (sandbox, path) => sandbox.approvals(path),
      listFiles: (sandbox, path) => sandbox.listFiles(path),
      derive: (sandbox, path) => sandbox.derive({ allowRead: path }),
      mkdir: (sandbox, path) => sandbox.fileSystem.mkdir(at(path), { recursive: true }),
      rm: (sandbox, path) => sandbox.fileSystem.rm(at(path), { force: true, recursive: true }),
      truncate: (sandbox, path) => sandbox.fileSystem.truncate(at(path), 0),
      access: (sandbox, path) => sandbox.fileSystem.access(at(path), 2),
      append: (sandbox, path) => sandbox.fileSystem.open(at(path), 'a+'),
      create: (sandbox, path) => sandbox.fileSystem.writeFile(at(path), 'x', { flag: 'wx' }),
    };
    const bare = { '/docs/a.md': 'a', '/docs/link.md': { symlink: '../.env' }, '/app/main.ts': 'main' };
    const [full, empty] = [await open(), await open(bare)];
    const seen = async (work: () => unknown): Promise<string> => {
      try {
        return String((await work()) === undefined ? 'done' : 'value');
      } catch (error) {
        return `${(error as Error).name} ${(error as Error).message}`;
      }
    };
    for (const path of ['/.env', '/app/.env.local', '/keys', '/keys/a.pem', '/docs/link.md']) {
      for (const [method, call] of Object.entries(calls)) {
        if (path === '/docs/link.md' && method === 'rm') continue;
        const [one, other] = [await seen(() => call(full.sandbox, path)), await seen(() => call(empty.sandbox, path))];
        expect(one, `${method} ${path}`).toBe(other);
      }
    }
  });
});

describe('patterns that hide', () => {
  const see = (paths: readonly string[], deny: readonly string[]): string[] =>
    new Sandbox(memory(Object.fromEntries(paths.map((path) => [path, '']))) as SyncFileSystem, {
      root: '/',
      deny,
    }).listFilesSync();

  it.each<[string, string[], string[]]>([
    ['a name at any depth', ['b'], ['/a/c', '/c']],
    ['a wildcard', ['?'], []],
    ['a path from the top', ['/a/b'], ['/a/c', '/b', '/c']],
    ['a path without its first slash', ['a/b'], ['/a/c', '/b', '/c']],
    ['a directory', ['a/'], ['/b', '/c']],
    ['everything in a directory', ['a/**'], ['/b', '/c']],
    ['upper case', ['/A/B'], ['/a/c', '/b', '/c']],
    ['an exception', ['*', '!c', '!a'], ['/a/c', '/c']],
    ['an exception under a hidden directory', ['a', '!/a/c'], ['/b', '/c']],
    ['an exception that a later pattern takes back', ['b', '!b', 'b'], ['/a/c', '/c']],
    ['none', [], ['/a/b', '/a/c', '/b', '/c']],
  ])('match %s', (_, deny, expected) => {
    expect(see(['/a/b', '/a/c', '/b', '/c'], deny)).toEqual(expected);
  });

  it('see the names of roots, and every name of a file in nested roots', async () => {
    const files = { '/w/notes/a.md': 'a', '/w/notes/key': 'k', '/w/src/b.ts': 'b', '/w/src/key': 'k' };
    const paths = { all: { root: '/w' }, notes: { root: '/w/notes' } };
    const list = (deny: string[]) => new Sandbox(memory(files), { paths, deny }).listFiles();
    expect(await list(['/notes/key'])).toEqual(['all/src/b.ts', 'all/src/key', 'notes/a.md']);
    expect(await list(['/all/notes/key'])).toEqual(['all/src/b.ts', 'all/src/key', 'notes/a.md']);
    expect(await list(['key'])).toEqual(['all/src/b.ts', 'notes/a.md']);
    // A root in a hidden directory is hidden with it.
    const inner = new Sandbox(memory(files), { paths, deny: ['/all/notes'] });
    expect([inner.readableRoots, inner.fileSystem.readdirSync('/w')]).toEqual([['all'], ['src']]);
    const child = await new Sandbox(memory(files), { root: '/' }).derive({ allowRead: '/w/notes', deny: ['/w'] });
    expect([child.readableRoots, child.fileSystem.readdirSync('/')]).toEqual([[], []]);
    const sandbox = new Sandbox(memory(files), { paths, deny: ['all'] });
    expect([sandbox.readableRoots, await sandbox.listFiles()]).toEqual([[], []]);
  });

  it.each([
    ['a/../b', "must not contain '..'"],
    ['', 'must not be empty'],
    ['!', 'A pattern must not be empty'],
    ['//', 'A pattern must not be empty'],
    [5, 'must be a string, not 5'],
    ['a'.repeat(5_000), 'A pattern may have 4096 characters'],
    ['a\0', 'is no pattern'],
    ['\ud800', 'is no pattern'],
    ['!(public)', "must not begin with '!('"],
    ['!(public|docs)/**', "deny '*' and make exceptions with '!name'"],
  ])('are refused with the name of the field: %s', (given, text) => {
    const parse = () => parseSandboxConfig({ root: '/', deny: ['x', given] });
    expect(parse).toThrow('sandbox.deny[1]');
    expect(parse).toThrow(text);
  });

  it('are refused if all are exceptions, which hide nothing', async () => {
    const text = 'has only exceptions, so that it hides nothing';
    expect(() => see(['/a'], ['!a', '!b'])).toThrow(`sandbox.deny ${text}`);
    const parent = new Sandbox(memory(FILES), { root: '/' });
    await expect(parent.derive({ inherit: true, deny: ['!a'] })).rejects.toThrow(`deny ${text}`);
  });

  it('make an exception of a name that begins with a parenthesis', () => {
    expect(see(['/(a)', '/b'], ['*', '![(]a)'])).toEqual(['/(a)']);
  });

  it('hold for more paths than are remembered', () => {
    const paths = Array.from({ length: 2_500 }, (_, i) => `/d${i % 50}/${i % 2 === 0 ? 'key' : 'file'}${i}`);
    expect(see(paths, ['key*'])).toHaveLength(1_250);
    expect(see(paths, ['d0'])).toHaveLength(2_450);
  });

  it('are inherited by children, which can only add some', async () => {
    const parent = new Sandbox(memory(FILES), { root: '/', deny: ['.env'] });
    const child = await parent.derive({ inherit: true, deny: ['!.env', '*.pem'] });
    const grandchild = await workerSandbox(child, { allow_read: ['/'], deny: ['docs'] });
    expect(await child.listFiles()).toEqual(['/.env.example', '/app/.env.local', '/app/main.ts', '/docs/a.md']);
    expect(await grandchild.listFiles()).toEqual(['/.env.example', '/app/.env.local', '/app/main.ts']);
    expect(await refusal(() => parent.derive({ allowRead: '/.env' }))).toBe('SandboxPermissionEscalationError');
    expect((await parent.derive({ allowRead: '/docs', deny: ['docs'] })).readableRoots).toEqual([]);
  });

  it('hold in transactions, forks, handles and for names that appear later', async () => {
    const lower = memory(FILES);
    const { fileSystem: fs } = new Sandbox(lower, { root: '/', deny: DENY });
    expect(await refusal(() => fs.transaction((branch) => branch.readText('/.env')))).toBe('ENOENT');
    expect(fs.forkSync().existsSync('/keys/a.pem')).toBe(false);
    const handle = fs.openSync('/docs/a.md', 'r');
    lower.renameSync('/docs/a.md', '/keys/a.md');
    expect(await refusal(() => handle.readFileSync())).not.toBeUndefined();
    lower.writeFileSync('/docs/.env', 'late');
    expect(fs.readdirSync('/docs')).toEqual(['gone.md', 'link.md']);
    expect(isFsError(await fs.readText('/docs/.env').catch((error: unknown) => error), 'ENOENT')).toBe(true);
  });
});

describe('SECRET_FILES', () => {
  it('hides the usual places of secrets, and not their examples', async () => {
    const secret = ['/.env', '/a/.env.production', '/server.key', '/.ssh/config', '/id_ed25519', '/.npmrc', '/x.PEM'];
    const open = ['/.env.example', '/id_ed25519.pub', '/keys.ts', '/src/env.ts', '/a/.environment', '/.docker/x'];
    const files = Object.fromEntries([...secret, '/.docker/config.json', ...open].map((path) => [path, '']));
    const sandbox = new Sandbox(memory(files), { root: '/', deny: SECRET_FILES });
    expect((await sandbox.listFiles()).sort()).toEqual(open.sort());
  });
});
