import nodeFs from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { type Ground, onBoth, writeFiles } from './grounds.js';
import { runWith } from './load-with.js';

const program = createRequire(import.meta.url).resolve('typescript');
const compiler = nodeFs.readFileSync(program, 'utf8');
const library = ['lib.es5.d.ts', 'lib.decorators.d.ts', 'lib.decorators.legacy.d.ts'];

const project = {
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      target: 'es2022',
      module: 'esnext',
      moduleResolution: 'bundler',
      lib: ['es5'],
      types: [],
      strict: true,
      declaration: true,
      sourceMap: true,
      incremental: true,
      rootDir: 'src',
      outDir: 'out',
      libReplacement: false,
    },
    include: ['src/**/*'],
    exclude: ['src/**/*.skip.ts'],
  }),
  'src/index.ts':
    "import { area } from './shapes/square';\nimport type { Unit } from 'units';\nexport const a: Unit = area(3);\n",
  'src/shapes/square.ts': 'export function area(side: number): number {\n  return side * side;\n}\n',
  'src/wrong.ts': "export const text: string = 42;\nimport './missing';\n",
  'src/left.skip.ts': 'this is no TypeScript',
  'packages/units/package.json': '{ "name": "units", "version": "1.0.0", "types": "index.d.ts" }',
  'packages/units/index.d.ts': 'export type Unit = number;\n',
};

/** Creates the project above, with a package linked into node_modules, and the compiler's own declarations. */
function makeProject(ground: Ground): void {
  writeFiles(ground, project);
  ground.fs.mkdirSync(join(ground.root, 'node_modules'));
  ground.fs.symlinkSync('../packages/units', join(ground.root, 'node_modules/units'));
  for (const name of library) {
    writeFiles(ground, { [`lib/${name}`]: nodeFs.readFileSync(join(dirname(program), name)) });
  }
}

const messages = (diagnostics: readonly ts.Diagnostic[], root: string) =>
  diagnostics.map(({ code, file, messageText }) => {
    const place = file?.fileName.replace(`${root}/`, '');
    return `${place}: TS${code} ${ts.flattenDiagnosticMessageText(messageText, '\n').replaceAll(root, '')}`;
  });

describe('typescript', () => {
  it('checks and emits a program through a host', async () => {
    const { answer, tree } = await onBoth(async (ground) => {
      makeProject(ground);
      const { fs, root } = ground;
      const isKind = (path: string, kind: 'isFile' | 'isDirectory') =>
        fs.statSync(path, { throwIfNoEntry: false })?.[kind]() === true;
      const host: ts.CompilerHost = {
        fileExists: (path) => isKind(path, 'isFile'),
        directoryExists: (path) => isKind(path, 'isDirectory'),
        getDirectories: (path) =>
          fs.readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])),
        realpath: (path) => fs.realpathSync(path),
        readFile: (path) => fs.readFileSync(path, 'utf8'),
        writeFile: (path, text) => {
          fs.mkdirSync(dirname(path), { recursive: true });
          fs.writeFileSync(path, text);
        },
        getSourceFile: (path, options) =>
          isKind(path, 'isFile') ? ts.createSourceFile(path, fs.readFileSync(path, 'utf8'), options) : undefined,
        getDefaultLibFileName: () => join(root, 'lib/lib.es5.d.ts'),
        getDefaultLibLocation: () => join(root, 'lib'),
        getCurrentDirectory: () => root,
        getCanonicalFileName: (path) => path,
        useCaseSensitiveFileNames: () => true,
        getNewLine: () => '\n',
      };
      const { compilerOptions } = JSON.parse(project['tsconfig.json']);
      const { options } = ts.convertCompilerOptionsFromJson(compilerOptions, root);
      const rootNames = ['src/index.ts', 'src/wrong.ts'].map((path) => join(root, path));
      const made = ts.createProgram({ rootNames, options: { ...options, incremental: false }, host });
      const found = messages(ts.getPreEmitDiagnostics(made), root);
      return { found, emitted: !made.emit().emitSkipped, files: made.getSourceFiles().map(({ fileName }) => fileName) };
    });
    expect(answer.found).toEqual([
      "src/wrong.ts: TS2322 Type 'number' is not assignable to type 'string'.",
      expect.stringContaining('src/wrong.ts: TS2882'),
    ]);
    expect(answer.files.some((path) => path.endsWith('/packages/units/index.d.ts'))).toBe(true);
    expect(tree['/out/shapes/square.js']).toContain('return side * side;');
    expect(tree['/out/index.d.ts']).toContain('Unit');
  });

  it('builds a project through its own system, and after an edit only the changed part', async () => {
    const { answer, tree } = await onBoth(async (ground) => {
      makeProject(ground);
      ground.fs.rmSync(join(ground.root, 'src/wrong.ts'));
      // The compiler is one file and looks for its declarations beside itself.
      const mine = runWith<typeof ts>(ground.fs, compiler, join(ground.root, 'lib/typescript.js'));
      const build = () => {
        const found: ts.Diagnostic[] = [];
        const host = mine.createSolutionBuilderHost(mine.sys, undefined, (diagnostic) => found.push(diagnostic));
        const read: string[] = [];
        const { readFile } = host;
        host.readFile = (path) => {
          read.push(path.replace(`${ground.root}/`, ''));
          return readFile(path);
        };
        const builder = mine.createSolutionBuilder(host, [join(ground.root, 'tsconfig.json')], {});
        return {
          status: builder.build(),
          found: messages(found, ground.root),
          read: read.filter((path) => /^src/.test(path)),
        };
      };
      const first = build();
      const second = build();
      writeFiles(ground, { 'src/shapes/square.ts': 'export const area = (side: number): string => String(side);\n' });
      ground.fs.utimesSync(join(ground.root, 'src/shapes/square.ts'), 4e9, 4e9);
      return {
        first,
        second,
        third: build(),
        config: mine.sys.readDirectory(ground.root, ['.ts'], undefined, ['src/**/*']),
      };
    });
    expect(answer.first).toMatchObject({ status: 0, found: [] });
    expect(answer.first.read.sort()).toEqual(['src/index.ts', 'src/shapes/square.ts']);
    expect(answer.second).toMatchObject({ status: 0, read: [] });
    expect(answer.third.found).toEqual(["src/index.ts: TS2322 Type 'string' is not assignable to type 'number'."]);
    expect(answer.config.map((path) => path.slice(path.indexOf('/src/')))).toEqual([
      '/src/index.ts',
      '/src/left.skip.ts',
      '/src/shapes/square.ts',
    ]);
    expect(Object.keys(tree)).toContain('/tsconfig.tsbuildinfo');
  });
});
