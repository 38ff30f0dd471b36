import * as host from 'node:fs';
import { promisify } from 'node:util';
import { asyncForm, type FileSystem, openFileSystem, type SyncFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { NAMES, PROMISE_NAMES } from '../testing/names.js';
import { isNode20 } from '../testing/node-version.js';
import { type AsyncNodeFs, createNodeFs, type NodeFs } from './create-node-fs.js';

/** What this Node has and the object has not: a stream that writes text, which no function here needs. */
const LEFT_OUT = ['Utf8Stream', 'default'];

function kinds(value: object, names = Object.keys(value)): Record<string, string> {
  const own = names.filter((name) => !LEFT_OUT.includes(name)).sort();
  return Object.fromEntries(own.map((name) => [name, typeof (value as Record<string, unknown>)[name]]));
}

/** Methods and accessors of a class, its parents included as long as they are no emitter. */
function members(object: object): string[] {
  const names = new Set<string>();
  for (
    let at = object;
    at !== Object.prototype && at.constructor.name !== 'EventEmitter';
    at = Object.getPrototypeOf(at)
  ) {
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  }
  return [...names].filter((name) => !name.startsWith('_') && name !== 'constructor').sort();
}

describe('the object has the shape of node:fs', () => {
  const fs = createNodeFs();

  it('with every name that this Node has, and of the same kind', () => {
    expect(kinds(fs, Object.keys(host))).toEqual(kinds(host));
  });

  it('with what later versions of Node have', () => {
    for (const name of ['glob', 'globSync', 'mkdtempDisposableSync']) expect(fs).toHaveProperty(name);
    for (const name of ['glob', 'mkdtempDisposable']) expect(fs.promises).toHaveProperty(name);
  });

  it('with nothing else', () => {
    const later = ['glob', 'globSync', 'mkdtempDisposable', 'mkdtempDisposableSync', 'StatsFs'];
    const added = (own: object, theirs: object) => Object.keys(own).filter((name) => !(name in theirs));
    expect(later).toEqual(expect.arrayContaining([...added(fs, host), ...added(fs.promises, host.promises)]));
  });

  it('with every promise', () => {
    expect(kinds(fs.promises, Object.keys(host.promises))).toEqual(kinds(host.promises));
  });

  it('with the constants of Linux', () => {
    // Node 20 counts two numbers of its module loader among them, later ones flags of Windows.
    const foreign = /^(EXTENSIONLESS_FORMAT|UV_FS_O)_/;
    const known = Object.entries(host.constants).filter(([name]) => !foreign.test(name));
    expect({ ...fs.constants }).toMatchObject(Object.fromEntries(known));
  });

  it('with functions of the same name', () => {
    const names = Object.keys(host).filter((name) => /^[a-z]/.test(name) && name !== 'default');
    const functions = names.filter((name) => typeof (host as Record<string, unknown>)[name] === 'function');
    expect(functions.map((name) => (fs as unknown as Record<string, { name: string }>)[name]?.name)).toEqual(functions);
  });

  // Those of later versions are other classes of the same shape.
  it.skipIf(!isNode20)('with the members of Stats, Dirent, Dir, FileHandle and the streams', async () => {
    fs.writeFileSync('/f', '');
    const folder = host.mkdtempSync('/tmp/scratchfs-shape-');
    host.writeFileSync(`${folder}/f`, '');
    try {
      const pairs = await Promise.all(
        (
          [
            [host, folder],
            [fs, '/'],
          ] as const
        ).map(async ([which, path]) => {
          const handle = await which.promises.open(`${path}/f`);
          const [entry] = which.readdirSync(path, { withFileTypes: true });
          const dir = which.opendirSync(path);
          const shapes = {
            stats: members(which.statSync(path)),
            bigint: members(which.statSync(path, { bigint: true })),
            statfs: members(which.statfsSync(path)),
            dirent: members(entry as object),
            dir: members(dir).filter((name) => !['processReadResult', 'readSyncRecursive'].includes(name)),
            handle: members(handle),
            read: members(which.ReadStream.prototype),
            write: members(which.WriteStream.prototype),
          };
          dir.closeSync();
          await handle.close();
          return shapes;
        }),
      );
      expect(pairs[1]).toEqual(pairs[0]);
    } finally {
      host.rmSync(folder, { recursive: true });
    }
  });

  it('with functions that need no object', () => {
    const { readFileSync, writeFileSync, promises } = fs;
    const { stat } = promises;
    writeFileSync('/free', 'x');
    expect(readFileSync('/free', 'utf8')).toBe('x');
    return expect(stat('/free')).resolves.toBeInstanceOf(fs.Stats);
  });

  it('with the promise forms that promisify finds', async () => {
    fs.writeFileSync('/p', 'abc');
    expect(await promisify(fs.exists)('/p')).toBe(true);
    expect(await promisify(fs.exists)('/q')).toBe(false);
    const fd = fs.openSync('/p', 'r+');
    const buffer = Buffer.alloc(3);
    expect(await promisify(fs.read)(fd, buffer, 0, 3, 0)).toMatchObject({ bytesRead: 3, buffer });
    expect(await promisify(fs.write)(fd, 'xyz', 0, 'utf8')).toMatchObject({ bytesWritten: 3, buffer: 'xyz' });
    expect(await promisify(fs.readv)(fd, [buffer], 0)).toMatchObject({ bytesRead: 3, buffers: [buffer] });
    expect(await promisify(fs.writev)(fd, [buffer])).toMatchObject({ bytesWritten: 3, buffers: [buffer] });
    expect(await promisify(fs.stat)('/p')).toMatchObject({ size: 3 });
    expect(await promisify(fs.readFile)('/p', 'utf8')).toBe('xyz');
    fs.closeSync(fd);
  });
});

describe('over a storage that answers promises only', () => {
  const open = (): FileSystem | Promise<FileSystem> => openFileSystem(asyncForm(new MemoryStorage()));

  it('there is nothing that would have to answer at once', async () => {
    const fs = createNodeFs(await open());
    const functions = Object.keys(fs).filter((name) => typeof (fs as Record<string, unknown>)[name] === 'function');
    expect(functions.filter((name) => name.endsWith('Sync'))).toEqual([]);
    expect(functions).toEqual(expect.arrayContaining(['readFile', 'createReadStream', 'watch', 'glob']));
    await fs.promises.writeFile('/f', 'x');
    expect(await fs.promises.readFile('/f', 'utf8')).toBe('x');
  });
});

describe('the types', () => {
  // The object is put together from tables and takes its type by a cast: that the cast is true is shown here name by
  // name, and by `every-function.long.test.ts` of what the functions do.
  it('promise nothing that is not there', () => {
    const fs = createNodeFs();
    expect(kinds(fs, Object.keys(NAMES))).toEqual(NAMES);
    expect(kinds(fs.promises, Object.keys(PROMISE_NAMES))).toEqual(PROMISE_NAMES);
  });

  it('promise nothing that is not there over a storage that answers promises only', async () => {
    const fileSystem = await openFileSystem(asyncForm(new MemoryStorage()));
    const fs = createNodeFs(fileSystem);
    const isLater = ([name]: readonly [string, string]) => !name.endsWith('Sync');
    expect(
      kinds(
        fs,
        Object.keys(NAMES).filter((name) => name in fs),
      ),
    ).toEqual(Object.fromEntries(Object.entries(NAMES).filter(isLater)));
    expect(kinds(fs.promises, Object.keys(PROMISE_NAMES))).toEqual(PROMISE_NAMES);
    expectTypeOf<keyof AsyncNodeFs>().exclude<'promises'>().not.toExtend<`${string}Sync`>();
  });

  it('of a directory that ends with its scope are those of what is answered, in any encoding', async () => {
    const fs = createNodeFs();
    const made = fs.mkdtempDisposableSync('/t-', { encoding: 'utf8' });
    expect(fs.statSync(made.path).isDirectory()).toBe(true);
    expect(made.remove()).toBeUndefined();
    expect(fs.existsSync(made.path)).toBe(false);
    const later = await fs.promises.mkdtempDisposable('/t-', 'utf8');
    expect(fs.statSync(later.path).isDirectory()).toBe(true);
    expect(await later.remove()).toBeUndefined();
    expect(fs.readdirSync('/')).toEqual([]);
  });

  it('are those of node:fs where everything is there', () => {
    expectTypeOf(createNodeFs()).toExtend<typeof host>();
    expectTypeOf<NodeFs>().not.toHaveProperty('Utf8Stream');
    expectTypeOf<NodeFs['promises']>().toExtend<typeof host.promises>();
    const overSync = (fileSystem: SyncFileSystem) => createNodeFs(fileSystem);
    expectTypeOf(overSync).returns.toEqualTypeOf<NodeFs>();
  });

  it('lack what answers at once where the storage cannot', () => {
    const overAny = (fileSystem: FileSystem) => createNodeFs(fileSystem);
    expectTypeOf(overAny).returns.toEqualTypeOf<AsyncNodeFs>();
    expectTypeOf<AsyncNodeFs>().not.toHaveProperty('readFileSync');
    expectTypeOf<AsyncNodeFs>().toHaveProperty('readFile');
  });
});
