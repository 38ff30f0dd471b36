import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { formatWithOptions, promisify } from 'node:util';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { allExamples, fromMarkdown, fromSource, root } from './extract.js';

// Beside this package's node_modules, so that an example's imports resolve as a user's would.
const scratch = join(root, 'test', '.cache', 'docs');
const examples = allExamples().map((example, index) => ({ ...example, file: join(scratch, `example-${index}.ts`) }));
const wrong = join(scratch, 'wrong.ts');
const complaints = new Map<string, string[]>();

beforeAll(async () => {
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  for (const { file, code } of examples) writeFileSync(file, `${code}\nexport {};\n`);
  writeFileSync(wrong, "export const x: number = 'text';\n");
  for (const [file, message] of await typeErrors([...examples.map(({ file }) => file), wrong])) {
    complaints.set(file, [...(complaints.get(file) ?? []), message]);
  }
});

/** Returns the compiler's errors as pairs of file and message. */
async function typeErrors(files: readonly string[]): Promise<(readonly [file: string, message: string])[]> {
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false };
  const project = join(scratch, 'tsconfig.json');
  writeFileSync(project, JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, files, include: [] }));
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  const { stdout } = await promisify(execFile)(tsc, ['-p', project, '--pretty', 'false'], { cwd: root }).catch(
    (error: { stdout: string }) => error,
  );
  const lines = [...stdout.matchAll(/^(\S.*?)\(\d+,\d+\): (error .*)$/gm)];
  return lines.map(([, file = '', message = '']) => [resolve(root, file), message]);
}

describe('the example at', () => {
  it.each(examples.map((example) => [example.place, example] as const))('%s has the right types', (_, { file }) => {
    expect(complaints.get(file) ?? []).toEqual([]);
  });

  const running = examples.filter(({ isRun }) => isRun);
  it.each(running.map((example) => [example.place, example] as const))('%s runs', async (_, { file, prints }) => {
    const printed: string[] = [];
    const log = vi.spyOn(console, 'log').mockImplementation((...values) => {
      printed.push(formatWithOptions({ colors: false, breakLength: Number.POSITIVE_INFINITY }, ...values));
    });
    try {
      await import(/* @vite-ignore */ file);
    } finally {
      log.mockRestore();
    }
    if (prints.length > 0) expect(printed).toEqual(prints);
  });
});

describe('an example with wrong types', () => {
  it('is reported', () => {
    expect(complaints.get(wrong)).toEqual([expect.stringContaining("'string' is not assignable to type 'number'")]);
  });
});

describe('extracting examples', () => {
  it('finds ts fences, their line, their expected output, and no-run marks', () => {
    const page =
      'Text\n\n```ts\nconsole.log(1 + 1); // → 2\n```\n\n```sh\nls\n```\n\n- list\n  ```ts no-run\n  a();\n  ```\n';
    expect(fromMarkdown(page, 'a.md')).toEqual([
      { place: 'a.md:3', code: 'console.log(1 + 1); // → 2\n', isRun: true, prints: ['2'] },
      { place: 'a.md:12', code: 'a();\n', isRun: false, prints: [] },
    ]);
  });

  it('finds @example in TSDoc, with and without a fence', () => {
    const source =
      '/**\n * One.\n * @example\n * ```ts\n * f();\n * ```\n */\nexport const f = () => 1;\n/** @example g(); */\nexport const g = 2;\n';
    expect(fromSource(source, 'a.ts').map(({ code }) => code.trim())).toEqual(['f();', 'g();']);
  });
});
