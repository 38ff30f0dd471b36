import type { Dirent } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isNode20 } from '../testing/node-version.js';
import { outcomeOf, same, sameLater } from '../testing/same.js';
import type { HostFs } from '../testing/twin.js';
import { createNodeFs } from './create-node-fs.js';

function plant(fs: HostFs, at: (path: string) => string): void {
  fs.mkdirSync(at('/d/e/f'), { recursive: true });
  fs.writeFileSync(at('/d/a'), 'a');
  fs.writeFileSync(at('/d/e/b'), 'b');
  fs.writeFileSync(at('/d/e/f/c'), 'c');
  fs.symlinkSync('a', at('/d/l'));
  fs.symlinkSync('e', at('/d/m'));
}

const entry = (one: Dirent) => [one.name, one.parentPath, one.isFile(), one.isDirectory(), one.isSymbolicLink()];
const byName = (a: unknown, b: unknown) => (String(a) < String(b) ? -1 : 1);

describe('readdir', () => {
  it('returns names, bytes, or entries', () => {
    same((fs, at) => {
      plant(fs, at);
      return [
        fs.readdirSync(at('/d')).sort(),
        fs.readdirSync(at('/d'), 'hex').sort(),
        fs.readdirSync(at('/d'), 'buffer').sort(Buffer.compare).map(String),
        fs.readdirSync(Buffer.from(at('/d')), { encoding: 'base64' }).sort(),
        fs
          .readdirSync(new URL(`file://${at('/d')}`), { withFileTypes: true })
          .map(entry)
          .sort(byName),
      ];
    });
  });

  // Later versions of Node enter links here as well.
  it.skipIf(!isNode20)('lists recursively; links are named, not entered', () => {
    same((fs, at) => {
      plant(fs, at);
      return fs.readdirSync(at('/d'), { recursive: true, withFileTypes: true }).map(entry).sort(byName);
    });
  });

  it('does not enter links when it returns only names, so that a loop of links ends', () => {
    const fs = createNodeFs();
    plant(fs, (path) => path);
    fs.symlinkSync('..', '/d/e/loop');
    fs.symlinkSync('.', '/d/e/again');
    const names = ['a', 'e', 'l', 'm', 'e/again', 'e/b', 'e/f', 'e/loop', 'e/f/c'];
    expect(fs.readdirSync('/d', { recursive: true })).toEqual(names);
    expect(fs.readdirSync('/d', { recursive: true, encoding: 'buffer' }).map(String)).toEqual(names);
  });

  it('fails equally in every form', async () => {
    await sameLater(async (fs, at) => {
      fs.writeFileSync(at('/f'), '');
      return [
        await outcomeOf(() => fs.readdirSync(at('/f'))),
        await outcomeOf(() => fs.promises.readdir(at('/missing'))),
        await outcomeOf(() => fs.promises.readdir(at('/f'), { withFileTypes: true })),
      ];
    });
  });
});

describe('opendir', () => {
  it('returns one entry after another, then null', () => {
    same((fs, at) => {
      plant(fs, at);
      const dir = fs.opendirSync(at('/d'));
      const found: unknown[] = [];
      for (let one = dir.readSync(); one !== null; one = dir.readSync()) found.push(entry(one));
      const after = dir.readSync();
      dir.closeSync();
      return [dir.path, found.sort(byName), after];
    });
  });

  it('can be iterated, which closes it', async () => {
    await sameLater(async (fs, at) => {
      plant(fs, at);
      const dir = await fs.promises.opendir(at('/d'));
      const found: string[] = [];
      for await (const one of dir) found.push(one.name);
      return [found.sort(), await outcomeOf(() => dir.close()), await outcomeOf(() => dir.readSync())];
    });
  });

  it('calls back, and refuses calls after the end', async () => {
    await sameLater(async (fs, at) => {
      fs.mkdirSync(at('/d'));
      fs.writeFileSync(at('/d/a'), '');
      const dir = await new Promise<import('node:fs').Dir>((resolve, reject) => {
        fs.opendir(at('/d'), (error, opened) => (error === null ? resolve(opened) : reject(error)));
      });
      const read = () =>
        new Promise((resolve) => dir.read((error, one) => resolve([error, one === null ? null : one.name])));
      const close = () => new Promise((resolve) => dir.close((error) => resolve((error as { code?: string })?.code)));
      return [await read(), await read(), await close(), await close(), await outcomeOf(() => dir.closeSync())];
    });
  });

  it('names a directory given as bytes by those bytes, and so does readdir', async () => {
    await sameLater(async (fs, at) => {
      plant(fs, at);
      const bytes = Buffer.from(at('/d'));
      const url = pathToFileURL(at('/d'));
      const found: unknown[] = [];
      for (const path of [bytes, new Uint8Array(bytes), url]) {
        const dir = fs.opendirSync(path as never);
        const entries = [
          dir.readSync(),
          ...fs.readdirSync(path as never, { withFileTypes: true }),
          ...(await fs.promises.readdir(path as never, { withFileTypes: true })),
        ];
        const named: unknown = dir.path;
        found.push(named instanceof Uint8Array ? Buffer.compare(named, bytes) : named);
        for (const one of entries) {
          const { parentPath, path: older } = one as unknown as { parentPath: unknown; path: unknown };
          found.push(
            parentPath instanceof Uint8Array ? Buffer.compare(parentPath, bytes) : parentPath,
            older === parentPath,
          );
        }
        dir.closeSync();
      }
      return found;
    });
  });

  it('refuses synchronous calls while a read is in progress', async () => {
    await sameLater(async (fs, at) => {
      plant(fs, at);
      const dir = fs.opendirSync(at('/d'));
      const first = dir.read();
      const refused = await Promise.all([outcomeOf(() => dir.readSync()), outcomeOf(() => dir.closeSync())]);
      const isEntry = (await first) !== null;
      dir.closeSync();
      const called = fs.opendirSync(at('/d/e'));
      const told = new Promise((resolve) => called.read((...heard) => resolve(heard)));
      refused.push(await outcomeOf(() => called.closeSync()));
      await told;
      await called.close();
      return [refused, isEntry, await outcomeOf(() => called.read())];
    });
  });

  it('Dir cannot be constructed without a handle', async () => {
    await sameLater(async (fs) => outcomeOf(() => Reflect.construct(fs.Dir, [])));
  });

  it('fails if the path is not a directory', async () => {
    await sameLater(async (fs, at) => {
      fs.writeFileSync(at('/f'), '');
      return [
        await outcomeOf(() => fs.promises.opendir(at('/missing'))),
        await outcomeOf(() => fs.promises.opendir(at('/f'))),
      ];
    });
  });

  it("lists recursively, as Node's does", async () => {
    const result = await sameLater(async (fs, at) => {
      plant(fs, at);
      const found: string[] = [];
      for await (const one of await fs.promises.opendir(at('/d'), { recursive: true } as never)) {
        found.push(`${one.parentPath}/${one.name}`);
      }
      return found.sort();
    });
    expect(result).toMatchObject({ value: expect.arrayContaining(['/d/e/f/c']) });
  });
});

describe('mkdtemp', () => {
  it('returns the given prefix and six more characters', () => {
    const fs = createNodeFs();
    fs.mkdirSync('/real');
    fs.symlinkSync('real', '/link');
    const path = fs.mkdtempSync('/link/x-');
    expect(path).toMatch(/^\/link\/x-[A-Za-z0-9]{6}$/);
    expect(fs.readdirSync('/real')).toHaveLength(1);
    expect(fs.mkdtempSync('relative-')).toMatch(/^relative-[A-Za-z0-9]{6}$/);
    expect(fs.mkdtempSync('/b', 'buffer')).toBeInstanceOf(Buffer);
  });

  it('removes its directory when it is disposed', async () => {
    const fs = createNodeFs();
    {
      using one = fs.mkdtempDisposableSync('/one-');
      await using two = await fs.promises.mkdtempDisposable('/two-');
      fs.writeFileSync(`${one.path}/f`, '');
      expect(fs.readdirSync('/')).toEqual([one.path.slice(1), two.path.slice(1)]);
    }
    expect(fs.readdirSync('/')).toEqual([]);
  });
});

describe('mkdir', () => {
  it('returns the first directory that it created', async () => {
    await sameLater(async (fs, at) => [
      fs.mkdirSync(at('/a')),
      fs.mkdirSync(at('/a/b/c'), { recursive: true }),
      fs.mkdirSync(at('/a/b/c'), { recursive: true }),
      await fs.promises.mkdir(at('/x/y'), { recursive: true }),
      await new Promise((resolve) => fs.mkdir(at('/p/q'), { recursive: true }, (...heard) => resolve(heard))),
      await new Promise((resolve) => fs.mkdir(at('/z'), (...heard) => resolve(heard))),
    ]);
  });

  it('takes a mode as a number, as text and as an option', () => {
    same((fs, at) => {
      fs.mkdirSync(at('/a'), 0o700);
      fs.mkdirSync(at('/b'), '750');
      fs.mkdirSync(at('/c'), { mode: 0o1777 });
      fs.mkdirSync(at('/d'), null);
      return ['/a', '/b', '/c', '/d'].map((path) => fs.statSync(at(path)).mode.toString(8));
    });
  });
});

describe('rmdir', () => {
  it('with recursive removes a directory like rm, and refuses a file', async () => {
    const { emitWarning } = process;
    process.emitWarning = () => {};
    try {
      await sameLater(async (fs, at) => {
        plant(fs, at);
        const remove = (path: string) => outcomeOf(() => fs.rmdirSync(at(path), { recursive: true }));
        return [await remove('/d/a'), await remove('/missing'), await remove('/d/e'), fs.readdirSync(at('/d')).sort()];
      });
    } finally {
      process.emitWarning = emitWarning;
    }
  });
});
