import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { SyncFileSystem } from 'scratchfs';
import type TypeScript from 'typescript';

const require = createRequire(import.meta.url);

/** A compiler diagnostic. */
export interface Problem {
  readonly file: string;
  readonly line: number;
  readonly code: number;
  readonly message: string;
}

/** Folder of the compiler's own declarations; nothing else that it reads comes from the disk. */
const LIBRARY = '/.typescript';

/** The TypeScript compiler over the files of a filesystem in memory. */
export class VirtualCompiler {
  readonly #parsed = new Map<string, { text: string; file: TypeScript.SourceFile }>();
  readonly #libraryFolder = dirname(require.resolve('typescript'));
  /** Number of files that the last check read from the filesystem. */
  filesRead = 0;

  private constructor(readonly ts: typeof TypeScript) {}

  /** Loads the compiler on demand, by `require`: a TypeScript loader would parse its 9 MB first. */
  static load(): VirtualCompiler {
    return new VirtualCompiler(require('typescript'));
  }

  /** Type-checks files and everything that they import. */
  check(fs: SyncFileSystem, paths: readonly string[]): Problem[] {
    const { ts } = this;
    const options: TypeScript.CompilerOptions = {
      strict: true,
      noEmit: true,
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.esnext.d.ts', 'lib.dom.d.ts'],
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      allowImportingTsExtensions: true,
      jsx: ts.JsxEmit.Preserve,
      resolveJsonModule: true,
      skipLibCheck: true,
      types: [],
    };
    const program = ts.createProgram(paths, options, this.#host(fs));
    this.filesRead = program.getSourceFiles().filter(({ fileName }) => !fileName.startsWith(LIBRARY)).length;
    const checked = paths.flatMap((path) => program.getSourceFile(path) ?? []);
    const diagnostics = [
      ...program.getOptionsDiagnostics(),
      ...checked.flatMap((file) => program.getSyntacticDiagnostics(file)),
      ...checked.flatMap((file) => program.getSemanticDiagnostics(file)),
    ];
    return diagnostics
      .filter(({ category }) => category === ts.DiagnosticCategory.Error)
      .map((one) => this.#toProblem(one));
  }

  #host(fs: SyncFileSystem): TypeScript.CompilerHost {
    const read = (path: string) => {
      if (path.startsWith(`${LIBRARY}/`)) return this.#readLibrary(path);
      return fs.isFileSync(path) ? fs.readTextSync(path) : undefined;
    };
    return {
      fileExists: (path) => (path.startsWith(`${LIBRARY}/`) ? read(path) !== undefined : fs.isFileSync(path)),
      readFile: read,
      directoryExists: (path) => fs.isDirectorySync(path),
      getDirectories: (path) =>
        fs
          .readdirSync(path, { withFileTypes: true })
          .filter((one) => one.isDirectory)
          .map(({ name }) => name),
      realpath: (path) => (fs.existsSync(path) ? fs.realpathSync(path) : path),
      getSourceFile: (path, version) => {
        const text = read(path);
        return text === undefined ? undefined : this.#parse(path, text, version);
      },
      getDefaultLibLocation: () => LIBRARY,
      getDefaultLibFileName: () => `${LIBRARY}/lib.esnext.d.ts`,
      getCurrentDirectory: () => '/',
      getCanonicalFileName: (path) => path,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => '\n',
      writeFile: () => {
        throw new Error('The compiler is here to check, not to write');
      },
    };
  }

  /** Parses a file, once for all checks unless it changes. */
  #parse(
    path: string,
    text: string,
    version: TypeScript.ScriptTarget | TypeScript.CreateSourceFileOptions,
  ): TypeScript.SourceFile {
    const known = this.#parsed.get(path);
    if (known?.text === text) return known.file;
    const file = this.ts.createSourceFile(path, text, version);
    this.#parsed.set(path, { text, file });
    return file;
  }

  #readLibrary(path: string): string | undefined {
    const known = this.#parsed.get(path);
    if (known !== undefined) return known.text;
    try {
      return readFileSync(join(this.#libraryFolder, path.slice(LIBRARY.length + 1)), 'utf8');
    } catch {
      return undefined;
    }
  }

  #toProblem({ file, start, code, messageText }: TypeScript.Diagnostic): Problem {
    const message = typeof messageText === 'string' ? messageText : messageText.messageText;
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1;
    return { file: file?.fileName ?? '', line, code, message };
  }
}

/** Returns the problems that are more numerous than before, by file and code: the new ones. */
export function newProblems(before: readonly Problem[], after: readonly Problem[]): Problem[] {
  const known = new Map<string, number>();
  for (const { file, code } of before) known.set(`${file}\0${code}`, (known.get(`${file}\0${code}`) ?? 0) + 1);
  return after.filter(({ file, code }) => {
    const left = known.get(`${file}\0${code}`) ?? 0;
    if (left > 0) known.set(`${file}\0${code}`, left - 1);
    return left === 0;
  });
}
