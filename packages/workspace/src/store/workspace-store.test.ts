import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { withoutPassword } from '@scratchfs/core/internal';
import { createFileSystem } from 'scratchfs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isSameDirectory } from './identity.js';
import { storeLocation } from './location.js';
import { type StoreOptions, WorkspaceStore } from './workspace-store.js';

const IS_ROOT = process.getuid?.() === 0;

let top: string;
let project: string;
let state: string;
let before: string | undefined;
const open: WorkspaceStore[] = [];

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'store-'));
  project = join(top, 'project');
  state = join(top, 'state');
  mkdirSync(project);
  before = process.env['XDG_STATE_HOME'];
  process.env['XDG_STATE_HOME'] = state;
});
afterEach(async () => {
  for (const store of open.splice(0)) await store.close();
  if (before === undefined) delete process.env['XDG_STATE_HOME'];
  else process.env['XDG_STATE_HOME'] = before;
  rmSync(top, { recursive: true, force: true });
});

async function opened(options?: StoreOptions, directory = project): Promise<WorkspaceStore> {
  const store = await WorkspaceStore.open(directory, options);
  open.push(store);
  return store;
}

const failure = (code: string, ...texts: string[]): unknown =>
  expect.objectContaining({
    code,
    message: expect.stringMatching(new RegExp(texts.map((text) => `(?=[^]*${text})`).join(''))),
  });

describe('the place of the store', () => {
  it('follows the XDG specification and depends on the real path', () => {
    expect(storeLocation('/a', { XDG_STATE_HOME: '/s' }).path).toMatch(/^\/s\/scratchfs\/[0-9a-f]{32}$/);
    expect(storeLocation('/a', { XDG_STATE_HOME: 's' }).path).toMatch(/\/\.local\/state\/scratchfs\/[0-9a-f]{32}$/);
    expect(storeLocation('/a', {}).id).not.toBe(storeLocation('/b', {}).id);
  });

  it('is the same under every name of the directory', async () => {
    symlinkSync(project, join(top, 'link'));
    const store = await opened(undefined, join(top, 'link'));
    expect(store.directory).toBe(project);
    expect(store.location).toBe(storeLocation(project).path);
  });

  it('holds nothing until the first change, and has mode 0700 after it', async () => {
    const store = await opened();
    store.check();
    expect(await store.fileSystem.exists('/attempts')).toBe(false);
    await expect(store.fileSystem.mkdir('/attempts')).rejects.toEqual(expect.objectContaining({ code: 'EROFS' }));
    expect(existsSync(state)).toBe(false);
    expect(readdirSync(project)).toEqual([]);
    const other = await opened();
    await store.claim();
    // A store that another process has created is seen.
    expect(await other.fileSystem.exists('/workspace')).toBe(true);
    await other.fileSystem.mkdir('/attempts');
    expect(await store.fileSystem.exists('/attempts')).toBe(true);
    const { parent, path } = storeLocation(project);
    for (const directory of [state, parent, path]) expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(readdirSync(project)).toEqual([]);
  });

  it('must not lie in the directory, nor the directory in it', async () => {
    process.env['XDG_STATE_HOME'] = join(project, '.state');
    await expect(opened()).rejects.toEqual(failure('refused', 'XDG_STATE_HOME'));
    symlinkSync(project, join(top, 'away'));
    process.env['XDG_STATE_HOME'] = join(top, 'away', 'deeper');
    await expect(opened()).rejects.toEqual(failure('refused', 'must not lie in each other'));
    await expect(opened({ store: pathToFileURL(join(project, 's')).href })).rejects.toEqual(failure('refused'));
    process.env['XDG_STATE_HOME'] = top;
    const inner = join(top, 'scratchfs', 'x');
    mkdirSync(inner, { recursive: true });
    await expect(opened(undefined, inner)).rejects.toEqual(failure('refused'));
    expect(readdirSync(project)).toEqual([]);
  });
});

describe('opening', () => {
  it('takes memory:, a URL and a filesystem', async () => {
    const url = pathToFileURL(join(top, 'elsewhere')).href;
    for (const store of ['memory:', url, createFileSystem()]) {
      const one = await opened({ store });
      await one.claim();
      expect(JSON.parse(await one.fileSystem.readText('/workspace'))).toMatchObject({ format: 1, directory: project });
    }
    expect(existsSync(join(top, 'elsewhere'))).toBe(true);
    expect(existsSync(state)).toBe(false);
  });

  it('leaves a filesystem open that the caller has given', async () => {
    const given = createFileSystem();
    await (await WorkspaceStore.open(project, { store: given })).close();
    expect(await given.exists('/')).toBe(true);
  });

  it.each([
    ['a directory that does not exist', () => join(top, 'missing'), {}, { code: 'refused' }],
    ['a file', () => '/etc/hostname', {}, { code: 'refused' }],
    ['an empty path', () => '', {}, { name: 'TypeError' }],
    ['NUL', () => 'a\0', {}, { name: 'TypeError' }],
    ['another type', () => 7 as unknown as string, {}, { name: 'TypeError' }],
    ['an unknown URL', () => project, { store: 'ftp://x' }, { name: 'TypeError' }],
    ['an unknown durability', () => project, { durability: 'never' as 'fsync' }, { name: 'TypeError' }],
    ['a store of another type', () => project, { store: {} as never }, { name: 'TypeError' }],
  ])('refuses %s', async (_, directory, options, error) => {
    await expect(opened(options, directory())).rejects.toEqual(expect.objectContaining(error));
    expect(existsSync(state)).toBe(false);
  });

  it('does not show a password in a URL', () => {
    for (const password of ['secret', 'se@cret', 'se/cret', 'se?cr#et', '123'])
      expect(withoutPassword(`redis://user:${password}@host:1/0`)).toBe('redis://user:***@host:1/0');
    expect(withoutPassword('redis://us@er:secret@host:1/0')).toBe('redis://us@er:***@host:1/0');
    for (const url of ['s3://bucket/a:b@c', 'redis://host:6379/0?namespace=a@b', 'redis://user@host:1?namespace=a@b'])
      expect(withoutPassword(url)).toBe(url);
  });
});

describe('a store that cannot be used', () => {
  it.skipIf(!IS_ROOT)('of another user is refused by name (needs root to give a directory away)', async () => {
    await (await opened()).claim();
    const { path } = storeLocation(project);
    chownSync(path, 12_345, 12_345);
    await expect(opened()).rejects.toEqual(failure('foreign-store', '12345', 'XDG_STATE_HOME', path));
  });

  it('that others can write to is refused', async () => {
    await (await opened()).claim();
    chmodSync(storeLocation(project).path, 0o777);
    await expect(opened()).rejects.toEqual(failure('foreign-store', 'chmod 700'));
  });

  it('of a newer format is refused', async () => {
    const store = createFileSystem({ files: { '/workspace': '{"format":2}' } });
    await expect(opened({ store })).rejects.toEqual(failure('foreign-store', 'format 2', 'update'));
  });

  it.each([[''], ['{'], ['null'], ['[]'], ['{"format":"1"}'], ['{"__proto__":{"format":1}}']])(
    'whose record is %j is refused, and the record stays',
    async (text) => {
      const store = createFileSystem({ files: { '/workspace': text } });
      await expect(opened({ store })).rejects.toEqual(failure('foreign-store', 'damaged'));
      expect(store.readTextSync('/workspace')).toBe(text);
    },
  );

  it('of another workspace is refused, also by two that begin at the same time', async () => {
    const store = createFileSystem();
    const other = join(top, 'other');
    mkdirSync(other);
    const [a, b] = [await opened({ store }), await opened({ store }, other)];
    const results = await Promise.allSettled([a.claim(), b.claim()]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(opened({ store }, results[0].status === 'fulfilled' ? other : project)).rejects.toEqual(
      failure('foreign-store', project, other),
    );
  });
});

describe('the identity of the directory', () => {
  it('two processes of one directory may claim the store at the same time', async () => {
    const store = createFileSystem();
    const [a, b] = [await opened({ store }), await opened({ store })];
    await Promise.all([a.claim(), b.claim(), b.claim()]);
    expect(JSON.parse(store.readTextSync('/workspace'))).toMatchObject({ directory: project });
  });

  it('another directory at the path is refused until it is adopted', async () => {
    await (await opened()).claim();
    rmSync(project, { recursive: true });
    mkdirSync(join(top, 'between'));
    mkdirSync(project);
    await expect(opened()).rejects.toEqual(failure('replaced', 'doctor --adopt', storeLocation(project).path));
    await opened({ adopt: true });
    await opened();
  });

  it('check() notices a directory that vanishes or is replaced, and that it is back', async () => {
    const store = await opened();
    renameSync(project, join(top, 'moved'));
    expect(() => store.check()).toThrow(failure('replaced', 'no longer exists'));
    await expect(store.claim()).rejects.toEqual(failure('replaced'));
    mkdirSync(project);
    expect(() => store.check()).toThrow(failure('replaced', 'another directory'));
    rmSync(project, { recursive: true });
    renameSync(join(top, 'moved'), project);
    store.check();
    await store.claim();
  });

  it('a reused inode is another directory, and a device may get another number', () => {
    const one = { dev: '1', ino: '7', birth: '100' };
    expect(isSameDirectory(one, { ...one })).toBe(true);
    expect(isSameDirectory(one, { ...one, dev: '2' })).toBe(true);
    expect(isSameDirectory(one, { ...one, birth: '101' })).toBe(false);
    expect(isSameDirectory(one, { ...one, ino: '8' })).toBe(false);
    expect(isSameDirectory({ ...one, birth: '0' }, { ...one, birth: '0' })).toBe(true);
    expect(isSameDirectory({ ...one, birth: '0' }, { ...one, dev: '2', birth: '0' })).toBe(false);
  });
});
