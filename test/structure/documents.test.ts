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

const read = (path: string) => readFileSync(join(root, path), 'utf8');

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
