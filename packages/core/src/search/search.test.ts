import { describe, expect, test } from 'vitest';
import { asyncStorage, backendOf } from '../async-storage.js';
import type { Backend, LoadRequest } from '../backend.js';
import { openFileSystem } from '../create-file-system.js';
import { rootMeta } from '../engine/defaults.js';
import { MemoryExecutor } from '../engine/memory/memory-executor.js';
import { ExecutorSyncStorage } from '../executor-storage.js';
import type { FileSystem, SyncFileSystem } from '../file-system.js';
import { compileGlob, glob, globSync, grep, grepSync } from '../search.js';

const FILES = {
  '/README.md': '# Title\n',
  '/src/index.ts': "import { a } from './a.js';\nexport { a };\n",
  '/src/a.ts': 'export const a = 1; // TODO\n',
  '/src/a.test.ts': 'test a\n',
  '/src/lib/deep/b.ts': 'one\ntwo TODO\nthree\n',
  '/src/.hidden/c.ts': 'TODO hidden\n',
  '/src/.env': 'TODO=1\n',
  '/docs/[a]/x.md': 'todo\r\nTODO\r\n',
  '/docs/binary': Uint8Array.of(84, 79, 68, 79, 0),
};

const storageOf = (files: Record<string, string | Uint8Array> = FILES) => {
  const storage = new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0);
  openFileSystem(storage, { files });
  return storage;
};
const open = (files?: Record<string, string | Uint8Array>): SyncFileSystem => openFileSystem(storageOf(files));

async function openFar(files?: Record<string, string | Uint8Array>) {
  const near = backendOf(storageOf(files));
  const requests: (readonly LoadRequest[])[] = [];
  const backend: Backend = {
    capabilities: near.capabilities,
    load(list, call) {
      requests.push(list.slice());
      return near.load(list, call);
    },
    commit: (batch, call) => near.commit(batch, call),
    outcome: (id, call) => near.outcome(id, call),
    close: () => near.close(),
  };
  const fileSystem: FileSystem = await openFileSystem(asyncStorage(backend));
  return { fileSystem, requests };
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('glob', () => {
  const found = (patterns: string | string[], options?: Parameters<typeof globSync>[2]) => [
    ...globSync(open(), patterns, options),
  ];

  test('returns absolute paths, parents first, sorted', () => {
    expect(found('**/*.ts')).toEqual(['/src/a.test.ts', '/src/a.ts', '/src/index.ts', '/src/lib/deep/b.ts']);
    expect(found('src/**')).toEqual([
      '/src',
      '/src/a.test.ts',
      '/src/a.ts',
      '/src/index.ts',
      '/src/lib',
      '/src/lib/deep',
      '/src/lib/deep/b.ts',
    ]);
    expect(found('*')).toEqual(['/README.md', '/docs', '/src']);
    expect(found('*/')).toEqual(['/docs', '/src']);
  });

  test('leaves out what is excluded, and everything in it', () => {
    const all = found('**', { dot: true });
    expect(found('**', { dot: true, exclude: 'src' })).toEqual(all.filter((path) => !path.startsWith('/src')));
    expect(found('**', { exclude: ['**/*.ts', 'docs/'] })).toEqual(['/README.md', '/src', '/src/lib', '/src/lib/deep']);
    expect(found('**', { dot: true, exclude: ['*/*'] })).toEqual(['/README.md', '/docs', '/src']);
    expect(found('src/**', { dot: true, exclude: ['**/*e*/**', '**/.*'] })).toEqual([
      '/src',
      '/src/a.test.ts',
      '/src/a.ts',
      '/src/index.ts',
      '/src/lib',
    ]);
    expect(found('**/*.ts', { cwd: '/src', exclude: '{lib,@(a|b).ts}' })).toEqual(['/src/a.test.ts', '/src/index.ts']);
    expect(found('src/lib/**', { exclude: '**/lib' })).toEqual([]);
    expect(found('src/lib/**', { exclude: '/src/lib/*/b*' })).toEqual(['/src/lib', '/src/lib/deep']);
    expect(found('**', { exclude: [] })).toEqual(found('**'));
    expect(() => found('**', { exclude: 5 as unknown as string })).toThrow(TypeError);
    expect(() => found('**', { exclude: '!(a)' })).toThrow(RangeError);
  });

  test('does not load what is excluded', async () => {
    const { fileSystem, requests } = await openFar();
    await collect(glob(fileSystem, '**/*.md', { exclude: ['src'] }));
    expect(JSON.stringify(requests)).not.toContain('/src');
    await collect(grep(fileSystem, 'TODO', { exclude: ['src'] }));
    expect(JSON.stringify(requests)).not.toContain('/src');
  });

  test('takes several patterns, each path once', () => {
    expect(found(['src/*.ts', 'README*', '**/a.ts', '/docs/**/*.md'])).toEqual([
      '/README.md',
      '/docs/[a]/x.md',
      '/src/a.test.ts',
      '/src/a.ts',
      '/src/index.ts',
    ]);
    expect(found([])).toEqual([]);
  });

  test('relative patterns begin at cwd, whose names are literal', () => {
    expect(found('*.md', { cwd: '/docs/[a]' })).toEqual(['/docs/[a]/x.md']);
    expect(found('../src/?.ts', { cwd: '/docs' })).toEqual(['/src/a.ts']);
    expect(found('/src/?.ts', { cwd: '/docs' })).toEqual(['/src/a.ts']);
    expect(found('../../../../RE*', { cwd: 'docs' })).toEqual(['/README.md']);
    expect(found('**', { cwd: '/src/lib' })).toEqual(['/src/lib/deep', '/src/lib/deep/b.ts']);
    expect(found('.', { cwd: '/src' })).toEqual([]);
    expect(found('src\\*.ts', { cwd: '\\' })).toHaveLength(3);
  });

  test('shows hidden names with the `dot` option or a dot in the pattern', () => {
    expect(found('src/.*')).toEqual(['/src/.env', '/src/.hidden']);
    expect(found('**/c.ts', { dot: true })).toEqual(['/src/.hidden/c.ts']);
    expect(found('**/c.ts')).toEqual([]);
  });

  test('onlyFiles leaves out directories', () => {
    expect(found('docs/**', { onlyFiles: true })).toEqual(['/docs/[a]/x.md', '/docs/binary']);
  });

  test('follows links before the first wildcard only, so it cannot loop', () => {
    const fs = open({ '/real/sub/x': '1' });
    fs.symlinkSync('/real', '/link');
    fs.symlinkSync('..', '/real/up');
    expect([...globSync(fs, 'link/**')]).toEqual(['/link', '/link/sub', '/link/sub/x', '/link/up']);
    expect([...globSync(fs, '**')]).toEqual(['/link', '/real', '/real/sub', '/real/sub/x', '/real/up']);
    expect([...globSync(fs, 'l*/*')]).toEqual([]);
    expect([...globSync(fs, 'real/up/')]).toEqual(['/real/up']);
  });

  test('missing paths match nothing', () => {
    expect(found('nothing/**')).toEqual([]);
    expect(found('README.md/**')).toEqual([]);
    expect(found('**', { cwd: '/nothing' })).toEqual([]);
  });

  test('enters only directories in which an entry may match', async () => {
    const { fileSystem, requests } = await openFar();
    expect(await collect(glob(fileSystem, 'src/*.ts'))).toEqual(['/src/a.test.ts', '/src/a.ts', '/src/index.ts']);
    const listed = requests.flat().flatMap((request) => (request.kind === 'path' ? [] : [request.at.path]));
    expect(listed).toEqual(['/src']);
  });

  test('lists one state, even if the caller changes files while it iterates', () => {
    const fs = open();
    const paths: string[] = [];
    for (const path of globSync(fs, '**/*.ts')) {
      paths.push(path);
      fs.rmSync('/src', { recursive: true, force: true });
    }
    expect(paths).toHaveLength(4);
  });

  test('agrees with compileGlob over every path', () => {
    const fs = open();
    const all = [...fs.walkSync('/')];
    for (const pattern of ['**', '**/*.ts', '*/*', 'src/**/', '{src,docs}/**/?.*', '**/{a,b}*', 's*/**/d*/**']) {
      for (const dot of [false, true]) {
        const compiled = compileGlob(pattern, { dot });
        const expected = all.filter((entry) => compiled.matches(entry.path.slice(1), entry.isDirectory));
        expect([...globSync(fs, pattern, { dot })]).toEqual(expected.map((entry) => entry.path));
      }
    }
  });

  test('refuses invalid patterns and options synchronously', () => {
    const fs = open();
    expect(() => glob(fs, undefined as never)).toThrow(TypeError);
    expect(() => glob(fs, [1] as never)).toThrow(TypeError);
    expect(() => glob(fs, '')).toThrow(RangeError);
    expect(() => globSync(fs, '*', { cdw: '/' } as never)).toThrow(/no option 'cdw'/);
    expect(() => globSync(fs, '*', null as never)).toThrow(TypeError);
    expect(() => globSync(fs, '*', { dot: 'yes' } as never)).toThrow(TypeError);
  });

  test('stops when its signal aborts', async () => {
    await expect(collect(glob(open(), '**', { signal: AbortSignal.abort(new Error('stop')) }))).rejects.toThrow('stop');
  });
});

describe('grep', () => {
  const found = (query: Parameters<typeof grepSync>[1], options?: Parameters<typeof grepSync>[2]) =>
    [...grepSync(open(), query, options)].map((match) => `${match.path}:${match.line}:${match.column}:${match.text}`);

  test('returns matching lines in file order and skips binary and hidden files', () => {
    expect(found('TODO')).toEqual([
      '/docs/[a]/x.md:2:1:TODO',
      '/src/a.ts:1:24:export const a = 1; // TODO',
      '/src/lib/deep/b.ts:2:5:two TODO',
    ]);
    expect(found('TODO', { dot: true })).toHaveLength(5);
    expect(found('TODO', { exclude: ['docs', '**/deep'] })).toEqual(['/src/a.ts:1:24:export const a = 1; // TODO']);
    expect(found('TODO', { paths: ['/src/a.ts', '/docs'], exclude: '**' })).toHaveLength(1);
    expect(found('TODO', { paths: '/src', glob: '**/*.ts', exclude: 'lib' })).toHaveLength(1);
    expect(found('todo', { ignoreCase: true, glob: '**/*.md' })).toHaveLength(2);
  });

  test('returns context and ranges within the limits', () => {
    const [match] = grepSync(open(), 'TODO', { paths: '/src/lib', context: 1 });
    expect(match).toEqual({
      path: '/src/lib/deep/b.ts',
      line: 2,
      column: 5,
      text: 'two TODO',
      ranges: [{ start: 4, end: 8 }],
      before: ['one'],
      after: ['three'],
    });
    expect(found('TODO', { maxMatches: 2 })).toHaveLength(2);
    const many = open({ '/a': 'x\n'.repeat(5000), '/b': `${'y'.repeat(5000)}x` });
    expect([...grepSync(many, 'x')]).toHaveLength(1000);
    const [long] = grepSync(many, 'x', { paths: '/b' });
    expect(long?.text.length).toBe(501);
    expect([...grepSync(many, 'x', { maxFileSize: 100 })]).toEqual([]);
  });

  test('searches the given paths, each once', () => {
    expect(found('TODO', { paths: ['/src/lib', '/src/a.ts'] })).toEqual([
      '/src/lib/deep/b.ts:2:5:two TODO',
      '/src/a.ts:1:24:export const a = 1; // TODO',
    ]);
    expect(found('TODO', { paths: ['/src', '/src/lib/', 'src/a.ts'], glob: '*.ts' })).toHaveLength(1);
    expect(found('TODO', { paths: ['/src', '/src/lib/deep', '/src'], dot: true })).toEqual(
      found('TODO', { paths: '/src', dot: true }),
    );
    expect(found('TODO', { paths: '/src/.env' })).toHaveLength(1);
    expect(() => found('x', { paths: '/nothing' })).toThrow('ENOENT');
  });

  test.each<[string, string, Parameters<typeof grepSync>[2]]>([
    ['with a leading dot', '/src/.env', {}],
    ['in a directory with a leading dot', '/src/.hidden', {}],
    ['that is excluded', '/src/a.ts', { exclude: '**/*.ts' }],
    ['that the patterns do not match', '/src/a.ts', { glob: '*.md' }],
  ])('searches a path %s, also beside a directory above it', (_, path, options) => {
    const alone = found('TODO', { ...options, paths: path });
    expect(alone).toHaveLength(1);
    expect(found('TODO', { ...options, paths: ['/', path] })).toEqual(expect.arrayContaining(alone));
  });

  test('accepts a matcher of the caller', () => {
    const matcher = { find: (line: string) => (line.endsWith('e') ? [{ start: 0, end: 1 }] : null) };
    expect(found(matcher, { paths: '/src/lib' })).toEqual([
      '/src/lib/deep/b.ts:1:1:one',
      '/src/lib/deep/b.ts:3:1:three',
    ]);
    const failing = {
      find: () => {
        throw new Error('mine');
      },
    };
    expect(() => found(failing)).toThrow('mine');
  });

  test('loads the contents of a remote storage in few requests', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, i) => [`/d${i % 7}/f${i}`, `line\nneedle ${i}\n`]),
    );
    const { fileSystem, requests } = await openFar(files);
    const matches = await collect(grep(fileSystem, 'needle'));
    expect(matches.map((match) => match.path)).toEqual([...globSync(open(files), '**', { onlyFiles: true })]);
    expect(requests.length).toBeLessThan(8);
  });

  test('returns the same on a remote storage', async () => {
    const { fileSystem } = await openFar();
    const options = { context: 2, dot: true, ignoreCase: true };
    expect(await collect(grep(fileSystem, 'todo', options))).toEqual([...grepSync(open(), 'todo', options)]);
    await expect(collect(grep(fileSystem, 'a', { paths: '/none' }))).rejects.toThrow('ENOENT');
  });

  test.each([
    ['in memory', async () => open()],
    ['on a remote storage', async () => (await openFar()).fileSystem],
  ] as const)('inside a transaction, searched files count as read, %s', async (_, make) => {
    const fs: FileSystem = await make();
    const found: number[] = [];
    await fs.transaction(async (inside) => {
      const matches = await collect(grep(inside, 'TODO', { paths: '/src' }));
      if (found.push(matches.length) === 1) await fs.writeFile('/src/index.ts', '// TODO');
      await inside.writeFile('/found', String(matches.length));
    });
    expect([found, await fs.readText('/found')]).toEqual([[2, 3], '3']);
  });

  test('a file of holes is binary, and a file above the size limit is skipped', () => {
    const fs = open();
    for (const size of [2 ** 27, 2 ** 40]) {
      fs.truncateSync('/src/a.ts', size);
      expect([...grepSync(fs, 'TODO', { paths: '/src/a.ts' })]).toEqual([]);
    }
  });

  test('refuses invalid arguments synchronously', () => {
    const fs = open();
    expect(() => grep(fs, /a/ as never)).toThrow(/re2js/);
    expect(() => grep(fs, 'a', { contxt: 1 } as never)).toThrow(/no option 'contxt'/);
    expect(() => grep(fs, 'a', { context: 101 })).toThrow(RangeError);
    expect(() => grep(fs, 'a', { maxMatches: 0 })).toThrow(RangeError);
    expect(() => grep(fs, 'a', { paths: [1] } as never)).toThrow(TypeError);
  });

  test('yields to the event loop while it searches, and stops when its signal aborts', async () => {
    const fs = open(
      Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`/f${i}`, 'nothing here\n'.repeat(20_000)])),
    );
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('stop')), 1);
    // On a fast machine one search may end before its first pause is due.
    const searches = async (): Promise<void> => {
      for (let i = 0; i < 100; i++) await collect(grep(fs, 'needle', { signal: controller.signal, ignoreCase: true }));
    };
    await expect(searches()).rejects.toThrow('stop');
  });
});
