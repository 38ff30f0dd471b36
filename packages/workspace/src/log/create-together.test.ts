import { createFileSystem, type FileSystem, type SyncFileSystem } from 'scratchfs';
import { afterAll, describe, expect, it } from 'vitest';
import { Directories } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';
import { createTogether } from './create-together.js';

const directories = new Directories();
afterAll(() => directories.remove());

/** Returns a filesystem with some properties replaced. */
function replaced<F extends FileSystem>(fileSystem: F, properties: Partial<Record<keyof F, unknown>>): F {
  return new Proxy(fileSystem, {
    get: (target, key) => {
      if (Object.hasOwn(properties, key)) return properties[key as keyof F];
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe.each([true, false])('a record in a store with transactions: %s', (transactions) => {
  const newStore = (): { store: FileSystem; base: SyncFileSystem } => {
    const base = createFileSystem({ files: { '/contents/a/old': 'x', '/contents/a/new': 'y', '/stop': '' } });
    return { base, store: replaced(base, { capabilities: { ...base.capabilities, transactions } }) };
  };
  const record = { path: '/record', content: 'r' };
  const contents = ['old', 'new', 'other'].map((name) => ({ path: `/contents/a/${name}`, content: name }));

  it('is created with its contents, once', async () => {
    const { store, base } = newStore();
    expect(await createTogether(store, record, { contents, absent: ['/none'] })).toBeUndefined();
    expect(await createTogether(store, { ...record, content: 's' }, {})).toBe('/record');
    expect([base.readTextSync('/record'), base.readTextSync('/contents/a/other')]).toEqual(['r', 'other']);
  });

  it('is not created if a path exists that must not', async () => {
    const { store, base } = newStore();
    expect(await createTogether(store, record, { contents, absent: ['/none', '/stop'] })).toBe('/stop');
    expect(base.existsSync('/record')).toBe(false);
  });

  it('gives contents the time of now that garbage collection might take', async () => {
    const { store, base } = newStore();
    base.utimesSync('/contents/a/old', 0, 0);
    const before = base.statSync('/contents/a/new').version;
    await createTogether(store, record, { contents });
    expect(base.statSync('/contents/a/old').mtimeMs).toBeGreaterThan(Date.now() - 60_000);
    if (transactions) expect(base.statSync('/contents/a/new').version).toBe(before);
  });
});

describe('an edit', () => {
  it('is one step of the store', async () => {
    const base = createFileSystem();
    const calls: string[] = [];
    const noted = (name: 'run' | 'writeFile' | 'transaction' | 'mkdir') => {
      const call = base[name].bind(base) as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        calls.push(name);
        return call(...args);
      };
    };
    const store = replaced(base, {
      run: noted('run'),
      writeFile: noted('writeFile'),
      transaction: noted('transaction'),
      mkdir: noted('mkdir'),
    });
    await using workspace = await openWorkspace(directories.directory({ a: 'a', b: 'b' }), { store });
    const attempt = await workspace.attempt();
    const { fileSystem } = attempt;
    await fileSystem.writeFile('/a', 'A');
    calls.length = 0;
    await fileSystem.writeFile('/b', 'B');
    expect(calls).toEqual(['run']);
    await attempt.undo();
    expect(calls).toEqual(['run', 'run']);
  });

  it('stores nothing in an attempt that another client discards at the last moment', async () => {
    const base = createFileSystem();
    let discard = async (): Promise<void> => {};
    const run: FileSystem['run'] = async (...args) => {
      await discard();
      return base.run(...args);
    };
    const store = replaced(base, { run });
    const directory = directories.directory({ a: 'a' });
    await using workspace = await openWorkspace(directory, { store });
    await using second = await openWorkspace(directory, { store: base });
    const attempt = await workspace.createAttempt('x');
    const { fileSystem } = attempt;
    await fileSystem.writeFile('/a', 'A');
    const other = await second.attempt('x');
    discard = () => other.discard();
    await expect(fileSystem.writeFile('/a', 'B')).rejects.toMatchObject({ code: 'closed' });
    await expect(attempt.undo()).rejects.toMatchObject({ code: 'closed' });
    expect(await attempt.head()).toBe(1);
    expect(base.existsSync('/attempts/x/operations/000000002')).toBe(false);
  });
});
