import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { DeriveOptions } from './derive.js';
import { Sandbox } from './sandbox.js';
import { asyncMemory, memory } from './testing/memory.js';

/** The real location of the files, which no error of the sandbox may show. */
const HIDDEN = '/srv/customer-4711/private';
const FILES = {
  [`${HIDDEN}/notes/a.md`]: 'a',
  [`${HIDDEN}/notes/big.md`]: 'x'.repeat(200),
  [`${HIDDEN}/notes/key.pem`]: 'k',
  [`${HIDDEN}/notes/dir/b.md`]: 'b',
  [`${HIDDEN}/notes/loop.md`]: { symlink: 'loop.md' },
  [`${HIDDEN}/notes/up.md`]: { symlink: '../other/c.md' },
  [`${HIDDEN}/ro/d.md`]: 'd',
  [`${HIDDEN}/other/c.md`]: 'c',
};

const CONTROLS = '\u0001\u0008\n\r\t\u001b[31m\u007f\u0085\u009b\u2028\u202e\u2066';
const HOSTILE = [
  CONTROLS,
  `notes/${CONTROLS}`,
  `../${CONTROLS}`,
  `notes/a.md/${CONTROLS}.md`,
  `notes/${'x'.repeat(300)}.md`,
  `ro/${'y'.repeat(3000)}`,
  `${'z/'.repeat(5000)}`,
  'notes/\ud800.md',
  `notes/\udc00${CONTROLS}`,
];
const PLAIN = [
  'notes',
  'ro',
  'notes/a.md',
  'notes/big.md',
  'notes/key.pem',
  'notes/none.md',
  'notes/dir',
  'notes/a.md/x.md',
  'notes/loop.md',
  'notes/up.md',
  'ro/d.md',
  'other/c.md',
  '',
  '.',
  '..',
  '~',
  'C:\\x',
  '//x',
];

const CALLS: Readonly<Record<string, (sandbox: Sandbox, path: string) => unknown>> = {
  read: (sandbox, path) => sandbox.read(path),
  'read past a limit': (sandbox, path) => sandbox.read(path, { offset: -1 }),
  write: (sandbox, path) => sandbox.write(path, 'x'),
  'write a tree': (sandbox, path) => sandbox.write(`${path}/x/y.md`, 'x'),
  listFiles: (sandbox, path) => sandbox.listFiles(path),
  'listFiles by a pattern': (sandbox, path) => sandbox.listFiles('notes', path),
  resolve: (sandbox, path) => sandbox.resolve(path),
  'check a read': (sandbox, path) => sandbox.check(path, 'read'),
  'check a write': (sandbox, path) => sandbox.check(path, 'write'),
  'check a name': (sandbox, path) => sandbox.check(path, 'write', { follow: false }),
  approvals: (sandbox, path) => sandbox.approvals(path),
  'derive a reader': (sandbox, path) => sandbox.derive({ allowRead: path }),
  'derive a writer': (sandbox, path) => sandbox.derive({ allowWrite: [path], strictEntries: true }),
  'derive of nonsense': (sandbox, path) => sandbox.derive({ [path]: path } as DeriveOptions),
};

async function errorsOf(sandbox: Sandbox, paths: readonly string[]): Promise<Map<string, Error>> {
  const errors = new Map<string, Error>();
  for (const [name, call] of Object.entries(CALLS)) {
    for (const path of paths) {
      try {
        await call(sandbox, path);
      } catch (error) {
        errors.set(`${name} ${path}`, error as Error);
      }
    }
  }
  return errors;
}

describe.each(['memory', 'async memory'])('the errors of a sandbox over %s', (name) => {
  const open = async () => {
    const fileSystem = name === 'memory' ? memory(FILES) : await asyncMemory(FILES);
    const paths = {
      notes: { root: './notes', mode: 'rw' as const, suffixes: ['.md'], maxFileBytes: 100 },
      ro: { root: './ro' },
    };
    return new Sandbox(fileSystem, { paths }, { basePath: HIDDEN });
  };

  it('show no path of the filesystem, in any field or cause', async () => {
    const errors = await errorsOf(await open(), [...PLAIN, ...HOSTILE]);
    expect(errors.size).toBeGreaterThan(200);
    for (const [call, error] of errors) {
      const { stack, ...fields } = Object.fromEntries(
        Reflect.ownKeys(error).map((key) => [key, Reflect.get(error, key)]),
      );
      expect(inspect(fields, { depth: 8 }), call).not.toMatch(/srv|4711|private/);
    }
  });

  it('carry no control characters from values, and stay short', async () => {
    const errors = await errorsOf(await open(), [...PLAIN, ...HOSTILE]);
    for (const [call, { message }] of errors) {
      expect(message.replaceAll('\n', ''), call).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
      expect(message.split('\n').length, call).toBeLessThanOrEqual(4);
      expect(message.isWellFormed(), call).toBe(true);
      expect(message.length, call).toBeLessThan(1000);
    }
  });

  it("have a code, or report a programmer's mistake", async () => {
    for (const [call, error] of await errorsOf(await open(), [...PLAIN, ...HOSTILE])) {
      const hasCode = /^E[A-Z]+$/.test(String((error as { code?: unknown }).code));
      expect(hasCode || error instanceof TypeError || error instanceof RangeError, `${call}: ${error}`).toBe(true);
    }
  });
});
