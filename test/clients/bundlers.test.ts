import { dirname, join, resolve } from 'node:path';
import { runInNewContext } from 'node:vm';
import * as esbuild from 'esbuild';
import { type Plugin, type RollupFsModule, rollup } from 'rollup';
import { describe, expect, it } from 'vitest';
import webpack, { type Configuration, type Stats } from 'webpack';
import { type Ground, onBoth, writeFiles } from './grounds.js';

const sources = {
  'src/index.js':
    "import { greet } from './greet.js';\nimport { once } from 'dep';\nimport data from './data.json';\nglobalThis.said = once(() => greet(data.name));\n",
  'src/greet.js': "export const greet = (name) => 'Hello, ' + name;\nexport const unused = 'left out';\n",
  'src/data.json': '{ "name": "Ada" }',
  'packages/dep/package.json':
    '{ "name": "dep", "version": "1.0.0", "type": "module", "exports": { ".": "./lib.js" } }',
  'packages/dep/lib.js': 'export const once = (work) => work();\n',
};

/** Creates sources with a package linked into node_modules. */
function makeProject(ground: Ground): void {
  writeFiles(ground, sources);
  ground.fs.mkdirSync(join(ground.root, 'node_modules'));
  ground.fs.symlinkSync('../packages/dep', join(ground.root, 'node_modules/dep'));
}

/** Runs a bundle and returns the text that it stores in `globalThis.said`. */
function run({ fs, root }: Ground, path: string): string {
  const context: { said?: string } = {};
  runInNewContext(fs.readFileSync(join(root, path), 'utf8'), { globalThis: context });
  return String(context.said);
}

describe('webpack', () => {
  const configuration = ({ root }: Ground): Configuration => ({
    mode: 'production',
    context: root,
    entry: './src/index.js',
    output: { path: join(root, 'out/js'), filename: '[name].[contenthash].js', clean: true },
    devtool: 'source-map',
    optimization: { minimize: false, moduleIds: 'named', concatenateModules: false },
    cache: {
      type: 'filesystem',
      cacheDirectory: join(root, 'cache'),
      idleTimeout: 0,
      // By default the cache depends on webpack's own code, which is not in this filesystem.
      buildDependencies: { defaultWebpack: [] },
    },
    infrastructureLogging: { level: 'error' },
  });

  it('bundles from, into and with its cache in the filesystem, and rebuilds an edited file', {
    timeout: 600_000,
  }, async () => {
    const { answer, tree } = await onBoth(
      async (ground) => {
        makeProject(ground);
        const file = () =>
          ground.fs.readdirSync(join(ground.root, 'out/js')).find((name) => name.endsWith('.js')) ?? '';
        const compiler = compilerOn(ground, configuration(ground));
        const first = summary(await build(compiler));
        const said = run(ground, `out/js/${file()}`);
        writeFiles(ground, { 'src/greet.js': "export const greet = (name) => 'Good evening, ' + name;\n" });
        const second = summary(await build(compiler));
        const saidThen = run(ground, `out/js/${file()}`);
        await close(compiler);
        const again = compilerOn(ground, configuration(ground));
        const third = summary(await build(again));
        await close(again);
        return { first, said, second, saidThen, third, outputs: ground.fs.readdirSync(join(ground.root, 'out/js')) };
      },
      { leaveOut: /^\/cache\/.*\// },
    );
    expect(answer.first).toMatchObject({ errors: [], warnings: [] });
    expect(answer.first.built).toContain('./src/greet.js');
    expect(answer.said).toBe('Hello, Ada');
    expect(answer.second.built).toEqual(['./src/greet.js']);
    expect(answer.saidThen).toBe('Good evening, Ada');
    expect(answer.third.built).toEqual([]);
    expect(answer.outputs).toHaveLength(2);
    expect(Object.keys(tree)).toContain('/cache/default-production');
  });

  it('reports missing modules in its usual words', async () => {
    const { answer } = await onBoth(async (ground) => {
      writeFiles(ground, { 'src/index.js': "import './missing.js';\nimport 'nowhere';\n" });
      const compiler = compilerOn(ground, { ...configuration(ground), cache: false });
      const { errors } = summary(await build(compiler));
      await close(compiler);
      return errors;
    });
    expect(answer).toEqual([
      expect.stringContaining("Can't resolve './missing.js'"),
      expect.stringContaining("Can't resolve 'nowhere'"),
    ]);
  });

  /** Creates a compiler. The plugin is applied before webpack passes its filesystems to the cache. */
  function compilerOn({ fs }: Ground, configuration: Configuration): webpack.Compiler {
    const useFileSystem = {
      apply(compiler: webpack.Compiler): void {
        Object.assign(compiler, { inputFileSystem: fs, outputFileSystem: fs, intermediateFileSystem: fs });
      },
    };
    const compiler = webpack({ ...configuration, plugins: [useFileSystem] });
    if (compiler === null) throw new Error('webpack made no compiler');
    return compiler;
  }

  const build = (compiler: webpack.Compiler) =>
    new Promise<Stats>((resolve, reject) =>
      compiler.run((error, stats) => (error || !stats ? reject(error) : resolve(stats))),
    );
  const close = (compiler: webpack.Compiler) =>
    new Promise<void>((resolve, reject) => compiler.close((error) => (error ? reject(error) : resolve())));

  function summary(stats: Stats) {
    const {
      errors = [],
      warnings = [],
      modules = [],
    } = stats.toJson({ all: false, errors: true, warnings: true, modules: true, cachedModules: true });
    return {
      errors: errors.map(({ message }) => message),
      warnings: warnings.map(({ message }) => message),
      built: modules.filter(({ built, moduleType }) => built && moduleType !== 'runtime').map(({ name }) => name),
    };
  }
});

describe('rollup', () => {
  it('bundles through a plugin that reads from the filesystem, and writes the chunks into it', async () => {
    const { answer, tree } = await onBoth(async (ground) => {
      makeProject(ground);
      const { fs, root } = ground;
      const plugin: Plugin = {
        name: 'virtual-files',
        resolveId(source, importer) {
          if (source === 'dep') return fs.realpathSync(join(root, 'node_modules/dep/lib.js'));
          const path = importer === undefined ? source : join(dirname(importer), source);
          return fs.existsSync(path) ? path : null;
        },
        async load(id) {
          const text = await fs.promises.readFile(id, 'utf8');
          return id.endsWith('.json') ? `export default ${text}` : text;
        },
      };
      const bundle = await rollup({ input: join(root, 'src/index.js'), plugins: [plugin], onwarn: () => {} });
      const { output } = await bundle.generate({ format: 'iife', sourcemap: true });
      for (const part of output) {
        await fs.promises.mkdir(join(root, 'out'), { recursive: true });
        await fs.promises.writeFile(join(root, 'out', part.fileName), part.type === 'chunk' ? part.code : part.source);
      }
      await bundle.close();
      return run(ground, 'out/index.js');
    });
    expect(answer).toBe('Hello, Ada');
    expect(Object.keys(tree)).toContain('/out/index.js.map');
  });

  it('bundles without a plugin, given the filesystem as the option fs', async () => {
    const { answer } = await onBoth(async (ground) => {
      writeFiles(ground, {
        'index.js': "import { n } from './n.js';\nglobalThis.said = n;\n",
        'n.js': 'export const n = 1;',
      });
      const { fs, root } = ground;
      const bundle = await rollup({ input: join(root, 'index.js'), fs: fs.promises as unknown as RollupFsModule });
      await bundle.write({ file: join(root, 'out/bundle.js'), format: 'es' });
      return run(ground, 'out/bundle.js');
    });
    expect(answer).toBe('1');
  });
});

describe('esbuild', () => {
  it('bundles through a plugin that reads from the filesystem, and writes its files into it', async () => {
    const { answer, tree } = await onBoth(async (ground) => {
      makeProject(ground);
      const { fs, root } = ground;
      const plugin: esbuild.Plugin = {
        name: 'virtual-files',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^dep$/ }, () => ({
            path: fs.realpathSync(join(root, 'node_modules/dep/lib.js')),
            namespace: 'virtual',
          }));
          onResolve({ filter: /^[./]/ }, ({ path, resolveDir }) => ({
            path: resolve(resolveDir, path),
            namespace: 'virtual',
          }));
          onLoad({ filter: /.*/, namespace: 'virtual' }, async ({ path }) => ({
            contents: await fs.promises.readFile(path),
            loader: path.endsWith('.json') ? 'json' : 'js',
            resolveDir: dirname(path),
          }));
        },
      };
      const { outputFiles, errors } = await esbuild.build({
        entryPoints: [join(root, 'src/index.js')],
        bundle: true,
        format: 'iife',
        write: false,
        outdir: join(root, 'out'),
        plugins: [plugin],
      });
      for (const { path, contents } of outputFiles) {
        fs.mkdirSync(dirname(path), { recursive: true });
        fs.writeFileSync(path, contents);
      }
      return { errors, said: run(ground, 'out/index.js') };
    });
    expect(answer).toEqual({ errors: [], said: 'Hello, Ada' });
    expect(Object.keys(tree)).toContain('/out/index.js');
  });
});
