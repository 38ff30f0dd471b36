import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { avoidedPhrases, mayContainAvoidedPhrases } from './rules.js';
import { filesInGit, root } from './sources.js';

/** A piece of prose and the line it starts in. */
type Prose = readonly [line: number, text: string];

const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length;
const withoutCode = (text: string): string => text.replace(/`[^`\n]*`/g, '``');

/** Returns the lines of Markdown outside of fences, indented code and code spans. */
function fromMarkdown(text: string): Prose[] {
  const found: Prose[] = [];
  let isFenced = false;
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*```/.test(line)) isFenced = !isFenced;
    else if (!isFenced && !/^ {4}/.test(line)) found.push([index + 1, withoutCode(line)]);
  }
  return found;
}

/** Returns the comments of a source file, and the titles of its tests. */
function fromSource(text: string, path: string): Prose[] {
  const comment = path.endsWith('.lua')
    ? /(?<![^\s])--(?!\[\[)(.*)$/gm
    : /\/\*\*?([\s\S]*?)\*\/|(?<![^\s])\/\/ ?(.*)$/gm;
  const title = /\b(?:it|test|describe)(?:\.\w+)*(?:\([^()]*\))?\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g;
  const comments = [...text.matchAll(comment)].map(
    (match): Prose => [lineOf(text, match.index), match[1] ?? match[2] ?? ''],
  );
  const titles = path.endsWith('.test.ts') ? [...text.matchAll(title)] : [];
  return [
    ...comments.map(([line, body]): Prose => [line, withoutCode(body)]),
    ...titles.map((match): Prose => [lineOf(text, match.index), match[2] ?? '']),
  ];
}

/** Returns the avoided phrases in a file, as `path:line: "phrase"; write …`. */
function complaints(path: string, text: string): string[] {
  const prose = path.endsWith('.md') ? fromMarkdown(text) : fromSource(text, path);
  return prose.flatMap(([line, body]) =>
    avoidedPhrases.flatMap(({ phrase, instead }) => {
      const found = phrase.exec(body);
      return found === null ? [] : [`${path}:${line}: "${found[0]}"; write ${instead}`];
    }),
  );
}

describe('the language', () => {
  it('of comments, test titles and pages avoids the phrases', () => {
    const files = filesInGit().filter(
      (path) =>
        /\.(ts|mjs|md|lua)$/.test(path) && !path.includes('/fixtures/') && !mayContainAvoidedPhrases.includes(path),
    );
    expect(files.length).toBeGreaterThan(1_000);
    expect(files.flatMap((path) => complaints(path, readFileSync(join(root, path), 'utf8')))).toEqual([]);
  });
});

describe('the language check', () => {
  it.each([
    ['a doc comment', 'a.ts', '/** Answers the node. */\nconst a = 1;', 'a.ts:1: "Answers"'],
    ['a second line', 'a.ts', '/**\n * Reads it.\n * What lies beneath stays.\n */', 'a.ts:1: "beneath"'],
    ['a line comment', 'a.ts', 'f(); // over a far storage', 'a.ts:1: "far storage"'],
    ['a comment of Lua', 'a.lua', 'local a = 1\n-- G7 holds', 'a.lua:2: "G7"'],
    ['a test title', 'a.test.ts', "it('answers null', () => {});", 'a.test.ts:1: "answers"'],
    ['a title of a table', 'a.test.ts', "it.each(rows)('%s answers null', () => {});", 'a.test.ts:1: "answers"'],
    ['a sentence of Markdown', 'a.md', '# A\n\nIt answered.', 'a.md:3: "answered"'],
  ])('finds a phrase in %s', (_, path, text, expected) => {
    expect(complaints(path, text)).toEqual([expect.stringContaining(expected)]);
  });

  it('ignores code', () => {
    expect(complaints('a.md', 'See `answers`.\n\n```ts\nanswers();\n```\n\n    answers\n')).toEqual([]);
    expect(complaints('a.ts', "const answers = 'beneath'; // calls `answers`\nconst url = 'http://beneath';")).toEqual(
      [],
    );
  });
});
