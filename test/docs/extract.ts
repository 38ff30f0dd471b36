import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Example {
  /** File and line, in the form that editors open. */
  readonly place: string;
  readonly code: string;
  /** False for fences marked `no-run`, of which only the types are checked. */
  readonly isRun: boolean;
  /** The texts that the example's `console.log(…); // → text` lines must print, in order. */
  readonly prints: readonly string[];
}

const FENCE = /^([ \t]*)```ts\b([^\n]*)\n([\s\S]*?)^[ \t]*```/gm;
const PROMISE = /console\.log\(.*\/\/ → (.*)$/gm;

function toExample(text: string, file: string, line: number, info: string): Example {
  return {
    place: `${file}:${line}`,
    code: text,
    isRun: !info.includes('no-run'),
    prints: [...text.matchAll(PROMISE)].map((match) => (match[1] ?? '').trim()),
  };
}

/** Returns the `ts` fences of a Markdown text. */
export function fromMarkdown(text: string, file: string, firstLine = 1): Example[] {
  return [...text.matchAll(FENCE)].map((match) => {
    const line = firstLine + text.slice(0, match.index).split('\n').length - 1;
    const [, indent = '', info = '', code = ''] = match;
    return toExample(code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''), file, line, info);
  });
}

/** Returns every `@example` of TSDoc in a source file, with or without a fence. */
export function fromSource(text: string, file: string): Example[] {
  const found: Example[] = [];
  const seen = new Set<number>();
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const visit = (node: ts.Node): void => {
    for (const tag of ts.getJSDocTags(node)) {
      if (tag.tagName.text !== 'example' || seen.has(tag.pos)) continue;
      seen.add(tag.pos);
      const line = tree.getLineAndCharacterOfPosition(tag.pos).line + 1;
      const comment = ts.getTextOfJSDocComment(tag.comment) ?? '';
      const fenced = fromMarkdown(`${comment}\n`, file, line);
      found.push(...(fenced.length > 0 ? fenced : [toExample(comment, file, line, '')]));
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

function list(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending) && !/(^|[\\/])(node_modules|dist)[\\/]/.test(file))
    .map((file) => join(folder, file));
}

/** Returns the examples in the README, AGENTS.md, the pages in `.github`, the packages' READMEs and their TSDoc. */
export function allExamples(): Example[] {
  const packages = readdirSync(join(root, 'packages')).map((name) => join('packages', name));
  const pages = [
    'README.md',
    'AGENTS.md',
    ...list('.github', '.md'),
    ...packages.map((folder) => join(folder, 'README.md')).filter((file) => existsSync(join(root, file))),
  ];
  const sources = packages
    .flatMap((folder) => list(join(folder, 'src'), '.ts'))
    .filter((file) => !file.endsWith('.test.ts'));
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const name = (file: string) => relative(root, join(root, file)).replaceAll('\\', '/');
  return [
    ...pages.flatMap((file) => fromMarkdown(read(file), name(file))),
    ...sources.flatMap((file) => fromSource(read(file), name(file))),
  ];
}
