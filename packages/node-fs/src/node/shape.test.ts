import * as host from 'node:fs';
import { promisify } from 'node:util';
import { asyncForm, type FileSystem, openFileSystem, type SyncFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { NAMES, PROMISE_NAMES } from '../testing/names.js';
import { isNode20 } from '../testing/node-version.js';
import { type AsyncNodeFs, createNodeFs, type NodeFs } from './create-node-fs.js';

/** Names of this Node that the object lacks: `Utf8Stream`, which no function here needs, and the module's `default`. */
const LEFT_OUT = ['Utf8Stream', 'default'];

function kinds(value: object, names = Object.keys(value)): Record<string, string> {
  const own = names.filter((name) => !LEFT_OUT.includes(name)).sort();
  return Object.fromEntries(own.map((name) => [name, typeof (value as Record<string, unknown>)[name]]));
}

/** Returns methods and accessors of a class, its parents included up to the emitter. */
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

  it('has every name of this Node, of the same kind', () => {
    expect(kinds(fs, Object.keys(host))).toEqual(kinds(host));
  });

  it('has some functions of later versions of Node', () => {
    for (const name of ['glob', 'globSync', 'mkdtempDisposableSync']) expect(fs).toHaveProperty(name);
    for (const name of ['glob', 'mkdtempDisposable']) expect(fs.promises).toHaveProperty(name);
  });

  it('has no other names', () => {
    const later = ['glob', 'globSync', 'mkdtempDisposable', 'mkdtempDisposableSync', 'StatsFs'];
    const added = (own: object, theirs: object) => Object.keys(own).filter((name) => !(name in theirs));
    expect(later).toEqual(expect.arrayContaining([...added(fs, host), ...added(fs.promises, host.promises)]));
  });

  it('has every promise function', () => {
    expect(kinds(fs.promises, Object.keys(host.promises))).toEqual(kinds(host.promises));
  });

  it('has the constants of Linux', () => {
    // Node 20 adds two numbers of its module loader, later versions add flags of Windows.
    const foreign = /^(EXTENSIONLESS_FORMAT|UV_FS_O)_/;
    const known = Object.entries(host.constants).filter(([name]) => !foreign.test(name));
    expect({ ...fs.constants }).toMatchObject(Object.fromEntries(known));
  });

  it("has functions whose `name` property is that of Node's", () => {
    const names = Object.keys(host).filter((name) => /^[a-z]/.test(name) && name !== 'default');
    const functions = names.filter((name) => typeof (host as Record<string, unknown>)[name] === 'function');
    expect(functions.map((name) => (fs as unknown as Record<string, { name: string }>)[name]?.name)).toEqual(functions);
  });

  // Later versions have other classes of the same shape.
  it.skipIf(!isNode20)('has the members of Stats, Dirent, Dir, FileHandle and the streams', async () => {
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

  it('has functions that work without a receiver', () => {
    const { readFileSync, writeFileSync, promises } = fs;
    const { stat } = promises;
    writeFileSync('/free', 'x');
    expect(readFileSync('/free', 'utf8')).toBe('x');
    return expect(stat('/free')).resolves.toBeInstanceOf(fs.Stats);
  });

  it('has the promise forms that promisify finds', async () => {
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

describe('over an asynchronous storage', () => {
  const open = (): FileSystem | Promise<FileSystem> => openFileSystem(asyncForm(new MemoryStorage()));

  it('has no synchronous functions', async () => {
    const fs = createNodeFs(await open());
    const functions = Object.keys(fs).filter((name) => typeof (fs as Record<string, unknown>)[name] === 'function');
    expect(functions.filter((name) => name.endsWith('Sync'))).toEqual([]);
    expect(functions).toEqual(expect.arrayContaining(['readFile', 'createReadStream', 'watch', 'glob']));
    await fs.promises.writeFile('/f', 'x');
    expect(await fs.promises.readFile('/f', 'utf8')).toBe('x');
  });
});

describe('the types', () => {
  // The object is assembled from tables and gets its type by a cast. These tests check the cast name by name, and
  // `every-function.long.test.ts` checks what the functions do.
  it('contain only names that exist', () => {
    const fs = createNodeFs();
    expect(kinds(fs, Object.keys(NAMES))).toEqual(NAMES);
    expect(kinds(fs.promises, Object.keys(PROMISE_NAMES))).toEqual(PROMISE_NAMES);
  });

  it('contain only names that exist over an asynchronous storage', async () => {
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

  it('of a disposable directory match what is returned, in any encoding', async () => {
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

  it('equal those of node:fs if everything exists', () => {
    expectTypeOf(createNodeFs()).toExtend<typeof host>();
    expectTypeOf<NodeFs>().not.toHaveProperty('Utf8Stream');
    expectTypeOf<NodeFs['promises']>().toExtend<typeof host.promises>();
    const overSync = (fileSystem: SyncFileSystem) => createNodeFs(fileSystem);
    expectTypeOf(overSync).returns.toEqualTypeOf<NodeFs>();
  });

  it('lack the synchronous functions if the storage is asynchronous', () => {
    const overAny = (fileSystem: FileSystem) => createNodeFs(fileSystem);
    expectTypeOf(overAny).returns.toEqualTypeOf<AsyncNodeFs>();
    expectTypeOf<AsyncNodeFs>().not.toHaveProperty('readFileSync');
    expectTypeOf<AsyncNodeFs>().toHaveProperty('readFile');
  });
});
