import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { formatUnified } from './unified.js';

const scratch = mkdtempSync(join(tmpdir(), 'unified-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const environment = { PATH: process.env.PATH, HOME: scratch, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C.UTF-8' };

function inFolder(files: Record<string, string | Uint8Array>): string {
  const folder = mkdtempSync(join(scratch, 'case-'));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

const run = (folder: string, command: string, args: string[], input?: string) =>
  execFileSync(command, args, { cwd: folder, env: environment, input, stdio: ['pipe', 'pipe', 'pipe'] });

const line = fc.constantFrom('a', 'b', 'c', '', '  d', '@@ -1 +1 @@', '--- x', '+++ y', '\\ No newline', 'é☃', 'r\r');
const edit = fc.record({ at: fc.nat(60), remove: fc.nat(3), add: fc.array(line, { maxLength: 3 }) });
/** A pair of texts that share most of their lines. */
const texts = fc
  .tuple(fc.array(line, { maxLength: 60 }), fc.array(edit, { maxLength: 6 }), fc.boolean(), fc.boolean())
  .map(([lines, edits, endA, endB]) => {
    const edited = lines.slice();
    for (const { at, remove, add } of edits) edited.splice(Math.min(at, edited.length), remove, ...add);
    const join = (list: string[], end: boolean) => (list.length === 0 ? '' : list.join('\n') + (end ? '\n' : ''));
    return [join(lines, endA), join(edited, endB)] as const;
  });

const PLAIN = ['--git-dir=/nonexistent'];

describe('formatUnified', () => {
  test('prints a change as git does', () => {
    const before = 'one\ntwo\nthree\nfour\nfive\nsix\n';
    const after = 'one\ntwo\nthree\nFOUR\nfive\nsix\nseven';
    expect(formatUnified({ path: '/src/a.txt', before, after })).toBe(
      `diff --git a/src/a.txt b/src/a.txt
--- a/src/a.txt
+++ b/src/a.txt
@@ -1,6 +1,7 @@
 one
 two
 three
-four
+FOUR
 five
 six
+seven
\\ No newline at end of file
`,
    );
  });

  test('is empty if nothing differs', () => {
    expect(formatUnified({ path: 'a', before: 'x', after: 'x' })).toBe('');
    expect(formatUnified({ path: 'a', before: Uint8Array.of(0, 1), after: Uint8Array.of(0, 1) })).toBe('');
    expect(formatUnified({ path: 'a', before: undefined, after: undefined })).toBe('');
  });

  test('git apply and patch both turn the old file into the new one, whatever the texts and the context', () => {
    fc.assert(
      fc.property(
        fc.array(texts, { minLength: 20, maxLength: 20 }),
        fc.integer({ min: 1, max: 4 }),
        (pairs, context) => {
          const old = Object.fromEntries(pairs.map(([before], i) => [`f${i}`, before]));
          const patch = pairs.map(([before, after], i) => formatUnified({ path: `f${i}`, before, after }, { context }));
          pairs.forEach(([before, after], i) => {
            expect(patch[i] === '').toBe(before === after);
          });
          for (const command of [
            ['git', '--git-dir=/nonexistent', 'apply', '--allow-empty', '-'],
            ['patch', '--binary', '-s', '-p1'],
          ]) {
            const folder = inFolder(old);
            run(folder, command[0] as string, command.slice(1), patch.join(''));
            pairs.forEach(([, after], i) => {
              expect([command[0], i, contentOf(join(folder, `f${i}`))]).toEqual([command[0], i, after]);
            });
            rmSync(folder, { recursive: true });
          }
        },
      ),
      { numRuns: 15 },
    );
  });

  test('prints the hunks of GNU diff if there is only one shortest edit script', () => {
    const word = fc.integer({ min: 0, max: 1e9 }).map((n) => `unique ${n}`);
    fc.assert(
      fc.property(
        fc.uniqueArray(word, { minLength: 1, maxLength: 40 }),
        fc.array(fc.nat(), { maxLength: 5 }),
        (list, places) => {
          const before = list.map((text) => `${text}\n`);
          const after = before.slice();
          places.forEach((place, n) => {
            const at = place % (after.length + 1);
            after.splice(at, n % 3, ...(n % 2 ? [`new ${n}\n`] : []));
          });
          const ours = formatUnified({ path: 'f', before: before.join(''), after: after.join('') });
          const folder = inFolder({ a: before.join(''), b: after.join('') });
          let theirs = '';
          try {
            run(folder, 'diff', ['-u', 'a', 'b']);
          } catch (error) {
            theirs = String((error as { stdout: Buffer }).stdout);
          }
          rmSync(folder, { recursive: true });
          expect(ours.split('\n').slice(3)).toEqual(theirs.split('\n').slice(2));
        },
      ),
      { numRuns: 60 },
    );
  });

  test('creates, deletes, empties and renames files that git apply takes', () => {
    const apply = (files: Record<string, string>, ...patches: string[]) => {
      const folder = inFolder(files);
      run(folder, 'git', [...PLAIN, 'apply', '-'], patches.join(''));
      return (path: string) => {
        try {
          return readFileSync(join(folder, path), 'utf8');
        } catch {
          return undefined;
        }
      };
    };
    const made = formatUnified({ path: 'd/new', before: undefined, after: 'x\n' });
    expect(made).toContain('new file mode 100644\n--- /dev/null\n+++ b/d/new\n@@ -0,0 +1 @@\n+x\n');
    expect(apply({}, made)('d/new')).toBe('x\n');
    expect(apply({}, formatUnified({ path: 'empty', before: undefined, after: '' }))('empty')).toBe('');
    const gone = formatUnified({ path: 'old', before: 'x\ny', after: undefined });
    expect(gone).toContain('+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n\\ No newline at end of file\n');
    expect(apply({ old: 'x\ny' }, gone)('old')).toBeUndefined();
    expect(apply({ e: '' }, formatUnified({ path: 'e', before: '', after: undefined }))('e')).toBeUndefined();
    const emptied = formatUnified({ path: 'f', before: 'x\n', after: '' });
    expect(emptied).toContain('@@ -1 +0,0 @@');
    expect(apply({ f: 'x\n' }, emptied)('f')).toBe('');
    const moved = apply({ 'a b': 'x\n' }, formatUnified({ path: 'c', oldPath: 'a b', before: 'x\n', after: 'y\n' }));
    expect([moved('a b'), moved('c')]).toEqual([undefined, 'y\n']);
  });

  test('changes modes, with or without content', () => {
    const patch = formatUnified({ path: 'a', before: 'x', after: 'x', oldMode: '100644', newMode: '100755' });
    expect(patch).toBe('diff --git a/a b/a\nold mode 100644\nnew mode 100755\n');
    const folder = inFolder({ a: 'x' });
    run(folder, 'git', [...PLAIN, 'apply', '-'], patch);
    expect(run(folder, 'stat', ['-c', '%a', 'a']).toString().trim()).toBe('755');
  });

  test('prints names with spaces, quotes, tabs, newlines and non-ASCII letters as git reads them', () => {
    for (const path of [
      'with space',
      'tab\there',
      'new\nline',
      'quo"te',
      'ünï☃',
      'trailing ',
      '\u0001\u007f',
      '__proto__',
    ]) {
      const folder = inFolder({ [path]: 'x\n' });
      run(folder, 'git', [...PLAIN, 'apply', '-'], formatUnified({ path, before: 'x\n', after: 'y\n' }));
      expect(readFileSync(join(folder, path), 'utf8')).toBe('y\n');
    }
  });

  test('says of binary files that they differ', () => {
    expect(formatUnified({ path: 'a', before: Uint8Array.of(0), after: 'x' })).toBe(
      'diff --git a/a b/a\nBinary files a/a and b/a differ\n',
    );
    expect(formatUnified({ path: 'a', before: Uint8Array.of(0xff), after: undefined })).toContain(
      'a/a and /dev/null differ',
    );
    expect(formatUnified({ path: 'a', before: 'x', after: 'x\0' })).toContain('Binary files');
  });

  test('keeps a byte order mark and carriage returns as they are', () => {
    const patch = formatUnified({ path: 'a', before: Uint8Array.of(0xef, 0xbb, 0xbf, 97, 13, 10), after: 'a\n' });
    expect(patch).toContain('-\ufeffa\r\n+a\n');
  });

  test("prints git's colours, and escapes control characters of the content", () => {
    const painted = formatUnified({ path: 'a\u001b', before: 'x\n', after: '\u001b[2Jy\t\u009b\n' }, { color: true });
    expect(painted.split('\n')).toEqual([
      '\u001b[1mdiff --git "a/a\\033" "b/a\\033"\u001b[m',
      '\u001b[1m--- "a/a\\033"\u001b[m',
      '\u001b[1m+++ "b/a\\033"\u001b[m',
      '\u001b[36m@@ -1 +1 @@\u001b[m',
      '\u001b[31m-x\u001b[m',
      '\u001b[32m+^[[2Jy\t<U+009B>\u001b[m',
      '',
    ]);
  });

  test('refuses an invalid context', () => {
    for (const context of [-1, 1.5, Number.NaN]) {
      expect(() => formatUnified({ path: 'a', before: '', after: 'x' }, { context })).toThrow(RangeError);
    }
  });
});

/** Returns the content of a file, '' if it is missing, because patch removes a file that became empty. */
function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
