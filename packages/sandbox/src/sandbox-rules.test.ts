import { describe, expect, it } from 'vitest';
import type { PathConfig } from './config.js';
import { Sandbox } from './sandbox.js';
import { memory, message, refusal } from './testing/memory.js';

const FILES = {
  '/program/src/main.py': 'main',
  '/program/src/a.py': 'a',
  '/program/src/sub/b.py': 'b',
  '/program/docs/x.md': 'x',
  '/program/out_evil': { symlink: '/secret' },
  '/program/src/link.py': { symlink: '../docs/x.md' },
  '/secret/key': 'key',
  '/data/output/reports/r.md': 'r',
  '/data/input/i.md': 'i',
};

const program = (readonly = false) =>
  new Sandbox(memory(FILES), { root: { root: '.', readonly } }, { basePath: '/program' });
const paths = { output: { root: 'output', mode: 'rw' }, input: { root: './input' } } satisfies Record<
  string,
  PathConfig
>;
const named = () => new Sandbox(memory(FILES), { paths }, { basePath: '/data' });

describe('sandboxes, parents and children, rule by rule', () => {
  it('1. a root sandbox resolves relative and /-prefixed paths', async () => {
    const sandbox = program();
    for (const path of ['src/main.py', '/src/main.py', './src/main.py', 'src\\main.py']) {
      expect(await sandbox.resolve(path)).toBe('/program/src/main.py');
      expect((await sandbox.read(path)).content).toBe('main');
    }
    expect(await sandbox.resolve('/new/file')).toBe('/program/new/file');
    expect(await sandbox.canWrite('/tmp/x')).toBe(true);
  });

  it('2. a root sandbox rejects escapes: .., a symlink out, absolute host paths', async () => {
    const sandbox = program();
    for (const path of ['../secret/key', '/../secret/key', 'src/../../secret/key', '/out_evil', 'out_evil/key']) {
      expect(await refusal(() => sandbox.resolve(path)), path).toBe('PathNotInSandboxError');
      expect(await refusal(() => sandbox.read(path)), path).toBe('PathNotInSandboxError');
      expect(await refusal(() => sandbox.write(path, 'x')), path).toBe('PathNotInSandboxError');
      expect([await sandbox.canRead(path), await sandbox.canWrite(path)], path).toEqual([false, false]);
    }
    for (const path of ['~/x', 'C:\\x', '\\\\server\\share', '//server/share']) {
      expect(await refusal(() => sandbox.resolve(path)), path).toBe('PathNotInSandboxError');
    }
    expect(await refusal(() => sandbox.read('/secret/key'))).toBe('ENOENT');
    expect(await message(() => sandbox.read('../secret/key'))).toBe(
      "Cannot access '../secret/key': path is outside sandbox.\nReadable paths: /\nWritable paths: /",
    );
  });

  it('3. derive() without arguments gives a sandbox that blocks all access', async () => {
    const empty = await program().derive();
    for (const path of ['/', '/src', '/src/a.py', '/nothing']) {
      expect([await empty.canRead(path), await empty.canWrite(path)]).toEqual([false, false]);
      expect(await refusal(() => empty.read(path))).toBe('PathNotInSandboxError');
      expect(await refusal(() => empty.write(path, ''))).toBe('PathNotInSandboxError');
      expect(await refusal(() => empty.resolve(path))).toBe('PathNotInSandboxError');
    }
    expect([empty.readableRoots, empty.writableRoots]).toEqual([[], []]);
    expect(await message(() => empty.read('/src/a.py'))).toContain('\nReadable paths: none');
  });

  it('4. allowRead allows reads in those prefixes only, with one root and with names', async () => {
    const child = await program().derive({ allowRead: '/src' });
    expect((await child.read('/src/a.py')).content).toBe('a');
    expect((await child.read('src/sub/b.py')).content).toBe('b');
    expect(await refusal(() => child.read('/docs/x.md'))).toBe('PathNotInSandboxError');
    expect(await refusal(() => child.read('/src/link.py'))).toBe('PathNotInSandboxError');
    for (const entry of ['output/reports', 'output:reports']) {
      const reports = await named().derive({ allowRead: [entry] });
      expect(reports.readableRoots).toEqual(['output/reports']);
      expect((await reports.read('output:reports/r.md')).content).toBe('r');
      expect(await refusal(() => reports.read('input/i.md'))).toBe('PathNotInSandboxError');
    }
    const input = await named().derive({ allowRead: 'input' });
    expect((await input.read('input/i.md')).content).toBe('i');
    expect(await input.canRead('output/reports/r.md')).toBe(false);
  });

  it('5. allowRead alone gives no writes; allowWrite alone gives reads there too', async () => {
    const reader = await program().derive({ allowRead: '/src' });
    expect(await reader.canWrite('/src/a.py')).toBe(false);
    expect(await refusal(() => reader.write('/src/a.py', ''))).toBe('PathNotWritableError');
    const writer = await program().derive({ allowWrite: '/src' });
    expect([await writer.canRead('/src/a.py'), await writer.canWrite('/src/a.py')]).toEqual([true, true]);
    expect([await writer.canRead('/docs/x.md'), await writer.canWrite('/docs/x.md')]).toEqual([false, false]);
    const none = await program().derive({ allowWrite: [] });
    expect([none.readableRoots, none.writableRoots]).toEqual([[], []]);
    const dropBox = await program().derive({ allowRead: '/src', allowWrite: '/docs' });
    expect([await dropBox.canRead('/docs/x.md'), await dropBox.canWrite('/docs/x.md')]).toEqual([false, true]);
  });

  it("6. inherit gives all of the parent's rights, and allowlists restrict them", async () => {
    const parent = program();
    const all = await parent.derive({ inherit: true });
    expect([all.readableRoots, all.writableRoots]).toEqual([['/'], ['/']]);
    await all.write('/new/file', 'x');
    expect((await parent.read('/new/file')).content).toBe('x');
    const some = await parent.derive({ inherit: true, allowRead: '/src' });
    expect([some.readableRoots, some.writableRoots]).toEqual([['/src'], []]);
    const frozen = await parent.derive({ inherit: true, readonly: true });
    expect([await frozen.canRead('/src/a.py'), await frozen.canWrite('/src/a.py')]).toEqual([true, false]);
  });

  it('7. readonly only removes rights, and sandboxes with names are unchanged', async () => {
    const readonly = program(true);
    expect(await message(() => readonly.derive({ inherit: true, readonly: false }))).toMatch(
      /^Cannot create child sandbox with readonly=False: parent sandbox is readonly\. Child sandboxes may only restrict access\.\n/,
    );
    expect(await refusal(() => readonly.derive({ allowWrite: '/src' }))).toBe('SandboxPermissionEscalationError');
    const child = await readonly.derive({ inherit: true });
    expect([await child.canRead('/src/a.py'), await child.canWrite('/src/a.py')]).toEqual([true, false]);
    expect(readonly.writableRoots).toEqual([]);
    const grandchild = await (await program().derive({ allowWrite: '/src', readonly: true })).derive({ inherit: true });
    expect(await grandchild.canWrite('/src/a.py')).toBe(false);
    expect(await refusal(() => grandchild.derive({ readonly: false }))).toBe('SandboxPermissionEscalationError');
    expect((await program().derive({ allowWrite: '/src', readonly: false })).writableRoots).toEqual(['/src']);

    const sandbox = named();
    expect([sandbox.readableRoots, sandbox.writableRoots]).toEqual([['output', 'input'], ['output']]);
    expect(await refusal(() => sandbox.write('input/i.md', ''))).toBe('PathNotWritableError');
    await sandbox.write('output/new.md', 'n');
    expect(await sandbox.resolve('output/new.md')).toBe('/data/output/new.md');
  });
});
