import { type FileSystem, FsError, openFileSystem, StorageError } from '@scratchfs/core';
import { mount, observe } from '@scratchfs/core/layers';
import { asyncMemoryStorage, MemoryStorage } from '@scratchfs/memory';
import { describe, expect, it } from 'vitest';
import { Sandbox } from './sandbox.js';
import { asyncMemory, memory, message, refusal } from './testing/memory.js';
import { BACKENDS } from './testing/worlds.js';

const FILES = {
  '/work/portfolio/a.md': 'one two',
  '/work/portfolio/sub/b.pdf': 'pdf',
  '/work/portfolio/.hidden.md': 'h',
  '/work/portfolio/key.pem': 'secret',
  '/work/portfolio/NOTES.MD': 'upper',
  '/work/portfolio/big.md': 'x'.repeat(101),
  '/work/portfolio/noext': 'n',
  '/work/portfolio/to-a.md': { symlink: 'a.md' },
  '/work/portfolio/to-key.md': { symlink: 'key.pem' },
  '/work/portfolio/to-out.md': { symlink: '/etc/passwd.md' },
  '/work/portfolio/to-sub': { symlink: 'sub' },
  '/work/portfolio/pipe': { symlink: '../pipeline' },
  '/work/pipeline/p.txt': 'p',
  '/etc/passwd.md': 'root',
};
const named = () =>
  new Sandbox(
    memory(FILES),
    {
      paths: {
        portfolio: { root: './portfolio', mode: 'rw', suffixes: ['.md', '.pdf'], maxFileBytes: 100 },
        pipeline: { root: './pipeline', mode: 'ro', readApproval: true },
      },
    },
    { basePath: '/work' },
  );

describe('write', () => {
  const limits = { maxTotalSize: 10 };
  const roots = { paths: { w: { root: '/', mode: 'rw' } } } as const;
  const filesystems: Readonly<Record<string, () => Promise<FileSystem>>> = {
    memory: async () => openFileSystem(new MemoryStorage(), { limits }),
    'a remote storage': async () => openFileSystem(asyncMemoryStorage(), { limits }),
    'a mount without transactions': async () => {
      const root = openFileSystem(asyncMemoryStorage(), { limits });
      return mount(await root, { '/other': await openFileSystem(asyncMemoryStorage()) });
    },
  };

  it.each(Object.keys(filesystems))('leaves no empty directories on %s if the file cannot be written', async (kind) => {
    const fs = await (filesystems[kind] as () => Promise<FileSystem>)();
    await fs.mkdir('/a');
    const sandbox = new Sandbox(fs, roots);
    await expect(sandbox.write('w/a/b/c/file', 'x'.repeat(11))).rejects.toThrow(/maxTotalSize/);
    expect(await fs.readdir('/a')).toEqual([]);
    await sandbox.write('w/a/b/c/file', 'x'.repeat(10));
    expect(await fs.readText('/a/b/c/file')).toBe('x'.repeat(10));
  });
});

describe('read', () => {
  it('returns a piece of the file and the remaining length', async () => {
    const sandbox = named();
    expect(await sandbox.read('portfolio/a.md')).toEqual({
      content: 'one two',
      truncated: false,
      totalChars: 7,
      offset: 0,
      charsRead: 7,
    });
    expect(await sandbox.read('portfolio:a.md', { maxChars: 3, offset: 4 })).toMatchObject({
      content: 'two',
      truncated: false,
    });
    expect(sandbox.readSync('portfolio/a.md', { maxChars: 3 })).toMatchObject({ content: 'one', truncated: true });
    expect(await refusal(() => sandbox.read('portfolio/a.md', { offset: -1 }))).toBe('RangeError');
  });

  it('reads up to 20,000 characters by default', async () => {
    const sandbox = new Sandbox(memory({ '/a': 'é'.repeat(20_001) }), { root: { root: '/' } });
    expect(await sandbox.read('/a')).toMatchObject({ truncated: true, charsRead: 20_000, totalChars: 20_001 });
  });

  it('refuses other suffixes, even behind a link; case matters', async () => {
    const sandbox = named();
    for (const path of ['portfolio/key.pem', 'portfolio/to-key.md', 'portfolio/NOTES.MD', 'portfolio/noext']) {
      expect(await message(() => sandbox.read(path))).toBe(
        `Cannot access '${path}': suffix not allowed.\nAllowed suffixes: .md, .pdf`,
      );
      expect([await sandbox.canRead(path), await sandbox.canWrite(path)]).toEqual([false, false]);
    }
    expect(await refusal(() => sandbox.write('portfolio/x.exe', ''))).toBe('SuffixNotAllowedError');
    expect((await sandbox.read('portfolio/to-a.md')).content).toBe('one two');
    expect((await sandbox.read('portfolio/to-sub/b.pdf')).content).toBe('pdf');
  });

  it('accepts an empty suffix for files without one', async () => {
    const files = { '/README': 'r', '/.env': 'e', '/a.md': 'a', '/b.': 'b' };
    const sandbox = new Sandbox(memory(files), { root: { root: '/', suffixes: ['', '.md'] } });
    expect(await sandbox.listFiles()).toEqual(['/.env', '/README', '/a.md']);
    const only = new Sandbox(memory(files), { root: { root: '/', suffixes: ['.env', '.md'] } });
    expect(await only.listFiles()).toEqual(['/a.md']);
    expect(new Sandbox(memory(files), { root: { root: '/', suffixes: [] } }).listFilesSync()).toEqual([]);
  });

  it('refuses files larger than the cap, which does not apply to writes', async () => {
    const sandbox = named();
    expect(await message(() => sandbox.read('portfolio/big.md'))).toBe(
      "Cannot read 'portfolio/big.md': file too large (101 bytes).\nMaximum allowed: 100 bytes",
    );
    await sandbox.write('portfolio/new.md', 'x'.repeat(200));
    expect(await refusal(() => sandbox.read('portfolio/new.md'))).toBe('FileTooLargeError');
  });

  it('follows links from one name to another, and nowhere else', async () => {
    const sandbox = named();
    expect((await sandbox.read('portfolio/pipe/p.txt')).content).toBe('p');
    expect(await refusal(() => sandbox.write('portfolio/pipe/p.txt', ''))).toBe('PathNotWritableError');
    expect(await message(() => sandbox.read('portfolio/to-out.md'))).toBe(
      "Cannot access 'portfolio/to-out.md': path is outside sandbox.\nReadable paths: portfolio, pipeline",
    );
  });

  it('says that a root is a link, or lies behind one, if a path under it leads outside', async () => {
    for (const linked of ['/link', '/link/sub', '/dir/link']) {
      const files = {
        '/real/a': 'a',
        '/real/sub/a': 'a',
        '/link': { symlink: '/real' },
        '/dir/link': { symlink: '../real' },
      };
      const root = new Sandbox(memory(files), { root: { root: linked } });
      expect(await message(() => root.read('/a'))).toBe(
        "Cannot access '/a': the root '/' of the sandbox is a link, which is not followed.\nThe sandbox needs the directory that the link leads to as its root",
      );
      const paths = { named: { root: linked, mode: 'rw' as const }, other: { root: '/dir' } };
      const named = new Sandbox(await asyncMemory(files), { paths });
      expect(await message(() => named.write('named/new', ''))).toContain("the root 'named' of the sandbox is a link");
      expect(await refusal(() => named.listFiles('named'))).toBe('SandboxError');
      expect(await refusal(() => named.read('../x'))).toBe('PathNotInSandboxError');
      expect([await named.canRead('named/a'), root.canReadSync('/a')]).toEqual([false, false]);
    }
    const inside = new Sandbox(memory({ '/a': { symlink: '/b' }, '/b/x': 'x' }), {
      paths: { a: { root: '/a' }, b: { root: '/b' } },
    });
    expect((await inside.read('a/x')).content).toBe('x');
  });

  it('reports missing files under the given path, never under that of the filesystem', async () => {
    for (const path of ['portfolio/x.md', 'portfolio:x.md', '/portfolio/sub/../x.md']) {
      const error = await named()
        .read(path)
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'ENOENT', path });
      expect(String(error)).toContain(`'${path}'`);
      expect(String(error)).not.toContain('/work');
      expect((error as Error).cause).toBeUndefined();
    }
    expect(await refusal(() => named().read('portfolio'))).toBe('EISDIR');
    expect(await refusal(() => named().read('portfolio/a\0.md'))).toBe('PathNotInSandboxError');
    expect(await refusal(() => named().read(''))).toBe('PathNotInSandboxError');
  });
});

describe('write', () => {
  it('creates the directories that lead to the file', async () => {
    const sandbox = named();
    await sandbox.write('portfolio/x/y/z.md', 'deep');
    sandbox.writeSync('portfolio:x/y/s.md', 'sync');
    sandbox.writeSync('portfolio:new/dir/s.md', 'sync');
    expect(await sandbox.listFiles('portfolio/x')).toEqual(['portfolio/x/y/s.md', 'portfolio/x/y/z.md']);
    await sandbox.write('portfolio/x/y/z.md', 'again');
    expect((await sandbox.read('portfolio/x/y/z.md')).content).toBe('again');
  });

  it('works over several filesystems, without atomic steps', async () => {
    const far = await asyncMemory({ '/x': 'x' });
    const fileSystem = observe(mount(far, { '/mnt': memory() }), () => {});
    const sandbox = new Sandbox(fileSystem, { root: { root: '/' } });
    await sandbox.write('/mnt/a/b/c', 'deep');
    expect((await sandbox.read('/mnt/a/b/c')).content).toBe('deep');
    const child = await sandbox.derive({ allowRead: '/mnt/a', readonly: true });
    expect(await child.listFiles()).toEqual(['/mnt/a/b/c']);
    expect(await refusal(() => child.read('/x'))).toBe('PathNotInSandboxError');
    expect(await refusal(() => child.write('/mnt/a/new/d', ''))).toBe('PathNotWritableError');
  });

  it('says that its synchronous methods need a synchronous filesystem', async () => {
    const sandbox = new Sandbox(await asyncMemory({ '/x': 'x' }), { root: { root: '/' } }) as unknown as Sandbox<
      ReturnType<typeof memory>
    >;
    for (const call of [() => sandbox.readSync('/x'), () => sandbox.writeSync('/x', ''), () => sandbox.listFilesSync()])
      expect(call).toThrow(/Sync needs a synchronous filesystem/);
  });

  it('leaves nothing behind on failure', async () => {
    const fileSystem = memory(FILES);
    const sandbox = new Sandbox(fileSystem, { root: { root: '/work', suffixes: ['.md'] } });
    const before = JSON.stringify(fileSystem);
    expect(await refusal(() => sandbox.write('/new/dir/x.exe', 'x'))).toBe('SuffixNotAllowedError');
    expect(await refusal(() => sandbox.write('/portfolio/a.md/x.md', 'x'))).toBe('ENOTDIR');
    expect(await refusal(() => sandbox.write('/portfolio', 'x'))).toBe('EISDIR');
    expect(await refusal(() => sandbox.write('/x.md', 5 as never))).toBe('TypeError');
    expect(JSON.stringify(fileSystem)).toBe(before);
  });

  it('leaves no directories behind if the file does not fit', async () => {
    const fileSystem = openFileSystem(new MemoryStorage(), { limits: { maxNodeCount: 3 } });
    const sandbox = new Sandbox(fileSystem, { root: { root: '/' } });
    expect(await refusal(() => sandbox.write('/a/b/c/d', ''))).toBe('ENOSPC');
    expect(fileSystem.readdirSync('/')).toEqual([]);
  });

  it('is refused in a read-only directory', async () => {
    expect(await message(() => named().write('pipeline/p.txt', ''))).toBe(
      "Cannot write to 'pipeline/p.txt': path is read-only.\nWritable paths: portfolio",
    );
  });
});

describe('listFiles', () => {
  it('lists files of all allowed suffixes, hidden ones too, and links to them', async () => {
    expect(await named().listFiles('portfolio')).toEqual([
      'portfolio/.hidden.md',
      'portfolio/a.md',
      'portfolio/big.md',
      'portfolio/sub/b.pdf',
      'portfolio/to-a.md',
    ]);
  });

  it('matches patterns relative to the directory', async () => {
    const sandbox = named();
    expect(await sandbox.listFiles('portfolio', '*.md')).toEqual([
      'portfolio/.hidden.md',
      'portfolio/a.md',
      'portfolio/big.md',
      'portfolio/to-a.md',
    ]);
    expect(await sandbox.listFiles('portfolio', 'sub/*')).toEqual(['portfolio/sub/b.pdf']);
    expect(await sandbox.listFiles('portfolio', '{sub,other}/*.pdf')).toEqual(['portfolio/sub/b.pdf']);
    expect(await sandbox.listFiles('portfolio:sub', '*')).toEqual(['portfolio/sub/b.pdf']);
    expect(await sandbox.listFiles('portfolio', 'missing/*')).toEqual([]);
    expect(await sandbox.listFiles('portfolio', 'a.md/*')).toEqual([]);
    for (const pattern of ['/etc/*', '../*', 'sub/../../*', '']) {
      expect(await refusal(() => sandbox.listFiles('portfolio', pattern)), pattern).toBe('RangeError');
    }
    expect(await refusal(() => sandbox.listFiles('portfolio/none'))).toBe('ENOENT');
    expect(await refusal(() => sandbox.listFiles('portfolio/none', 'x/*'))).toBe('ENOENT');
    expect(await refusal(() => sandbox.listFiles('portfolio/a.md'))).toBe('ENOTDIR');
    expect(await refusal(() => sandbox.listFiles('other'))).toBe('PathNotInSandboxError');
  });

  it('lists all names from the top', async () => {
    const sandbox = named();
    expect(await sandbox.listFiles()).toEqual(sandbox.listFilesSync('.'));
    expect(await sandbox.listFiles('.', '*/*.txt')).toEqual(['pipeline/p.txt']);
    expect(await sandbox.listFiles('/', 'pipe*/**')).toEqual(['pipeline/p.txt']);
    expect(await sandbox.listFiles('.', '*')).toEqual([]);
    const child = await sandbox.derive({ allowRead: 'portfolio/sub' });
    expect(await child.listFiles()).toEqual(['portfolio/sub/b.pdf']);
    expect(await child.listFiles('portfolio')).toEqual(['portfolio/sub/b.pdf']);
  });

  it('skips roots that are missing', async () => {
    const link = { root: '/work/portfolio/to-sub' };
    const paths = { a: { root: '/work/pipeline' }, b: { root: '/nowhere' }, c: { root: '/etc/passwd.md' }, link };
    const sandbox = new Sandbox(memory(FILES), { paths });
    expect(await sandbox.listFiles()).toEqual(['a/p.txt']);
    expect(await refusal(() => sandbox.listFiles('b'))).toBe('ENOENT');
    expect(await refusal(() => sandbox.listFiles('link'))).toBe('SandboxError');
  });

  it('returns paths in the form that read accepts', async () => {
    const sandbox = new Sandbox(memory(FILES), { root: { root: '/work' } });
    expect(await sandbox.listFiles('pipeline')).toEqual(['/pipeline/p.txt']);
    expect(await sandbox.listFiles('.', '*/p.txt')).toEqual(['/pipeline/p.txt']);
    const whole = new Sandbox(memory(FILES), { root: { root: '/' } });
    expect(await whole.listFiles('/', 'etc/*')).toEqual(['/etc/passwd.md']);
    const child = await whole.derive({ allowRead: '/work/pipeline' });
    expect(await child.listFiles()).toEqual(['/work/pipeline/p.txt']);
    expect(await child.canRead('/work')).toBe(false);
  });

  it('lists a file of a nested root once, under its inner name, or under the outer one if that is listed', async () => {
    const paths = { all: { root: '/work' }, pipe: { root: '/work/pipeline' } };
    const sandbox = new Sandbox(memory(FILES), { paths });
    expect(await sandbox.listFiles('.', '**/*.txt')).toEqual(['pipe/p.txt']);
    expect(await sandbox.listFiles('all', '**/*.txt')).toEqual(['all/pipeline/p.txt']);
    expect((await sandbox.read('all/pipeline/p.txt')).content).toBe('p');
  });
});

describe('what a sandbox reports of a path', () => {
  it('is its location in the filesystem', async () => {
    const sandbox = named();
    expect(await sandbox.resolve('portfolio/to-a.md')).toBe('/work/portfolio/a.md');
    expect(await sandbox.resolve('portfolio/to-a.md', { follow: false })).toBe('/work/portfolio/to-a.md');
    expect(await sandbox.resolve('portfolio/to-sub/new.md', { follow: false })).toBe('/work/portfolio/sub/new.md');
    const child = await sandbox.derive({ allowRead: 'portfolio/sub' });
    expect(await refusal(() => child.resolve('portfolio'))).toBe('PathNotInSandboxError');
    const whole = new Sandbox(memory(FILES), { root: { root: '/' } });
    expect(whole.resolveSync('/', { follow: false })).toBe('/');
    expect(sandbox.resolveSync('portfolio/new/x.md')).toBe('/work/portfolio/new/x.md');
    expect(sandbox.locate('portfolio/to-a.md')).toBe('/work/portfolio/to-a.md');
    expect(sandbox.show('/work/portfolio/a.md')).toBe('portfolio/a.md');
    expect(() => sandbox.locate('other/x')).toThrow('path is outside sandbox');
    expect(() => sandbox.locate('.')).toThrow('path is outside sandbox');
  });

  it('follows links to missing targets, as a write would', async () => {
    const fileSystem = memory({
      '/a/link': { symlink: 'x/../new' },
      '/a/abs': { symlink: '/a/other/new' },
      '/a/far': { symlink: '/b/new' },
      '/a/x/y': '',
      '/b/c': '',
    });
    const sandbox = new Sandbox(fileSystem, { root: { root: '/a' } });
    expect(await sandbox.resolve('/link')).toBe('/a/new');
    expect(await sandbox.resolve('/abs')).toBe('/a/other/new');
    expect(await refusal(() => sandbox.resolve('/far'))).toBe('PathNotInSandboxError');
    expect(await sandbox.resolve('/x/y/z')).toBe('/a/x/y/z');
    await sandbox.write('/link', 'made');
    expect(fileSystem.readTextSync('/a/new')).toBe('made');
    expect(await refusal(() => sandbox.write('/far', ''))).toBe('PathNotInSandboxError');
    fileSystem.symlinkSync('loop', '/a/loop');
    expect(await refusal(() => sandbox.resolve('/loop'))).toBe('ELOOP');
    expect(await sandbox.canRead('/loop')).toBe(false);
  });

  it('is an error if the storage failed', async () => {
    const storage = new MemoryStorage();
    const broken = new Sandbox(openFileSystem(storage, { files: FILES }), { paths: { a: { root: '/work' } } });
    storage.close();
    for (const work of [
      () => broken.canRead('a/x'),
      () => broken.resolve('a/x'),
      () => broken.approvals('a/x'),
      () => broken.derive({ allowRead: 'a/x' }),
      () => broken.listFiles(),
      () => broken.write('a/x', ''),
      () => broken.check('a/x', 'read', { follow: false }),
    ]) {
      await expect(work()).rejects.toMatchObject({ kind: 'closed' });
    }
  });

  it('is the error of a read or a write', async () => {
    const sandbox = named();
    await sandbox.check('portfolio/a.md', 'write');
    sandbox.checkSync('portfolio/new.md', 'write');
    expect(await refusal(() => sandbox.check('portfolio/x.exe', 'write'))).toBe('SuffixNotAllowedError');
    expect(await refusal(() => sandbox.check('pipeline/p.txt', 'write'))).toBe('PathNotWritableError');
    expect(await refusal(() => sandbox.check('portfolio/to-out.md', 'read'))).toBe('PathNotInSandboxError');
    await sandbox.check('portfolio/to-out.md', 'write', { follow: false });
    expect(await refusal(() => sandbox.check('portfolio/key.pem', 'write', { follow: false }))).toBe(
      'SuffixNotAllowedError',
    );
    sandbox.checkSync('portfolio/to-out.md', 'write', { follow: false });
  });

  it("includes the approvals of the link's target and of the path as written", async () => {
    const sandbox = named();
    expect(await sandbox.approvals('portfolio/a.md')).toEqual({ read: false, write: true });
    expect(sandbox.approvalsSync('pipeline/p.txt')).toEqual({ read: true, write: true });
    expect(await sandbox.approvals('portfolio/pipe/p.txt')).toEqual({ read: true, write: true });
    expect(await sandbox.approvals('portfolio/to-out.md')).toEqual({ read: false, write: true });
  });

  it('is false if it is not a path', async () => {
    const sandbox = named();
    for (const path of ['', 'a\0b', '\ud800', 'x'.repeat(5000), '../x']) {
      expect([await sandbox.canRead(path), sandbox.canWriteSync(path), sandbox.canReadSync(path)]).toEqual([
        false,
        false,
        false,
      ]);
    }
    await expect(sandbox.canRead(5 as never)).rejects.toThrow(TypeError);
  });
});

describe('explain', () => {
  it('restates an error of the filesystem with the given paths', () => {
    const sandbox = named();
    const error = new FsError('EXDEV', {
      syscall: 'rename',
      path: '/work/portfolio/a',
      dest: '/work/pipeline/b',
      hint: 'No',
    });
    expect(sandbox.explain(error, 'portfolio:a', 'pipeline/b')).toMatchObject({
      message: "EXDEV: cross-device link not permitted, rename 'portfolio:a' -> 'pipeline/b'. No",
    });
    const about = new FsError('ENOENT', { syscall: 'mkdir', path: '/work/pipeline/b' });
    expect(sandbox.explain(about, 'portfolio:a', 'pipeline/b')).toMatchObject({ path: 'pipeline/b' });
    const limit = new FsError('ENOSPC', {
      syscall: 'write',
      path: '/work/x',
      limit: 'maxTotalSize',
      used: 1,
      requested: 2,
      allowed: 1,
    });
    expect(sandbox.explain(limit, 'p')).toMatchObject({
      path: 'p',
      limit: 'maxTotalSize',
      used: 1,
      requested: 2,
      allowed: 1,
    });
  });

  it('leaves other errors unchanged', () => {
    for (const error of [new TypeError('x'), new StorageError('timeout', 'x'), 'text'])
      expect(named().explain(error, 'p')).toBe(error);
  });
});

describe.each(Object.keys(BACKENDS))('a directory of a filesystem as the root, over %s', (name) => {
  it('is / for the user of the sandbox, and hides everything around it', async () => {
    const fileSystem = await (BACKENDS[name] as () => FileSystem | Promise<FileSystem>)();
    const sandbox = new Sandbox(fileSystem, { root: { root: '/jail/pub' } });
    expect((await sandbox.read('/ok.txt')).content).toBe('ok');
    expect(await sandbox.listFiles('/dir')).toEqual(['/dir/inner.txt']);
    expect(sandbox.readableRoots).toEqual(['/']);
    for (const path of ['/../other.txt', '/out/key', '/rel', '/climb'])
      expect(await refusal(() => sandbox.read(path)), path).toBe('PathNotInSandboxError');
    expect(await refusal(() => sandbox.read('/jail/pub/ok.txt'))).toBe('ENOENT');
    const child = await sandbox.derive({ allowRead: '/dir' });
    expect((await child.read('dir/inner.txt')).content).toBe('inner');
    expect(await refusal(() => child.read('/ok.txt'))).toBe('PathNotInSandboxError');
  });
});

describe('a sandbox', () => {
  it('without a configuration has the whole filesystem, and writes need approval', async () => {
    const fileSystem = memory({ '/home/a': 'a' });
    for (const sandbox of [new Sandbox(fileSystem), new Sandbox(fileSystem, { root: '/' })]) {
      expect([sandbox.readableRoots, sandbox.writableRoots]).toEqual([['/'], ['/']]);
      expect((await sandbox.read('home/a')).content).toBe('a');
      expect(await sandbox.approvals('/home/a')).toEqual({ read: false, write: true });
    }
    const home = new Sandbox(fileSystem, { root: 'home' });
    expect(await home.listFiles()).toEqual(['/a']);
    expect(() => new Sandbox(fileSystem, undefined as never)).toThrow('sandbox must be a plain object, not undefined');
  });

  it('has the approvals of its one root, and so have its children', async () => {
    const root = { root: '/', readApproval: true, writeApproval: false };
    const sandbox = new Sandbox(memory({ '/a': 'a' }), { root });
    expect(await sandbox.approvals('/a')).toEqual({ read: true, write: false });
    const child = await sandbox.derive({ inherit: true });
    expect(await child.approvals('/new')).toEqual({ read: true, write: false });
  });

  it('passes network and requireOsSandbox on to its children', async () => {
    const sandbox = new Sandbox(memory(), { root: { root: '/' }, network: true, requireOsSandbox: true });
    expect([sandbox.network, sandbox.requireOsSandbox]).toEqual([true, true]);
    const child = sandbox.deriveSync({ allowRead: '/' });
    expect(sandbox.deriveSync().readableRoots).toEqual([]);
    expect([child.network, child.requireOsSandbox]).toEqual([true, true]);
    expect([named().network, named().requireOsSandbox]).toEqual([false, false]);
  });

  it('cannot be created from an invalid configuration, nor from the internals of another sandbox', () => {
    for (const config of [undefined, {}, { root: 5 }, named(), Object.create(named())]) {
      expect(() => new Sandbox(memory(), config as never)).toThrow(TypeError);
    }
    expect(() => new Sandbox(memory(), { root: { root: '/' } }, { base: '/' } as never)).toThrow(
      "Sandbox has no option 'base'",
    );
    expect(() => new Sandbox(memory(), { root: { root: '/' } }, { basePath: 5 } as never)).toThrow(
      'basePath must be a string',
    );
    expect(() => new Sandbox({} as never, { root: { root: '/' } })).toThrow(TypeError);
  });

  it('exposes none of its internals', async () => {
    const sandbox = named();
    expect(Object.keys(sandbox).sort()).toEqual(['network', 'readableRoots', 'requireOsSandbox', 'writableRoots']);
    expect([Object.isFrozen(sandbox.readableRoots), Object.isFrozen(sandbox.writableRoots)]).toEqual([true, true]);
  });

  it('gives a callee with its own configuration no more than the caller has', async () => {
    const caller = await new Sandbox(memory(FILES), { root: { root: '/work' } }).derive({
      allowRead: '/portfolio/sub',
    });
    const callee = new Sandbox(caller.fileSystem, { root: { root: '/' } });
    expect((await callee.read('/work/portfolio/sub/b.pdf')).content).toBe('pdf');
    expect(await refusal(() => callee.read('/work/portfolio/a.md'))).toBe('PathNotInSandboxError');
    expect(await refusal(() => callee.write('/work/portfolio/sub/x', ''))).toBe('PathNotWritableError');
  });
});

describe('list', () => {
  it('lists files, directories and links with their kinds and sizes', async () => {
    const fileSystem = memory({
      '/w/a.md': 'abc',
      '/w/d/b.exe': 'x',
      '/w/d/c.md': '',
      '/w/out': { symlink: '/secret' },
      '/secret': 's',
    });
    fileSystem.mkdirSync('/w/empty');
    const one = new Sandbox(fileSystem, { root: { root: '/w', suffixes: ['.md'] } });
    expect(await one.list()).toEqual([
      { path: '/a.md', kind: 'file', size: 3 },
      { path: '/d', kind: 'directory', size: 0 },
      { path: '/d/c.md', kind: 'file', size: 0 },
      { path: '/empty', kind: 'directory', size: 0 },
      { path: '/out', kind: 'symlink', size: 7 },
    ]);
    expect((await one.list('d')).map(({ path }) => path)).toEqual(['/d/c.md']);
    expect(one.listSync('.', '*e*').map(({ path }) => path)).toEqual(['/empty']);
    const paths = { w: { root: '/w' }, d: { root: '/w/d' }, none: { root: '/none' } };
    const named = new Sandbox(fileSystem, { paths });
    expect((await named.list('.', '*')).map(({ path, kind }) => `${path} ${kind}`)).toEqual([
      'd directory',
      'w directory',
    ]);
    expect((await named.list('.', '*/*')).map(({ path }) => path)).toEqual([
      'd/b.exe',
      'd/c.md',
      'w/a.md',
      'w/empty',
      'w/out',
    ]);
    expect(await refusal(() => one.list('none'))).toBe('ENOENT');
    expect(await refusal(() => one.list('../x'))).toBe('PathNotInSandboxError');
  });
});
