import { describe, expect, it } from 'vitest';
import { Sandbox } from './sandbox.js';
import { memory, refusal } from './testing/memory.js';

const FILES = { '/src/a.ts': 'a', '/out/report': 'CANARY', '/out/sub/deep': 'CANARY' };

/** Returns a sandbox with a drop box: files can be put in, but not read. */
const dropBox = async () => {
  const fileSystem = memory(FILES);
  const sandbox = await new Sandbox(fileSystem, { root: { root: '/' } }).derive({
    allowRead: '/src',
    allowWrite: '/out',
  });
  return { beneath: fileSystem, sandbox, view: sandbox.fileSystem };
};

describe('a directory that may be written but not read', () => {
  it('accepts new files and appends', async () => {
    const { beneath, sandbox, view } = await dropBox();
    await sandbox.write('/out/new/letter', 'x');
    await view.appendFile('/out/report', '+');
    await view.mkdir('/out/d');
    await view.rm('/out/sub', { recursive: true });
    await view.cp('/src/a.ts', '/out/copy');
    expect(beneath.readTextSync('/out/report')).toBe('CANARY+');
    expect(beneath.readdirSync('/out')).toEqual(['copy', 'd', 'new', 'report']);
    expect([await sandbox.canRead('/out/x'), await sandbox.canWrite('/out/x')]).toEqual([false, true]);
  });

  it('reveals nothing of its files', async () => {
    const { sandbox, view } = await dropBox();
    const refused: Record<string, () => unknown> = {
      read: () => sandbox.read('/out/report'),
      readFile: () => view.readFile('/out/report'),
      getEntry: () => view.getEntry('/out/report'),
      open: () => view.open('/out/report', 'r'),
      'open for both': () => view.open('/out/report', 'r+'),
      'open and append': () => view.open('/out/report', 'a+'),
      readdir: () => view.readdir('/out'),
      listFiles: () => sandbox.listFiles('/out'),
      cp: () => view.cp('/out/report', '/out/copy'),
      editFile: () => view.editFile('/out/report', 'CANARY', 'x'),
      editFileSync: () => view.editFileSync('/out/report', 'CANARY', 'x'),
    };
    for (const [name, work] of Object.entries(refused)) expect(await refusal(work), name).toBe('PathNotInSandboxError');
    expect(await sandbox.listFiles()).toEqual(['/src/a.ts']);
    expect(await view.readdir('/')).toEqual(['out', 'src']);
  });

  it('stays unlisted for a child that may write deeper in it', async () => {
    const fileSystem = memory({ ...FILES, '/out/sub/x/old': 'CANARY' });
    const parent = await new Sandbox(fileSystem, { root: { root: '/' } }).derive({ allowRead: [], allowWrite: '/out' });
    const child = await parent.derive({ allowRead: [], allowWrite: '/out/sub/x' });
    for (const each of [parent, child]) {
      for (const path of ['/out', '/out/sub', '/out/sub/x'])
        expect(await refusal(() => each.fileSystem.readdir(path)), path).toBe('PathNotInSandboxError');
      const seen: string[] = [];
      for await (const { path } of each.fileSystem.walk('/')) seen.push(path);
      expect(seen).toEqual(['/out']);
    }
    await child.write('/out/sub/x/new/y', 'y');
    expect(fileSystem.readTextSync('/out/sub/x/new/y')).toBe('y');
    expect(await refusal(() => child.write('/out/sub/y', ''))).toBe('PathNotInSandboxError');
  });

  it('cannot be read by renaming or linking its files', async () => {
    const fileSystem = memory(FILES);
    const sandbox = await new Sandbox(fileSystem, { root: { root: '/' } }).derive({
      allowRead: '/src',
      allowWrite: ['/out', '/src'],
    });
    const view = sandbox.fileSystem;
    expect(await refusal(() => view.rename('/out/report', '/src/report'))).toBe('PathNotInSandboxError');
    expect(await refusal(() => view.rename('/out/sub', '/src/sub'))).toBe('PathNotInSandboxError');
    expect(await refusal(() => view.rename('/out', '/src/out'))).toBe('PathNotInSandboxError');
    expect(await refusal(() => view.link('/out/report', '/src/report'))).toBe('PathNotInSandboxError');
    await view.symlink('/out/report', '/src/link');
    expect(await refusal(() => view.readText('/src/link'))).toBe('PathNotInSandboxError');
    expect(fileSystem.readTextSync('/out/report')).toBe('CANARY');
  });
});

describe('a suffix policy', () => {
  const open = () => {
    const fileSystem = memory({
      '/w/a.md': 'a',
      '/w/key.pem': 'CANARY',
      '/w/d/b.md': 'b',
      '/w/d/k.pem': 'CANARY',
      '/w/e/c.md': 'c',
    });
    return {
      beneath: fileSystem,
      view: new Sandbox(fileSystem, { root: { root: '/w', suffixes: ['.md'] } }).fileSystem,
    };
  };

  it('applies to both names of a rename, a link and a copy', async () => {
    const { beneath, view } = open();
    const refused: Record<string, () => unknown> = {
      'rename to': () => view.rename('/w/a.md', '/w/a.exe'),
      'rename from': () => view.rename('/w/key.pem', '/w/key.md'),
      'link to': () => view.link('/w/a.md', '/w/a.exe'),
      'link from': () => view.link('/w/key.pem', '/w/key.md'),
      'cp to': () => view.cp('/w/a.md', '/w/a.exe'),
      'cp from': () => view.cp('/w/key.pem', '/w/key.md'),
      'copyFile from': () => view.copyFile('/w/key.pem', '/w/key.md'),
      case: () => view.rename('/w/a.md', '/w/a.MD'),
      create: () => view.writeFile('/w/x', ''),
      remove: () => view.rm('/w/key.pem'),
      truncate: () => view.truncate('/w/key.pem'),
      chmod: () => view.chmod('/w/key.pem', 0o777),
      lstat: () => view.lstat('/w/key.pem'),
    };
    const before = JSON.stringify(beneath);
    for (const [name, work] of Object.entries(refused)) expect(await refusal(work), name).toBe('SuffixNotAllowedError');
    expect(JSON.stringify(beneath)).toBe(before);
  });

  it('refuses an operation on a tree that contains another suffix', async () => {
    const { beneath, view } = open();
    const before = JSON.stringify(beneath);
    for (const work of [
      () => view.rename('/w/d', '/w/f'),
      () => view.rm('/w/d', { recursive: true }),
      () => view.cp('/w/d', '/w/f', { recursive: true }),
    ]) {
      expect(await refusal(work)).toBe('SuffixNotAllowedError');
    }
    expect(JSON.stringify(beneath)).toBe(before);
    await view.rename('/w/e', '/w/f');
    expect(beneath.readTextSync('/w/f/c.md')).toBe('c');
  });

  it('lets directories and links have any name, and hides other files', async () => {
    const { view } = open();
    await view.mkdir('/w/dir.with.dots');
    await view.symlink('a.md', '/w/latest');
    await view.symlink('key.pem', '/w/hidden.md');
    expect(await view.readText('/w/latest')).toBe('a');
    expect(await refusal(() => view.readText('/w/hidden.md'))).toBe('SuffixNotAllowedError');
    expect(await view.readdir('/w')).toEqual(['a.md', 'd', 'dir.with.dots', 'e', 'hidden.md', 'latest']);
    expect(await view.exists('/w/key.pem')).toBe(false);
  });
});

describe('a size cap', () => {
  it('is checked before a byte is read, by every method that reads, and by open files too', async () => {
    const fileSystem = memory({ '/w/big': 'x'.repeat(11), '/w/small': 'x' });
    const view = new Sandbox(fileSystem, { root: { root: '/w', maxFileBytes: 10 } }).fileSystem;
    const handle = view.openSync('/w/small', 'r+');
    fileSystem.appendFileSync('/w/small', 'y'.repeat(10));
    const refused: Record<string, () => unknown> = {
      readFile: () => view.readFile('/w/big'),
      readText: () => view.readText('/w/big'),
      readLines: () => view.readLines('/w/big'),
      getEntry: () => view.getEntry('/w/big'),
      open: () => view.open('/w/big', 'r'),
      cp: () => view.cp('/w/big', '/w/copy'),
      copyFile: () => view.copyFile('/w/big', '/w/copy'),
      handle: () => handle.readFile(),
      'handle sync': () => handle.readSync(new Uint8Array(1), 0),
      contents: () => view.entries('/w', { content: true }),
    };
    for (const [name, work] of Object.entries(refused)) expect(await refusal(work), name).toBe('FileTooLargeError');
    await view.writeFile('/w/big', 'y'.repeat(20));
    await view.rename('/w/big', '/w/bigger');
    expect((await view.stat('/w/bigger')).size).toBe(20);
  });
});

describe('the directories above a root', () => {
  it('can be listed as far as they lead to it, and not changed', async () => {
    const fileSystem = memory({ '/a/b/c/x': 'x', '/a/b/y': 'CANARY', '/a/z': 'CANARY' });
    const sandbox = await new Sandbox(fileSystem, { root: { root: '/' } }).derive({ allowWrite: '/a/b/c' });
    const view = sandbox.fileSystem;
    expect([await view.readdir('/'), await view.readdir('/a'), await view.readdir('/a/b')]).toEqual([
      ['a'],
      ['b'],
      ['c'],
    ]);
    expect((await view.stat('/a/b')).isDirectory()).toBe(true);
    expect(await sandbox.canRead('/a/b')).toBe(false);
    const refused: Record<string, () => unknown> = {
      mkdir: () => view.mkdir('/a/new'),
      write: () => view.writeFile('/a/new', ''),
      chmod: () => view.chmod('/a/b', 0),
      rename: () => view.rename('/a/b', '/a/q'),
      'rename the root': () => view.rename('/a/b/c', '/a/b/c/d'),
      rm: () => view.rm('/a', { recursive: true }),
      readText: () => view.readText('/a/b/y'),
    };
    for (const [name, work] of Object.entries(refused))
      expect(await refusal(work), name).toMatch(/PathNot|EBUSY|EINVAL/);
    expect(fileSystem.readTextSync('/a/b/c/x')).toBe('x');
  });

  it('do not include the root, which cannot be moved or removed', async () => {
    const fileSystem = memory({ '/a/rw/x': 'x', '/a/rw2/y': 'y' });
    const sandbox = await new Sandbox(fileSystem, { root: { root: '/' } }).derive({ allowWrite: ['/a/rw', '/a/rw2'] });
    const view = sandbox.fileSystem;
    expect(await refusal(() => view.rm('/a/rw', { recursive: true }))).toBe('EBUSY');
    expect(await refusal(() => view.rename('/a/rw', '/a/rw2/taken'))).toBe('EBUSY');
    expect(await refusal(() => view.rmdir('/a/rw'))).toBe('EBUSY');
    await view.rm('/a/rw/x');
    expect(fileSystem.readdirSync('/a/rw')).toEqual([]);
  });
});
