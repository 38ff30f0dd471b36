import { describe, expect, it } from 'vitest';
import { isNode20 } from '../testing/node-version.js';
import { same } from '../testing/same.js';
import type { HostFs } from '../testing/twin.js';

/** Returns the outcome of an attempt, and the tree afterwards. */
function attempted(fs: HostFs, root: string, work: () => unknown): unknown {
  let outcome: unknown;
  try {
    outcome = work();
  } catch (error) {
    const { code, syscall, path, dest, message } = error as NodeJS.ErrnoException & { dest?: string };
    outcome = { code, syscall, path, dest, message };
  }
  const names = fs.readdirSync(root, { recursive: true }) as string[];
  const tree = names.sort().map((name) => {
    const stats = fs.lstatSync(`${root}/${name}`);
    if (stats.isDirectory()) return `${name}/`;
    return stats.isSymbolicLink()
      ? `${name} -> ${fs.readlinkSync(`${root}/${name}`)}`
      : `${name} = ${fs.readFileSync(`${root}/${name}`)}`;
  });
  return { outcome, tree };
}

describe('cases that in-memory filesystems typically get wrong: this one behaves as the disk does', () => {
  it('renaming a directory onto one that is not empty is ENOTEMPTY and destroys nothing', () => {
    const result = same((fs, at) => {
      fs.mkdirSync(at('/from/a'), { recursive: true });
      fs.mkdirSync(at('/to/b'), { recursive: true });
      return attempted(fs, at('/'), () => fs.renameSync(at('/from'), at('/to')));
    });
    expect(result).toMatchObject({
      value: { outcome: { code: 'ENOTEMPTY' }, tree: ['from/', 'from/a/', 'to/', 'to/b/'] },
    });
  });

  it('renaming a directory onto an empty one replaces it', () => {
    same((fs, at) => {
      fs.mkdirSync(at('/from/a'), { recursive: true });
      fs.mkdirSync(at('/to'));
      return attempted(fs, at('/'), () => fs.renameSync(at('/from'), at('/to')));
    });
  });

  it('renaming a directory into itself is EINVAL', () => {
    const result = same((fs, at) => {
      fs.mkdirSync(at('/d/e'), { recursive: true });
      return attempted(fs, at('/'), () => fs.renameSync(at('/d'), at('/d/e/f')));
    });
    expect(result).toMatchObject({ value: { outcome: { code: 'EINVAL' } } });
  });

  it('renaming a file onto a directory is EISDIR, a directory onto a file ENOTDIR', () => {
    const result = same((fs, at) => {
      fs.mkdirSync(at('/d'));
      fs.writeFileSync(at('/f'), 'x');
      return [
        attempted(fs, at('/'), () => fs.renameSync(at('/f'), at('/d'))),
        attempted(fs, at('/'), () => fs.renameSync(at('/d'), at('/f'))),
      ];
    });
    expect(result).toMatchObject({ value: [{ outcome: { code: 'EISDIR' } }, { outcome: { code: 'ENOTDIR' } }] });
  });

  it('renaming one hard link onto the other keeps both', () => {
    const result = same((fs, at) => {
      fs.writeFileSync(at('/a'), 'x');
      fs.linkSync(at('/a'), at('/b'));
      return [attempted(fs, at('/'), () => fs.renameSync(at('/a'), at('/b'))), fs.statSync(at('/a')).nlink];
    });
    expect(result).toMatchObject({ value: [{ tree: ['a = x', 'b = x'] }, 2] });
  });

  it('a path through a file is ENOTDIR for every call', () => {
    same((fs, at) => {
      fs.writeFileSync(at('/f'), 'x');
      const path = at('/f/child');
      const calls = [
        () => fs.statSync(path),
        () => fs.lstatSync(path),
        () => fs.readFileSync(path),
        () => fs.writeFileSync(path, 'y'),
        () => fs.mkdirSync(path),
        () => fs.mkdirSync(path, { recursive: true }),
        () => fs.readdirSync(path),
        () => fs.unlinkSync(path),
        () => fs.rmdirSync(path),
        () => fs.rmSync(path),
        () => fs.rmSync(path, { force: true }),
        () => fs.renameSync(path, at('/g')),
        () => fs.renameSync(at('/f'), path),
        () => fs.linkSync(at('/f'), path),
        () => fs.symlinkSync('x', path),
        () => fs.readlinkSync(path),
        () => fs.chmodSync(path, 0o600),
        () => fs.utimesSync(path, 1, 1),
        () => fs.truncateSync(path),
        () => fs.copyFileSync(at('/f'), path),
        () => fs.accessSync(path),
        () => fs.realpathSync(path),
        () => fs.realpathSync.native(path),
        () => fs.mkdtempSync(path),
        () => fs.existsSync(path),
        // Later versions of Node treat a file on the way like a missing path.
        ...(isNode20 ? [() => fs.statSync(path, { throwIfNoEntry: false })] : []),
      ];
      return calls.map((call) => attempted(fs, at('/'), call));
    });
  });

  it('writing under a missing parent is ENOENT', () => {
    same((fs, at) =>
      [
        () => fs.writeFileSync(at('/no/f'), 'x'),
        () => fs.appendFileSync(at('/no/f'), 'x'),
        () => fs.openSync(at('/no/f'), 'w'),
        () => fs.mkdirSync(at('/no/d')),
        () => fs.symlinkSync('x', at('/no/l')),
        () => fs.mkdtempSync(at('/no/t')),
        () => fs.copyFileSync(at('/no/f'), at('/no/g')),
      ].map((call) => attempted(fs, at('/'), call)),
    );
  });

  it('mkdir -p over a file is EEXIST, through a file ENOTDIR, over a directory no error', () => {
    const result = same((fs, at) => {
      fs.writeFileSync(at('/f'), 'x');
      fs.mkdirSync(at('/d'));
      return ['/f', '/f/d', '/d', '/d/e/f'].map((path) =>
        attempted(fs, at('/'), () => fs.mkdirSync(at(path), { recursive: true })),
      );
    });
    expect(result).toMatchObject({
      value: [{ outcome: { code: 'EEXIST' } }, { outcome: { code: 'ENOTDIR' } }, {}, {}],
    });
  });

  it('rm -r of a link removes the link and keeps its target', () => {
    const result = same((fs, at) => {
      fs.mkdirSync(at('/d'));
      fs.writeFileSync(at('/d/f'), 'x');
      fs.symlinkSync('d', at('/l'));
      return attempted(fs, at('/'), () => fs.rmSync(at('/l'), { recursive: true }));
    });
    expect(result).toMatchObject({ value: { tree: ['d/', 'd/f = x'] } });
  });

  it('rm of a directory needs recursive, and force only ignores a missing path', () => {
    same((fs, at) => {
      fs.mkdirSync(at('/d'));
      return [
        () => fs.rmSync(at('/d')),
        () => fs.rmSync(at('/d'), { force: true }),
        () => fs.rmSync(at('/no')),
        () => fs.rmSync(at('/no'), { force: true }),
        () => fs.rmdirSync(at('/d')),
      ].map((call) => attempted(fs, at('/'), call));
    });
  });

  it('loops of links are ELOOP and never hang', () => {
    const result = same((fs, at) => {
      fs.symlinkSync('b', at('/a'));
      fs.symlinkSync('a', at('/b'));
      const root = at('/');
      return [
        attempted(fs, root, () => fs.statSync(at('/a'))),
        attempted(fs, root, () => fs.readFileSync(at('/a'))),
        attempted(fs, root, () => fs.writeFileSync(at('/a'), 'x')),
        attempted(fs, root, () => fs.realpathSync(at('/a'))),
        attempted(fs, root, () => fs.readdirSync(at('/a/c'))),
        attempted(fs, root, () => fs.mkdirSync(at('/a/c'))),
        attempted(fs, root, () => fs.existsSync(at('/a'))),
        attempted(fs, root, () => fs.openSync(at('/a'), 'r')),
      ];
    });
    expect(result).toMatchObject({ value: [{ outcome: { code: 'ELOOP' } }, {}, {}, {}, {}, {}, {}, {}] });
  });

  it('writing through a dangling link creates its target', () => {
    const result = same((fs, at) => {
      fs.symlinkSync('target', at('/l'));
      return attempted(fs, at('/'), () => fs.writeFileSync(at('/l'), 'x'));
    });
    expect(result).toMatchObject({ value: { tree: ['l -> target', 'target = x'] } });
  });

  it('creating exclusively does not follow a link', () => {
    same((fs, at) => {
      fs.symlinkSync('target', at('/l'));
      return attempted(fs, at('/'), () => fs.writeFileSync(at('/l'), 'x', { flag: 'wx' }));
    });
  });

  it('reading a write-only descriptor and writing a read-only one is EBADF', () => {
    same((fs, at) => {
      fs.writeFileSync(at('/f'), 'abc');
      const w = fs.openSync(at('/f'), fs.constants.O_WRONLY);
      const r = fs.openSync(at('/f'), 'r');
      const root = at('/');
      const results = [
        attempted(fs, root, () => fs.readSync(w, Buffer.alloc(1), 0, 1, 0)),
        attempted(fs, root, () => fs.readFileSync(w)),
        attempted(fs, root, () => fs.writeSync(r, 'x')),
        attempted(fs, root, () => fs.ftruncateSync(r, 1)),
        attempted(fs, root, () => fs.readvSync(w, [Buffer.alloc(1)])),
        attempted(fs, root, () => fs.writevSync(r, [Buffer.alloc(1)])),
      ];
      fs.closeSync(w);
      fs.closeSync(r);
      return [...results, attempted(fs, root, () => fs.fstatSync(10_000))];
    });
  });

  it('O_APPEND writes at the end, whatever position is given', () => {
    const result = same((fs, at) => {
      fs.writeFileSync(at('/f'), 'abc');
      const fd = fs.openSync(at('/f'), 'a+');
      const buffer = Buffer.alloc(2);
      fs.readSync(fd, buffer, 0, 2, 0);
      fs.writeSync(fd, 'X', 0);
      fs.writeSync(fd, Buffer.from('Y'), 0, 1, 1);
      fs.appendFileSync(at('/f'), 'Z');
      fs.writeSync(fd, '!');
      fs.closeSync(fd);
      return [buffer.toString(), fs.readFileSync(at('/f'), 'utf8')];
    });
    expect(result).toEqual({ value: ['ab', 'abcXYZ!'] });
  });

  it('an open unlinked file exists until it is closed', () => {
    const result = same((fs, at) => {
      fs.writeFileSync(at('/f'), 'abc');
      const fd = fs.openSync(at('/f'), 'r+');
      fs.unlinkSync(at('/f'));
      fs.writeSync(fd, 'd', 3);
      fs.writeFileSync(at('/f'), 'another');
      const text = fs.readFileSync(fd, 'utf8');
      const { nlink, size } = fs.fstatSync(fd);
      fs.closeSync(fd);
      return [text, nlink, size, fs.readFileSync(at('/f'), 'utf8')];
    });
    expect(result).toEqual({ value: ['abcd', 0, 4, 'another'] });
  });

  it('an open file follows its rename', () => {
    same((fs, at) => {
      fs.writeFileSync(at('/f'), 'abc');
      const fd = fs.openSync(at('/f'), 'r+');
      fs.renameSync(at('/f'), at('/g'));
      fs.writeSync(fd, 'X');
      fs.closeSync(fd);
      return attempted(fs, at('/'), () => undefined);
    });
  });

  it('the umask applies to requested modes, not to chmod', () => {
    const before = process.umask(0o022);
    try {
      const result = same((fs, at) => {
        fs.writeFileSync(at('/f'), '', { mode: 0o777 });
        fs.writeFileSync(at('/g'), '');
        fs.mkdirSync(at('/d'), { mode: 0o777 });
        fs.mkdirSync(at('/e/f'), { recursive: true });
        fs.closeSync(fs.openSync(at('/h'), 'w', 0o666));
        fs.mkdirSync(fs.mkdtempSync(at('/t-')).replace(/t-.*/, 'x'));
        const temporary = fs.readdirSync(at('/')).find((name) => name.startsWith('t-'));
        fs.chmodSync(at('/g'), 0o666);
        const modes = ['/f', '/g', '/d', '/e', '/e/f', '/h', `/${temporary}`].map((path) => fs.statSync(at(path)).mode);
        return modes.map((mode) => mode.toString(8));
      });
      expect(result).toEqual({ value: ['100755', '100666', '40755', '40755', '40755', '100644', '40700'] });
    } finally {
      process.umask(before);
    }
  });

  it('names have at most 255 bytes', () => {
    const result = same((fs, at) => {
      const full = `/${'é'.repeat(127)}x`;
      const long = `/${'é'.repeat(128)}`;
      fs.writeFileSync(at(full), 'x');
      const codes = [
        () => fs.writeFileSync(at(long), 'x'),
        () => fs.mkdirSync(at(long)),
        () => fs.statSync(at(long)),
        () => fs.renameSync(at(full), at(long)),
        () => fs.existsSync(at(long)),
      ].map((call) => (attempted(fs, at('/'), call) as { outcome: { code?: string } }).outcome?.code);
      return [fs.readFileSync(at(full), 'utf8'), ...codes];
    });
    expect(result).toMatchObject({
      value: ['x', 'ENAMETOOLONG', 'ENAMETOOLONG', 'ENAMETOOLONG', 'ENAMETOOLONG', undefined],
    });
  });

  it('writing past the end leaves zeros between', () => {
    const result = same((fs, at) => {
      const fd = fs.openSync(at('/f'), 'w+');
      fs.writeSync(fd, 'end', 1_000_000);
      const buffer = Buffer.alloc(3, 'x');
      fs.readSync(fd, buffer, 0, 3, 500_000);
      fs.ftruncateSync(fd, 2_000_000);
      const { size } = fs.fstatSync(fd);
      fs.closeSync(fd);
      return [[...buffer], size, fs.readFileSync(at('/f')).subarray(999_999, 1_000_004).toString('hex')];
    });
    expect(result).toEqual({ value: [[0, 0, 0], 2_000_000, '00656e6400'] });
  });

  it('__proto__, constructor and the like are ordinary names', () => {
    const names = ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'prototype', '__defineGetter__'];
    const result = same((fs, at) => {
      for (const name of names) fs.writeFileSync(at(`/${name}`), name);
      fs.mkdirSync(at('/d'));
      for (const name of names) fs.mkdirSync(at(`/d/${name}`));
      fs.writeFileSync(at('/d/__proto__/polluted'), 'x');
      return [fs.readdirSync(at('/')).sort(), names.map((name) => fs.readFileSync(at(`/${name}`), 'utf8'))];
    });
    expect(result).toMatchObject({ value: [expect.arrayContaining(names), names] });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('inputs and outputs do not alias stored bytes', () => {
    const result = same((fs, at) => {
      const data = Buffer.from('abc');
      fs.writeFileSync(at('/f'), data);
      data.fill(0);
      const first = fs.readFileSync(at('/f'));
      first.fill(1);
      const fd = fs.openSync(at('/f'), 'r+');
      const written = Buffer.from('XY');
      fs.writeSync(fd, written);
      written.fill(0);
      fs.writevSync(fd, [written.fill('Z')]);
      written.fill(0);
      const into = Buffer.alloc(4);
      fs.readSync(fd, into, 0, 4, 0);
      into.fill(2);
      fs.closeSync(fd);
      const path = Buffer.from(at('/f'));
      const text = fs.readFileSync(path, 'utf8');
      path.fill(0);
      return [text, fs.readFileSync(at('/f'), 'utf8')];
    });
    expect(result).toEqual({ value: ['XYZZ', 'XYZZ'] });
  });

  it('unlink of a directory fails, and so does rmdir of a file and of a non-empty directory', () => {
    same((fs, at) => {
      fs.mkdirSync(at('/d/e'), { recursive: true });
      fs.writeFileSync(at('/f'), 'x');
      return [
        () => fs.unlinkSync(at('/d')),
        () => fs.rmdirSync(at('/f')),
        () => fs.rmdirSync(at('/d')),
        () => fs.readFileSync(at('/d')),
        () => fs.writeFileSync(at('/d'), 'x'),
        () => fs.openSync(at('/d'), 'r+'),
        () => fs.readdirSync(at('/f')),
        () => fs.linkSync(at('/d'), at('/l')),
        () => fs.copyFileSync(at('/d'), at('/g')),
        () => fs.copyFileSync(at('/f'), at('/d')),
        () => fs.truncateSync(at('/d')),
      ].map((call) => attempted(fs, at('/'), call));
    });
  });

  it('a directory can be opened for reading, but not read', () => {
    same((fs, at) => {
      fs.mkdirSync(at('/d'));
      const fd = fs.openSync(at('/d'), 'r');
      const isDirectory = fs.fstatSync(fd).isDirectory();
      const read = attempted(fs, at('/'), () => fs.readSync(fd, Buffer.alloc(1)));
      fs.closeSync(fd);
      return [isDirectory, read, attempted(fs, at('/'), () => fs.closeSync(fd))];
    });
  });
});
