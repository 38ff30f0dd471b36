import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { bundle } from './bundle.js';

const built = ['core', 'memory'].flatMap((name) => {
  const dist = new URL(`../../packages/${name}/dist/`, import.meta.url);
  return readdirSync(dist)
    .filter((file) => file.endsWith('.js'))
    .map((file) => [`${name}/dist/${file}`, readFileSync(new URL(file, dist), 'utf8')] as const);
});

/** Returns uses of Node modules, `require`, `import()` and evaluated code, found in the syntax tree. */
function offences(code: string): string[] {
  const tree = ts.createSourceFile('x.js', code, ts.ScriptTarget.ES2022, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      const specifier =
        node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier) ? node.moduleSpecifier.text : '';
      if (specifier.startsWith('node:') || builtinModules.includes(specifier)) found.push(`import of ${specifier}`);
    }
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      const callee = node.expression.getText(tree).replace(/^globalThis\./, '');
      if (callee === 'eval' || callee === 'Function' || callee === 'require') found.push(`${callee}()`);
      if (node.expression.kind === ts.SyntaxKind.ImportKeyword) found.push('import()');
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

const everything = [
  "export * as core from '@scratchfs/core'",
  "export * as snapshot from '@scratchfs/core/snapshot'",
  "export * as search from '@scratchfs/core/search'",
  "export * as diff from '@scratchfs/core/diff'",
  "export * as layers from '@scratchfs/core/layers'",
  "export * as workingCopy from '@scratchfs/core/working-copy'",
  "export * as memory from '@scratchfs/memory'",
  "export * as nodeFs from '@scratchfs/node-fs/web'",
].join(';');

describe('code built to run everywhere', () => {
  it('exists', () => {
    expect(built.length).toBeGreaterThanOrEqual(6);
  });

  it.each(built)('%s has no Node module and nothing that Workers forbid', (_, code) => {
    expect(offences(code)).toEqual([]);
  });

  it.each([
    ['browsers', []],
    ['Workers', ['workerd', 'worker']],
  ])('bundled for %s with all dependencies has none either', async (_, conditions) => {
    const { text } = await bundle(everything, conditions);
    expect(offences(text)).toEqual([]);
  });

  it('is reported if it does', () => {
    expect(
      offences("import 'node:fs'; import fs from 'fs'; eval('1'); new Function('return 1'); require('x')"),
    ).toEqual(['import of node:fs', 'import of fs', 'eval()', 'Function()', 'require()']);
  });
});
