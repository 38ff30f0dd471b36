import { describe, expect, it } from 'vitest';
import type { DeriveOptions } from './derive.js';
import { Sandbox } from './sandbox.js';
import { asyncMemory, memory, message, refusal } from './testing/memory.js';
import { workerSandbox } from './worker-sandbox.js';

const FILES = {
  '/src/a.ts': 'a',
  '/src/lib/b.ts': 'b',
  '/src_evil/c.ts': 'c',
  '/links/lib': { symlink: '../src/lib' },
  '/links/out': { symlink: '/src/../elsewhere' },
  '/out': null,
  '/elsewhere/d': 'd',
};
const program = () => new Sandbox(memory(FILES), { root: { root: '/' } });

const ADVICE = 'Ask for paths among those of the parent, or leave the entry out.';

describe('an entry of an allowlist', () => {
  it('that is a file allows the directory that contains it', async () => {
    const child = await program().derive({ allowRead: '/src/lib/b.ts' });
    expect(child.readableRoots).toEqual(['/src/lib']);
    expect(await refusal(() => program().derive({ allowRead: '/src/a.ts', strictEntries: true }))).toBe(
      'SandboxPermissionEscalationError',
    );
    expect((await program().derive({ allowRead: '/src', strictEntries: true })).readableRoots).toEqual(['/src']);
  });

  it('that does not exist yet allows what is created there, and nothing more if that is a file', async () => {
    const parent = program();
    const child = await parent.derive({ allowWrite: '/new' });
    await parent.write('/new', 'a file');
    expect((await child.read('/new')).content).toBe('a file');
    expect(await child.canRead('/src/a.ts')).toBe(false);
    expect(await child.canRead('/newer')).toBe(false);
  });

  it('that later becomes a file allows nothing else', async () => {
    const fileSystem = memory({ '/a/b/c': 'c', '/a/secret': 's' });
    const child = await new Sandbox(fileSystem, { root: { root: '/' } }).derive({ allowRead: '/a/b' });
    fileSystem.rmSync('/a/b', { recursive: true });
    fileSystem.writeFileSync('/a/b', 'now a file');
    expect((await child.read('/a/b')).content).toBe('now a file');
    expect(await child.canRead('/a/secret')).toBe(false);
  });

  it('matches whole names', async () => {
    const child = await program().derive({ allowRead: '/src' });
    expect(await child.canRead('/src_evil/c.ts')).toBe(false);
    expect(await refusal(() => child.read('/src_evil/c.ts'))).toBe('PathNotInSandboxError');
  });

  it('that is a link allows its current target, by both names', async () => {
    const fileSystem = memory(FILES);
    const child = await new Sandbox(fileSystem, { root: { root: '/' } }).derive({ allowRead: '/links/lib' });
    expect(child.readableRoots).toEqual(['/src/lib']);
    expect((await child.read('/src/lib/b.ts')).content).toBe('b');
    expect((await child.read('/links/lib/b.ts')).content).toBe('b');
    expect(await refusal(() => child.read('/links/out/d'))).toBe('PathNotInSandboxError');
    fileSystem.unlinkSync('/links/lib');
    fileSystem.symlinkSync('/elsewhere', '/links/lib');
    expect(await refusal(() => child.read('/links/lib/d'))).toBe('PathNotInSandboxError');
    fileSystem.unlinkSync('/links/lib');
    fileSystem.mkdirSync('/links/lib');
    fileSystem.writeFileSync('/links/lib/new', 'new');
    expect(await refusal(() => child.read('/links/lib/new'))).toBe('PathNotInSandboxError');
  });

  it.each<[string, DeriveOptions, string]>([
    ["with '..'", { allowRead: '/src/..' }, "allowRead '/src/..': the path has '..'"],
    ['that is relative', { allowWrite: 'src' }, "allowWrite 'src': the path does not start with '/'"],
    [
      'that is a place of a host',
      { allowRead: '\\\\server\\x' },
      "allowRead '\\\\server\\x': the path is outside the parent sandbox",
    ],
    ['that is no path', { allowRead: '/x'.repeat(3000) }, 'ENAMETOOLONG'],
  ])('%s is refused', async (_, options, text) => {
    expect(await message(() => program().derive(options))).toContain(text);
  });
});

describe('a child that requests more than its parent has', () => {
  it.each<[string, DeriveOptions]>([
    ['another directory', { allowRead: '/out' }],
    ['a directory around', { allowRead: '/' }],
    ['a write where the parent only reads', { allowWrite: '/src' }],
    ['a link that leads out', { allowRead: '/src/lib/../../links/out' }],
    ['writes at all', { readonly: false }],
    ['one good entry and a bad one', { allowRead: ['/src/lib', '/out'] }],
  ])('is refused: %s', async (_, options) => {
    const parent = await program().derive({ allowRead: '/src' });
    expect(await refusal(() => parent.derive(options))).toBe('SandboxPermissionEscalationError');
  });

  it("is refused with the request, the parent's rights and a suggestion", async () => {
    const parent = await program().derive({ allowRead: '/src', allowWrite: ['/out', '/src/lib'] });
    expect(await message(() => parent.derive({ allowWrite: '/src' }))).toBe(
      "Cannot create child sandbox with allowWrite '/src': the parent may not write there. Child sandboxes may only restrict access.\n" +
        'Readable paths of the parent: /src\n' +
        'Writable paths of the parent: /out, /src/lib\n' +
        'Ask for paths among those of the parent, or leave the entry out.',
    );
    expect(await message(() => parent.derive({ allowRead: '/out' }))).toContain(
      "allowRead '/out': the parent may not read there",
    );
  });

  it.each<[string, DeriveOptions, string, string]>([
    ['..', { allowRead: '/src/..' }, "allowRead '/src/..': the path has '..'", 'Write the path without it.'],
    ['no slash', { allowWrite: 'src' }, "allowWrite 'src': the path does not start with '/'", "Write it as '/src'."],
    [
      'a file',
      { allowRead: '/src/a.ts', strictEntries: true },
      "allowRead '/src/a.ts': it is a file, and entries have to be directories",
      'Give the directory that holds the file.',
    ],
    ['a place around', { allowRead: '/' }, "allowRead '/': the path is outside the parent sandbox", ADVICE],
    [
      'another place',
      { allowWrite: '/out', readonly: true },
      "allowWrite '/out': the path is outside the parent sandbox",
      ADVICE,
    ],
    [
      'a link out',
      { allowRead: '/src/to-out' },
      "allowRead '/src/to-out': the path is outside the parent sandbox",
      ADVICE,
    ],
  ])('hears all of it: %s', async (_, options, problem, advice) => {
    const fileSystem = memory({ ...FILES, '/src/to-out': { symlink: '/out/d' } });
    const parent = await new Sandbox(fileSystem, { root: { root: '/' } }).derive({ allowRead: '/src' });
    expect(await message(() => parent.derive(options))).toBe(
      `Cannot create child sandbox with ${problem}. Child sandboxes may only restrict access.\nReadable paths of the parent: /src\nWritable paths of the parent: none\n${advice}`,
    );
  });

  it('is refused if it requests the top of a sandbox with names, or writes in a readonly parent', async () => {
    const named = new Sandbox(memory(FILES), { paths: { src: { root: '/src' } } });
    for (const top of ['.', '/'])
      expect(await message(() => named.derive({ allowRead: top }))).toContain('outside the parent sandbox');
    expect(await message(() => named.derive({ readonly: false }))).toBe(
      'Cannot create child sandbox with readonly=False: parent sandbox is readonly. Child sandboxes may only restrict access.\n' +
        'Readable paths of the parent: src\nWritable paths of the parent: none\n' +
        'Requested: readonly: false. Leave readonly out, or say readonly: true.',
    );
  });

  it('is allowed if it only reads what its parent may write', async () => {
    const parent = await program().derive({ allowWrite: '/out' });
    expect((await parent.derive({ allowRead: '/out' })).writableRoots).toEqual([]);
    const readonly = await program().derive({ allowRead: '/src' });
    const child = await readonly.derive({ allowWrite: '/src/lib', readonly: true });
    expect([child.readableRoots, child.writableRoots]).toEqual([['/src/lib'], []]);
  });

  it('cannot be created with disguised options', async () => {
    const parent = await program().derive({ allowRead: '/src' });
    const dressed: unknown[] = [
      { readonly: 'false' },
      { inherit: 'yes' },
      {
        get allowRead() {
          return '/';
        },
      },
      Object.create({ allowRead: '/', inherit: true }),
      new (class {
        inherit = true;
      })(),
      JSON.parse('{"__proto__":{"inherit":true}}'),
      { allowRead: [{ toString: () => '/' }] },
      { allowRead: new String('/') },
    ];
    for (const options of dressed)
      expect(await refusal(() => parent.derive(options as DeriveOptions))).toBe('TypeError');
    expect(await refusal(() => parent.derive(null as never))).toBeUndefined();
  });
});

describe('generations', () => {
  it('restrict at any depth, over synchronous and asynchronous storages', async () => {
    for (const fileSystem of [memory(FILES), await asyncMemory(FILES)]) {
      let sandbox: Sandbox = new Sandbox(fileSystem, { root: { root: '/' } });
      for (let i = 0; i < 50; i++) sandbox = await sandbox.derive({ inherit: true });
      expect((await sandbox.read('/src/a.ts')).content).toBe('a');
      const child = await sandbox.derive({ allowWrite: '/src' });
      const grandchild = await child.derive({ allowRead: '/src/lib' });
      expect(await grandchild.canRead('/src/a.ts')).toBe(false);
      expect(await grandchild.canWrite('/src/lib/b.ts')).toBe(false);
      expect(await refusal(() => grandchild.derive({ allowRead: '/src' }))).toBe('SandboxPermissionEscalationError');
    }
  });

  it('share suffixes, caps and approvals', async () => {
    const root = { root: '/', suffixes: ['.ts'], maxFileBytes: 1 };
    const child = await new Sandbox(memory({ ...FILES, '/src/big.ts': 'big', '/src/x.md': 'x' }), { root }).derive({
      allowRead: '/src',
    });
    expect(await refusal(() => child.read('/src/big.ts'))).toBe('FileTooLargeError');
    expect(await refusal(() => child.read('/src/x.md'))).toBe('SuffixNotAllowedError');
    expect(await child.approvals('/src/a.ts')).toEqual({ read: false, write: true });
  });
});

describe('workerSandbox', () => {
  it('gives a worker no access if the program has no sandbox', async () => {
    const worker = await workerSandbox(undefined, { inherit: true, allow_write: '/x' });
    expect([worker.readableRoots, worker.writableRoots]).toEqual([[], []]);
    expect(await refusal(() => worker.read('/x'))).toBe('PathNotInSandboxError');
    expect(await refusal(() => worker.fileSystem.writeFile('/x', ''))).toBe('PathNotInSandboxError');
  });

  it('gives a worker the rights of its definition, and never more to its callee', async () => {
    const worker = await workerSandbox(program(), { allow_read: ['/src', '/out'], allow_write: ['/out'] });
    expect([worker.readableRoots, worker.writableRoots]).toEqual([['/src', '/out'], ['/out']]);
    expect((await workerSandbox(program())).readableRoots).toEqual([]);
    const callee = await workerSandbox(worker, { inherit: true, readonly: true });
    expect([callee.readableRoots, callee.writableRoots]).toEqual([['/src', '/out'], []]);
    expect(await refusal(() => workerSandbox(worker, { allow_write: '/src' }))).toBe(
      'SandboxPermissionEscalationError',
    );
  });

  it('refuses an invalid definition', async () => {
    expect(await message(() => workerSandbox(program(), { allow_raed: '/' }))).toContain(
      "derive has no field 'allow_raed'",
    );
    expect(await refusal(() => workerSandbox(undefined, { inherit: 1 }))).toBe('TypeError');
  });
});
