import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { currentPages } from './rules.js';
import { filesInGit, root, sources } from './sources.js';

const files = filesInGit();
/** Every capitalized word in the sources of the packages. */
const identifiers = new Set(sources.flatMap(({ tree }) => tree.text.match(/\b[A-Z]\w+/g) ?? []));

/** Names that stand for a file of the reader. */
const PLACEHOLDERS = ['program.ts', 'x.test.ts', 'x.long.test.ts'];

/** Returns the missing files among those that a page names in text, links and pictures. Examples are left out. */
function missingFiles(page: string): string[] {
  const named =
    page
      .replaceAll(/^```ts[\s\S]*?^```$/gm, '')
      .match(/(?<![\w/.-])(?:[\w-]+\/|\.ci\/|\.github\/)*[\w-]+(?:\.test|\.long\.test)?\.(?:ts|mjs|md|json)\b/g) ?? [];
  return [...new Set(named)].filter(
    (name) => !PLACEHOLDERS.includes(name) && !files.some((path) => path === name || path.endsWith(`/${name}`)),
  );
}

/** Returns the classes and types that a page names at the start of a code span and that no package has. */
function missingIdentifiers(page: string): string[] {
  const named = [...page.matchAll(/`([A-Z][a-z]\w*)/g)].map(([, name]) => name as string);
  return [...new Set(named)].filter((name) => !identifiers.has(name));
}

/** Names of other programs, kernels and formats that comments mention, by identifier. */
const FOREIGN = new Set(['DUMP', 'add_key', 'request_key', 'st_mode', 'AUDIT_ARCH_', 'FIRST_FEW_BYTES', 'getAll']);

const COMMENT = /\/\*[\s\S]*?\*\/|(?<![^\s])\/\/ .*/g;
const sourceFiles = files
  .filter((path) => /\.(?:ts|mts|tsx|mjs|lua)$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
/** Every word of code, without comments. */
const codeWords = new Set(sourceFiles.flatMap(({ text }) => text.replaceAll(COMMENT, '').match(/[\w$]+/g) ?? []));

/**
 * Returns the names that comments write in back-ticks or after `@throws` and that no code has. Words without a capital
 * or an underscore are not judged: they are commands and file names too.
 */
function unknownNames(text: string): string[] {
  const named = (text.match(COMMENT) ?? []).flatMap((comment) => [
    ...[...comment.matchAll(/`([A-Za-z_]\w*)/g)]
      .map(([, name]) => name as string)
      .filter((name) => /[A-Z_]/.test(name)),
    ...[...comment.matchAll(/@throws ([A-Z]\w*)/g)].map(([, name]) => name as string),
  ]);
  return [...new Set(named)].filter((name) => !codeWords.has(name) && !FOREIGN.has(name));
}

const read = (path: string) => readFileSync(join(root, path), 'utf8');

describe('comments', () => {
  it('name only identifiers that exist', () => {
    const found = sourceFiles.flatMap(({ path, text }) => unknownNames(text).map((name) => `${path}: ${name}`));
    expect(found).toEqual([]);
  });

  it('with a name that has changed are noticed', () => {
    const absent = ['NoSuch', 'Error'].join('');
    expect(unknownNames(`/** Returns it, or \`${absent}\`. */`)).toEqual([absent]);
    expect(unknownNames(`// See \`FileSystem.rename\`.\n/** @throws ${absent} */`)).toEqual([absent]);
    expect(unknownNames(`const text = '\`${absent}\`';`)).toEqual([]);
  });
});

describe('the page', () => {
  it.each(currentPages)('%s names only files and types that exist', (path) => {
    const page = read(path);
    expect(missingFiles(page)).toEqual([]);
    expect(missingIdentifiers(page)).toEqual([]);
  });

  it('with a name that has changed is noticed', () => {
    expect(missingFiles('see `engine/no-such-file.ts`, `view.ts` and [X](NO_PAGE.md)')).toEqual([
      'engine/no-such-file.ts',
      'NO_PAGE.md',
    ]);
    expect(missingFiles("writeFile('/src/a.ts')")).toEqual([]);
    expect(missingIdentifiers('`NoSuchClass` and `FileSystem.rename` and `EROFS`')).toEqual(['NoSuchClass']);
  });
});
