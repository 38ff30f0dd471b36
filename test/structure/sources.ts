import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Import {
  readonly specifier: string;
}

export interface Source {
  /** Relative to the repository, with `/`. */
  readonly path: string;
  readonly packageName: string;
  readonly isTest: boolean;
  readonly tree: ts.SourceFile;
  readonly imports: readonly Import[];
}

export const packageNames = readdirSync(join(root, 'packages'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

/** Calls `visit` for `node` and every node under it. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

function importsOf(tree: ts.SourceFile): Import[] {
  const found: Import[] = [];
  walk(tree, (node) => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      found.push({ specifier: node.moduleSpecifier.text });
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
      found.push({ specifier: node.moduleSpecifier.text });
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const argument = node.arguments[0];
      found.push({ specifier: argument && ts.isStringLiteralLike(argument) ? argument.text : '?' });
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      found.push({ specifier: node.argument.literal.getText(tree).slice(1, -1) });
    }
  });
  return found;
}

/** Every TypeScript file in `packages/<name>/src`. */
export const sources: readonly Source[] = packageNames.flatMap((packageName) =>
  readdirSync(join(root, 'packages', packageName, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => {
      const absolute = join(root, 'packages', packageName, 'src', file);
      const tree = ts.createSourceFile(absolute, readFileSync(absolute, 'utf8'), ts.ScriptTarget.ES2022, true);
      const path = relative(root, absolute).replaceAll('\\', '/');
      return { path, packageName, isTest: isForTests(file), tree, imports: importsOf(tree) };
    }),
);

/** Reports whether a file is a test, or lies in a folder `testing/`. */
function isForTests(file: string): boolean {
  return file.endsWith('.test.ts') || file.split(/[\\/]/).includes('testing');
}

/** Returns the repository path of a relative import. */
export function target(source: Source, specifier: string): string {
  const path = join(dirname(source.path), specifier).replaceAll('\\', '/');
  return path.replace(/\.js$/, '.ts');
}

/** Returns the files that git tracks, and those that `git add --all` would add. */
export function filesInGit(): string[] {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return list.split('\0').filter((path) => path !== '');
}
