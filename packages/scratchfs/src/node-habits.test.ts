import * as node from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import './encodings.js';
import { createFileSystem, type FileSystemPromises, type SyncFileSystem } from './index.js';

/**
 * Calls as Node's documentation writes them. Each is checked against our types, and runs on `node:fs` and on ours in a
 * directory with the same path and the same files.
 */
interface World {
  readonly fs: SyncFileSystem;
  readonly p: FileSystemPromises;
  /** Returns a path in the directory. */
  readonly at: (name: string) => string;
}
type Habit = (world: World) => unknown;

const text = 'hello\nworld\n';

const READS: readonly Habit[] = [
  ({ p, at }) => p.readFile(at('file.txt')),
  ({ p, at }) => p.readFile(at('file.txt'), 'utf8'),
  ({ p, at }) => p.readFile(at('file.txt'), 'utf-8'),
  ({ p, at }) => p.readFile(at('file.txt'), { encoding: 'utf8' }),
  ({ p, at }) => p.readFile(at('file.txt'), { encoding: 'utf8', flag: 'r' }),
  ({ p, at }) => p.readFile(at('file.txt'), { encoding: null }),
  ({ p, at }) => p.readFile(at('file.txt'), null),
  ({ p, at }) => p.readFile(at('file.txt'), {}),
  ({ p, at }) => p.readFile(at('file.txt'), 'hex'),
  ({ p, at }) => p.readFile(at('file.txt'), 'base64'),
  ({ p, at }) => p.readFile(at('bytes.bin'), 'base64url'),
  ({ p, at }) => p.readFile(at('bytes.bin'), { encoding: 'latin1' }),
  ({ p, at }) => p.readFile(at('bytes.bin'), 'binary'),
  ({ p, at }) => p.readFile(at('bytes.bin'), 'ascii'),
  ({ p, at }) => p.readFile(at('bytes.bin'), 'utf16le'),
  ({ p, at }) => p.readFile(at('bytes.bin'), 'ucs2'),
  ({ p, at }) => p.readFile(at('bytes.bin'), 'utf8'),
  ({ p, at }) => p.readFile(at('file.txt'), 'none' as never),
  ({ p, at }) => p.readFile(pathToFileURL(at('file.txt')), 'utf8'),
  ({ p, at }) => p.readFile(pathToFileURL(at('with space %.txt')), 'utf8'),
  ({ p, at }) => p.readFile(Buffer.from(at('file.txt')), 'utf8'),
  ({ p, at }) => p.readFile(at('link'), { encoding: 'utf8', signal: new AbortController().signal }),
  ({ p, at }) => p.readFile(at('file.txt'), { signal: AbortSignal.abort() }),
  ({ p, at }) => p.readFile(at('missing'), 'utf8'),
  ({ p, at }) => p.readFile(at('dir'), 'utf8'),
  ({ p }) => p.readFile(new URL('https://example.com/file.txt')),
  ({ p }) => p.readFile(new URL('file:///a%2Fb')),
  ({ fs, at }) => fs.readFileSync(at('file.txt')),
  ({ fs, at }) => fs.readFileSync(at('file.txt'), 'utf8').split('\n'),
  ({ fs, at }) => fs.readFileSync(at('file.txt'), { encoding: 'utf8', flag: 'r' }),
  ({ fs, at }) => fs.readFileSync(at('bytes.bin'), 'base64'),
  ({ fs, at }) => fs.readFileSync(new URL(`file://${at('file.txt')}`), 'utf8'),
  ({ fs, at }) => fs.readFileSync(Buffer.from(at('dir/inner.txt')), 'utf8'),
  ({ fs }) => {
    const { readFileSync } = fs;
    return typeof readFileSync;
  },
  async ({ fs, at }) => {
    const { readFile } = fs.promises;
    return readFile(at('file.txt'), 'utf8');
  },
];

const WRITES: readonly Habit[] = [
  ({ p, at }) => p.writeFile(at('new.txt'), text),
  ({ p, at }) => p.writeFile(at('new.txt'), text, 'utf8'),
  ({ p, at }) => p.writeFile(at('new.txt'), text, { encoding: 'utf8' }),
  ({ p, at }) => p.writeFile(at('new.txt'), text, { mode: 0o600 }),
  ({ p, at }) => p.writeFile(at('new.txt'), text, { mode: '600' }),
  ({ p, at }) => p.writeFile(at('new.txt'), new Uint8Array(Buffer.from('Hello Node.js'))),
  ({ p, at }) => p.writeFile(at('new.txt'), Buffer.from('Hello Node.js')),
  ({ p, at }) => p.writeFile(at('new.txt'), '68656c6c6f', 'hex'),
  ({ p, at }) => p.writeFile(at('new.txt'), 'aGVsbG8=', 'base64'),
  ({ p, at }) => p.writeFile(at('new.txt'), 'aGVsbG8_-w', { encoding: 'base64url' }),
  ({ p, at }) => p.writeFile(at('new.txt'), 'ÿé', 'latin1'),
  ({ p, at }) => p.writeFile(at('new.txt'), 'a€\ud83d', 'utf16le'),
  ({ p, at }) => p.writeFile(at('new.txt'), text, { signal: new AbortController().signal }),
  ({ p, at }) => p.writeFile(at('file.txt'), 'x', { flag: 'wx' }),
  ({ p, at }) => p.writeFile(at('new.txt'), 'x', { flag: 'w+' }),
  ({ p, at }) => p.writeFile(at('file.txt'), 'more', { flag: 'a' }),
  ({ p, at }) => p.writeFile(at('file.txt'), 'more', { flag: 'a+' }),
  ({ p, at }) => p.writeFile(at('file.txt'), 'JELLO', { flag: 'r+' }),
  ({ p, at }) => p.writeFile(at('file.txt'), 'x', { flush: true }),
  ({ p, at }) => p.writeFile(at('missing/new.txt'), 'x'),
  ({ p, at }) => p.writeFile(at('dir'), 'x'),
  ({ p, at }) => p.writeFile(pathToFileURL(at('new.txt')), 'x'),
  ({ p, at }) => p.appendFile(at('file.txt'), 'data to append'),
  ({ p, at }) => p.appendFile(at('file.txt'), 'data to append', 'utf8'),
  ({ p, at }) => p.appendFile(at('new.txt'), 'data', { encoding: 'utf8', mode: 0o600, flag: 'a' }),
  ({ fs, at }) => fs.writeFileSync(at('new.txt'), text, 'utf8'),
  ({ fs, at }) => fs.writeFileSync(at('new.txt'), text, { encoding: 'utf8', mode: 0o640, flag: 'w' }),
  ({ fs, at }) => fs.writeFileSync(at('new.txt'), 'ff', 'hex'),
  ({ fs, at }) => fs.appendFileSync(at('file.txt'), 'data to append', 'utf8'),
  ({ fs, at }) => fs.writeFileSync(at('new.txt'), JSON.stringify({ a: [1] }, null, 2)),
];

const DIRECTORIES: readonly Habit[] = [
  ({ p, at }) => p.mkdir(at('made')),
  ({ p, at }) => p.mkdir(at('made'), 0o700),
  ({ p, at }) => p.mkdir(at('made'), '700'),
  ({ p, at }) => p.mkdir(at('made'), { mode: 0o755 }),
  ({ p, at }) => p.mkdir(at('tmp/a/apple'), { recursive: true }),
  ({ p, at }) => p.mkdir(at('dir'), { recursive: true }),
  ({ p, at }) => p.mkdir(at('dir')),
  ({ p, at }) => p.mkdir(at('missing/made')),
  ({ p, at }) => p.mkdir(new URL(`file://${at('made')}/`)),
  ({ fs, at }) => fs.mkdirSync(at('a/b/c'), { recursive: true, mode: 0o755 }),
  ({ fs, at }) => fs.mkdirSync(at('made'), 0o711),
  async ({ p, at }) => (await p.mkdtemp(at('foo-'))).replace(/.{6}$/, '******'),
  async ({ p, at }) => (await p.mkdtemp(at('foo-'), 'utf8')).length - at('foo-').length,
  ({ fs, at }) => fs.mkdtempSync(at('foo-'), { encoding: 'utf8' }).startsWith(at('foo-')),
  async ({ p, at }) => (await p.readdir(at('.'))).sort(),
  async ({ p, at }) => (await p.readdir(at('dir'), 'utf8')).sort(),
  async ({ p, at }) => (await p.readdir(at('dir'), { encoding: 'utf8' })).sort(),
  async ({ p, at }) => (await p.readdir(at('dir'), { recursive: true })).sort(),
  async ({ p, at }) => (await p.readdir(at('dir'), { withFileTypes: true })).sort(byName),
  async ({ p, at }) =>
    (await p.readdir(at('.'), { withFileTypes: true })).filter((dirent) => dirent.isFile()).sort(byName),
  async ({ p, at }) => {
    const dirents = await p.readdir(at('dir'), { withFileTypes: true, recursive: true });
    return dirents.map((dirent) => join(dirent.parentPath, dirent.name)).sort();
  },
  async ({ p, at }) => {
    const dirents = await p.readdir(at('.'), { withFileTypes: true });
    return dirents
      .filter((dirent) => dirent.isDirectory() || dirent.isSymbolicLink())
      .map(({ name }) => name)
      .sort();
  },
  ({ p, at }) => p.readdir(at('missing')),
  ({ p, at }) => p.readdir(at('file.txt'), { withFileTypes: true }),
  ({ fs, at }) => fs.readdirSync(at('dir')).sort(),
  ({ fs, at }) => fs.readdirSync(at('.'), { recursive: true }).sort(),
  ({ fs, at }) =>
    fs
      .readdirSync(at('dir'), { withFileTypes: true })
      .map((dirent) => [dirent.name, dirent.isFile()])
      .sort(),
  ({ fs, at }) => fs.readdirSync(pathToFileURL(at('dir')), { withFileTypes: true }).map(({ parentPath }) => parentPath),
  async ({ p, at }) => {
    const names: string[] = [];
    for await (const dirent of await p.opendir(at('dir'))) names.push(dirent.name);
    return names.sort();
  },
  async ({ p, at }) => {
    const dir = await p.opendir(at('dir'), { recursive: true, bufferSize: 8 });
    const found: string[] = [];
    for await (const { parentPath, name } of dir) found.push(join(parentPath, name));
    return [dir.path, found.sort()];
  },
  async ({ p, at }) => {
    const dir = await p.opendir(at('empty'));
    const read = await dir.read();
    await dir.close();
    return read;
  },
  ({ p, at }) => p.opendir(at('missing')),
  ({ fs, at }) => {
    const dir = fs.opendirSync(at('dir'));
    const names = [dir.readSync()?.name, dir.readSync()?.name, dir.readSync()];
    dir.closeSync();
    return names.sort();
  },
  ({ p, at }) => p.rmdir(at('empty')),
  ({ p, at }) => p.rmdir(at('dir')),
];

const OTHERS: readonly Habit[] = [
  ({ p, at }) => p.access(at('file.txt')),
  ({ p, at }) => p.access(at('file.txt'), node.constants.R_OK | node.constants.W_OK),
  ({ p, at }) => p.access(at('missing')),
  ({ fs, at }) => fs.existsSync(at('file.txt')) && !fs.existsSync(at('missing')),
  ({ fs, at }) => fs.existsSync(pathToFileURL(at('file.txt'))),
  async ({ p, at }) => (await p.stat(at('link'))).isFile(),
  async ({ p, at }) => (await p.lstat(at('link'))).isSymbolicLink(),
  async ({ p, at }) => (await p.stat(at('dir'))).isDirectory() && !(await p.stat(at('dir'))).isFIFO(),
  ({ p, at }) => p.stat(at('missing')),
  ({ fs, at }) => fs.statSync(at('file.txt')).size,
  ({ fs, at }) => fs.statSync(Buffer.from(at('file.txt'))).mtime instanceof Date,
  ({ p, at }) => p.copyFile(at('file.txt'), at('copy.txt')),
  ({ p, at }) => p.copyFile(at('file.txt'), at('link'), node.constants.COPYFILE_EXCL),
  ({ p, at }) => p.copyFile(at('file.txt'), at('copy.txt'), node.constants.COPYFILE_FICLONE),
  ({ fs, at }) => fs.copyFileSync(at('file.txt'), at('bytes.bin'), node.constants.COPYFILE_EXCL),
  ({ p, at }) => p.cp(at('file.txt'), at('copy.txt')),
  ({ p, at }) => p.cp(at('dir'), at('copy'), { recursive: true }),
  ({ p, at }) => p.cp(at('dir'), at('copy'), { recursive: true, force: false, errorOnExist: true }),
  ({ fs, at }) => fs.cpSync(at('dir'), at('copy'), { recursive: true, preserveTimestamps: true }),
  ({ p, at }) => p.cp(at('.'), at('../copies'), { recursive: true, filter: () => false }),
  ({ p, at }) => p.cp(at('dir'), at('copy'), { recursive: true, filter: async (source) => !source.endsWith('sub') }),
  ({ fs, at }) => {
    const asked: string[] = [];
    const filter = (source: string, destination: string): boolean => asked.push(`${source} ${destination}`) !== 2;
    fs.cpSync(at('dir'), at('copy'), { recursive: true, filter: (from) => fs.statSync(from).isDirectory() });
    fs.cpSync(at('file.txt'), at('again.txt'), { filter });
    return asked;
  },
  ({ fs, at }) => fs.cpSync(at('dir'), at('copy'), { recursive: true, filter: (async () => true) as never }),
  ({ p, at }) => p.rename(at('file.txt'), at('renamed.txt')),
  ({ p, at }) => p.rename(at('missing'), at('renamed.txt')),
  ({ p, at }) => p.rename(pathToFileURL(at('file.txt')), Buffer.from(at('renamed.txt'))),
  ({ fs, at }) => fs.renameSync(at('dir'), at('moved')),
  ({ p, at }) => p.unlink(at('file.txt')),
  ({ fs, at }) => fs.unlinkSync(new URL(`file://${at('file.txt')}`)),
  ({ p, at }) => p.rm(at('file.txt')),
  ({ p, at }) => p.rm(at('dir'), { recursive: true, force: true }),
  ({ p, at }) => p.rm(at('dir'), { recursive: true, maxRetries: 3, retryDelay: 100 }),
  ({ p, at }) => p.rm(at('missing')),
  ({ fs, at }) => fs.rmSync(at('missing'), { force: true }),
  ({ p, at }) => p.symlink('./file.txt', at('again')),
  ({ p, at }) => p.symlink('./dir', at('again'), 'dir'),
  ({ fs, at }) => fs.symlinkSync('./file.txt', at('again'), 'file'),
  ({ p, at }) => p.readlink(at('link')),
  ({ p, at }) => p.readlink(at('link'), 'utf8'),
  ({ p, at }) => p.readlink(at('file.txt')),
  ({ p, at }) => p.realpath(at('link')),
  ({ fs, at }) => fs.realpathSync(at('dir/../link'), { encoding: 'utf8' }),
  ({ p, at }) => p.link(at('file.txt'), at('hard')),
  ({ p, at }) => p.chmod(at('file.txt'), 0o640),
  ({ p, at }) => p.chmod(at('file.txt'), '755'),
  ({ fs, at }) => fs.chmodSync(at('file.txt'), 'rwx'),
  ({ p, at }) => p.truncate(at('file.txt'), 4),
  ({ fs, at }) => fs.truncateSync(at('file.txt')),
  async ({ p, at }) => {
    await p.utimes(at('file.txt'), new Date(1_000), '20');
    const { atimeMs, mtimeMs } = await p.stat(at('file.txt'));
    return [atimeMs, mtimeMs];
  },
  async ({ p, at }) => {
    const handle = await p.open(at('file.txt'), 'r');
    try {
      return [await handle.readFile({ encoding: 'utf8' }), (await handle.stat()).size];
    } finally {
      await handle.close();
    }
  },
  async ({ p, at }) => {
    const handle = await p.open(at('new.txt'), 'w', 0o600);
    await handle.writeFile('data', 'utf8');
    await handle.close();
  },
];

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);

const HABITS = { READS, WRITES, DIRECTORIES, OTHERS };
const root = node.realpathSync(node.mkdtempSync(join(tmpdir(), 'scratchfs-habits-')));
const umask = process.umask(0o022);
const ours = createFileSystem();
const nodeFs = node as unknown as SyncFileSystem;
afterAll(() => {
  process.umask(umask);
  node.rmSync(root, { recursive: true });
});

function plant(fs: SyncFileSystem, at: World['at']): void {
  for (const path of ['dir/sub', 'empty']) fs.mkdirSync(at(path), { recursive: true });
  for (const name of ['file.txt', 'dir/inner.txt', 'dir/sub/deep.txt', 'with space %.txt'])
    fs.writeFileSync(at(name), text);
  fs.writeFileSync(at('bytes.bin'), new Uint8Array([0xff, 0xfe, 0x61, 0xc3, 0xa9, 0x00, 0xd8, 0xef, 0xbb, 0xbf, 0x80]));
  fs.symlinkSync('file.txt', at('link'));
}

/** Runs a call, and returns its value or its error, and the files afterwards. */
async function outcome(fs: SyncFileSystem, directory: string, habit: Habit): Promise<unknown> {
  const at = (name: string): string => join(root, directory, name);
  plant(fs, at);
  let result: unknown;
  try {
    result = shown(await habit({ fs, p: fs.promises, at }));
  } catch (error) {
    const { name, code } = error as { name: string; code?: unknown };
    result = name === 'TypeError' || name === 'AbortError' ? name : code;
  }
  const files: unknown[] = [];
  // Node 20 enters links when it lists plain names, but not when it lists them with their kinds.
  const found = fs.readdirSync(at('.'), { recursive: true, withFileTypes: true });
  for (const path of found.map(({ parentPath, name }) => relative(at('.'), join(parentPath, name))).sort()) {
    const stats = fs.lstatSync(at(path));
    const content = stats.isFile() ? Buffer.from(fs.readFileSync(at(path))).toString('hex') : '';
    const target = stats.isSymbolicLink() ? fs.readlinkSync(at(path)) : '';
    files.push([path.replace(/^foo-.{6}$/, 'foo-'), stats.isSymbolicLink() ? 0 : stats.mode, content, target]);
  }
  return { result, files };
}

/** Returns a value as plain data. */
function shown(value: unknown): unknown {
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('hex') };
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== 'object' || value === null || !('parentPath' in value)) return value;
  const { name, parentPath, isFile, isDirectory, isSymbolicLink, isFIFO, isSocket } = value as node.Dirent;
  const is = [isFile, isDirectory, isSymbolicLink, isFIFO, isSocket].map((ask) => ask.call(value));
  return { name, parentPath, is };
}

describe('a call as Node documents it', () => {
  it('is one of at least 120', () => {
    expect(Object.values(HABITS).flat().length).toBeGreaterThanOrEqual(120);
  });

  for (const [group, habits] of Object.entries(HABITS)) {
    it.each(habits.map((habit, i) => [String(habit).replace(/\s+/g, ' '), habit, `${group}-${i}`] as const))(
      'gives on ours what it gives on a disk: %s',
      async (_, habit, directory) => {
        const onDisk = await outcome(nodeFs, directory, habit);
        expect(await outcome(ours, directory, habit)).toEqual(onDisk);
      },
    );
  }
});

it('watch() takes the options of node', async () => {
  const fs = createFileSystem({ files: { '/dir/sub/a': '' } });
  for (const options of [{ persistent: false, recursive: true, encoding: 'utf8' }, 'utf8', null] as const) {
    const watcher = fs.promises.watch('/dir', options);
    const next = watcher.next();
    await fs.exists('/');
    await fs.writeFile('/dir/sub/a', 'x');
    await fs.appendFile('/dir/b', 'x');
    const isRecursive = typeof options === 'object' && options !== null;
    expect((await next).value).toMatchObject({ path: isRecursive ? '/dir/sub/a' : '/dir/b' });
    await watcher.return?.();
    await fs.rm('/dir/b');
  }
  expect(() => fs.watch('/dir', { encoding: 'hex' } as never)).toThrow(TypeError);
});
