import { join } from 'node:path';
import fastGlob from 'fast-glob';
import { fdir } from 'fdir';
import { glob, globStream, globSync } from 'glob';
import { glob as tinyGlob, globSync as tinyGlobSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';
import { type Ground, onBoth, writeFiles } from './grounds.js';

/** Creates a project with links to a file, a directory, nothing and an ancestor, and with hidden names. */
function makeProject(ground: Ground): void {
  const { fs, root } = ground;
  writeFiles(ground, {
    'src/index.ts': 'export {}',
    'src/util/path.ts': 'export {}',
    'src/util/path.test.ts': 'test',
    'src/util/.hidden.ts': 'hidden',
    'src/façade/été.ts': 'é',
    'docs/[a].md': 'brackets',
    'docs/b.md': 'b',
    '.config/settings.json': '{}',
    'node_modules/dep/index.js': 'dep',
    ['__proto__']: 'a name like any other',
    'constructor/prototype.ts': 'too',
  });
  fs.mkdirSync(join(root, 'empty'));
  fs.symlinkSync('src/index.ts', join(root, 'link.ts'));
  fs.symlinkSync('src/util', join(root, 'linked'));
  fs.symlinkSync('nowhere.ts', join(root, 'dangling.ts'));
  fs.symlinkSync('..', join(root, 'src/up'));
}

const relative = (root: string) => (path: string) => path.replace(`${root}/`, '').replaceAll('\\', '/');
const sorted = (paths: readonly string[]) => [...paths].sort();

describe('glob', () => {
  it('finds the same with promises, sync, as a stream, and as objects with their kind', async () => {
    const { answer } = await onBoth(async (ground) => {
      makeProject(ground);
      const options = { fs: ground.fs, cwd: ground.root } as const;
      const streamed: string[] = [];
      for await (const path of globStream('**/*.{ts,md}', { ...options, dot: true })) streamed.push(path);
      const objects = await glob('**', { ...options, withFileTypes: true, stat: true, ignore: 'node_modules/**' });
      return {
        promised: sorted(await glob('**/*.ts', options)),
        synchronous: sorted(globSync('**/*.ts', options)),
        followed: sorted(await glob('src/**/*.ts', { ...options, follow: true, ignore: '**/node_modules/**' })),
        streamed: sorted(streamed),
        kinds: sorted(objects.map((path) => `${path.relative()} ${path.getType()} ${path.isFile() ? path.size : ''}`)),
        exact: await glob('docs/\\[a\\].md', options),
        none: await glob('nothing/**', options),
      };
    });
    expect(answer.promised).toEqual(answer.synchronous);
    expect(answer.promised).toContain('src/façade/été.ts');
    expect(answer.streamed).toContain('src/util/.hidden.ts');
    expect(answer.exact).toEqual(['docs/[a].md']);
    expect(answer.kinds).toContain('__proto__ File 21');
  });
});

describe('fast-glob', () => {
  it('finds the same with promises, sync and as a stream, through links and with stats', async () => {
    const { answer } = await onBoth(async (ground) => {
      makeProject(ground);
      const options = { fs: ground.fs as Partial<typeof import('node:fs')>, cwd: ground.root } as const;
      const streamed: string[] = [];
      for await (const path of fastGlob.stream('**/*.md', options)) streamed.push(String(path));
      const withStats = await fastGlob('src/**', {
        ...options,
        stats: true,
        onlyFiles: false,
        followSymbolicLinks: false,
      });
      return {
        promised: sorted(await fastGlob(['**/*.ts', '!**/*.test.ts'], { ...options, followSymbolicLinks: false })),
        synchronous: sorted(fastGlob.sync(['**/*.ts', '!**/*.test.ts'], { ...options, followSymbolicLinks: false })),
        throughLinks: sorted(await fastGlob('linked/**', options)),
        directories: sorted(await fastGlob('**', { ...options, onlyDirectories: true, dot: true, deep: 2 })),
        streamed: sorted(streamed),
        stats: sorted(
          withStats.map(({ path, stats }) => `${path} ${stats?.isFile()} ${stats?.isFile() && stats.size}`),
        ),
      };
    });
    expect(answer.promised).toEqual(answer.synchronous);
    expect(answer.throughLinks).toEqual(['linked/path.test.ts', 'linked/path.ts']);
    expect(answer.directories).toContain('.config');
  });
});

describe('tinyglobby', () => {
  it('finds the same with promises and sync', async () => {
    const { answer } = await onBoth(async (ground) => {
      makeProject(ground);
      const options = { fs: ground.fs, cwd: ground.root, followSymbolicLinks: false } as const;
      return {
        promised: sorted(await tinyGlob('**/*.ts', options)),
        synchronous: sorted(tinyGlobSync('**/*.ts', options)),
        directories: sorted(await tinyGlob('**', { ...options, onlyDirectories: true, dot: true })),
        throughLinks: sorted(await tinyGlob('linked/*', { ...options, followSymbolicLinks: true })),
        absolute: sorted(await tinyGlob('docs/*', { ...options, absolute: true })).map(relative(ground.root)),
      };
    });
    expect(answer.promised).toEqual(answer.synchronous);
    expect(answer.promised).toContain('src/index.ts');
    expect(answer.throughLinks).toEqual(['linked/path.test.ts', 'linked/path.ts']);
    expect(answer.absolute).toEqual(['docs/[a].md', 'docs/b.md']);
  });
});

describe('fdir', () => {
  it('crawls the same with promises and sync, through links or not, in groups and as counts', async () => {
    const { answer } = await onBoth(async (ground) => {
      makeProject(ground);
      const { fs, root } = ground;
      const crawl = () => new fdir({ fs }).withFullPaths();
      return {
        promised: sorted(await crawl().crawl(root).withPromise()).map(relative(root)),
        synchronous: sorted(crawl().crawl(root).sync()).map(relative(root)),
        resolved: sorted(await crawl().withSymlinks({ resolvePaths: true }).crawl(join(root, 'linked')).withPromise()),
        directories: sorted(await crawl().onlyDirs().crawl(root).withPromise()).map(relative(root)),
        groups: (await crawl().group().crawl(join(root, 'src')).withPromise())
          .map(({ directory, files }) => `${relative(root)(directory)} ${sorted(files.map(relative(root)))}`)
          .sort(),
        counts: String(Object.values(await crawl().onlyCounts().crawl(root).withPromise())),
      };
    });
    expect(answer.promised).toEqual(answer.synchronous);
    expect(answer.counts).toBe('15,10');
    expect(answer.promised).toContain('constructor/prototype.ts');
  });
});
