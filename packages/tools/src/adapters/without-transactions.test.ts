import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { mount, observe, overlay, readonly, restrict } from '@scratchfs/core/layers';
import { MemoryStorage } from '@scratchfs/memory';
import { describe, expect, it } from 'vitest';
import { STORAGES, whole, yes } from '../testing/sandboxes.js';
import { memoryHandlers, textEditor } from './anthropic.js';
import { applyPatch, applyPatchEditor } from './openai.js';

const FILES = { '/a': 'one\n', '/b': 'two\n' };
const everything = { check: () => undefined, isVisible: () => true };

/** Two filesystems that can be changed: a mount of them has no transactions. */
const LAYERS: readonly (readonly [string, (fileSystem: FileSystem) => FileSystem])[] = [
  ['mount', (fileSystem) => fileSystem],
  ['restrict', (fileSystem) => restrict(fileSystem, everything)],
  ['observe', (fileSystem) => observe(fileSystem, () => undefined)],
];
const CASES = STORAGES.flatMap(([storage, create]) =>
  LAYERS.map(([layer, on]) => [`${layer} of ${storage}`, async () => on(await mounted(create))] as const),
);

async function mounted(create: (typeof STORAGES)[number][1]): Promise<FileSystem> {
  return mount(await create(FILES), { '/data': await create({ '/c': 'three\n' }) });
}

const patch = (...lines: string[]): string => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
const update = (path: string, before: string): string[] => [`*** Update File: ${path}`, '@@', `-${before}`, '+new'];

describe.each(CASES)('applyPatch() without transactions, through %s', (_, open) => {
  it.each([
    ['two files', patch(...update('/a', 'one'), ...update('/b', 'two'))],
    ['a file that is missing, as the last one', patch('*** Delete File: /a', '*** Delete File: /missing')],
    ['a file in each part of a mount', patch(...update('/a', 'one'), ...update('/data/c', 'three'))],
    ['an update with a move', patch('*** Update File: /a', '*** Move to: /c', '@@', '-one', '+new')],
  ])('refuses a patch of %s, says why and changes nothing', async (_kind, text) => {
    const fs = await open();
    const result = await applyPatch(whole(fs), text, { approve: yes });
    expect(result).toMatchObject({
      isError: true,
      text: expect.stringMatching(/Nothing was changed: .* no transactions .* Send one change at a time/),
    });
    expect(await fs.readText('/a')).toBe('one\n');
    expect(await fs.readText('/b')).toBe('two\n');
    expect(await fs.exists('/c')).toBe(false);
  });

  it('applies a patch of one change, which is atomic by itself', async () => {
    const fs = await open();
    const editor = applyPatchEditor(whole(fs), { approve: yes });
    const done = { status: 'completed' };
    expect(await editor.createFile({ type: 'create_file', path: '/new/deep/x', diff: '+x\n' })).toMatchObject(done);
    expect(await editor.updateFile({ type: 'update_file', path: '/a', diff: '@@\n-one\n+1\n' })).toMatchObject(done);
    expect(await editor.deleteFile({ type: 'delete_file', path: '/b' })).toMatchObject(done);
    expect(await editor.updateFile({ type: 'update_file', path: '/a', diff: '', moveTo: '/moved/a' })).toMatchObject(
      done,
    );
    expect(await fs.readText('/new/deep/x')).toBe('x');
    expect(await fs.readText('/moved/a')).toBe('1\n');
    expect(await fs.exists('/b')).toBe(false);
  });
});

describe.each(CASES)('concurrent changes of one file without transactions, through %s', (_, open) => {
  const LINES = ['one', 'two', 'three', 'four'];
  const setUp = async () => {
    const fs = await open();
    await fs.writeFile('/a', `${LINES.join('\n')}\n`);
    await fs.writeFile('/empty', '');
    return { fs, sandbox: whole(fs) };
  };
  const change = (line: string): string => patch('*** Update File: /a', '@@', `-${line}`, `+${line.toUpperCase()}`);

  it('by applyPatch() are all kept', async () => {
    const { fs, sandbox } = await setUp();
    const applied = ['one', 'four'].map((line) => applyPatch(sandbox, change(line), { approve: yes }));
    for (const { isError } of await Promise.all(applied)) expect(isError).toBe(false);
    expect(await fs.readText('/a')).toBe('ONE\ntwo\nthree\nFOUR\n');
  });

  it('by applyPatch() are all kept if the file is empty', async () => {
    const { fs, sandbox } = await setUp();
    const texts = ['one', 'two'].map((line) => patch('*** Update File: /empty', '@@', `+${line}`));
    const applied = await Promise.all(texts.map((text) => applyPatch(sandbox, text, { approve: yes })));
    expect(applied.map(({ isError }) => isError)).toEqual([false, false]);
    expect((await fs.readText('/empty')).split('\n').filter(Boolean).sort()).toEqual(['one', 'two']);
  });

  it('by the text editor are all kept', async () => {
    const { fs, sandbox } = await setUp();
    const { call } = textEditor(sandbox, { approve: yes });
    const replace = (line: string) =>
      call({ command: 'str_replace', path: '/a', old_str: line, new_str: line.toUpperCase() });
    for (const { isError } of await Promise.all(['one', 'four'].map(replace))) expect(isError).toBe(false);
    expect(await fs.readText('/a')).toBe('ONE\ntwo\nthree\nFOUR\n');
  });
});

describe('tools without transactions', () => {
  it('leave no new directories if a file in them cannot be created or moved', async () => {
    const limits = { maxFileSize: 10 };
    const limited = openFileSystem(new MemoryStorage(), { files: FILES, limits });
    const fs = mount(limited, { '/data': openFileSystem(new MemoryStorage(), { limits }) });
    const sandbox = whole(fs);
    const large = 'x'.repeat(11);
    const editor = applyPatchEditor(sandbox, { approve: yes });
    const text = textEditor(sandbox, { approve: yes });
    const memory = memoryHandlers(sandbox, { approve: yes, root: '/data' });
    const failed = [
      await editor.createFile({ type: 'create_file', path: '/new/deep/x', diff: `+${large}\n` }),
      await text.call({ command: 'create', path: '/new/deep/x', file_text: large }),
      await memory.create({ path: '/memories/new/deep/x', file_text: large }).catch(String),
      await editor.updateFile({ type: 'update_file', path: '/missing', diff: '', moveTo: '/new/deep/x' }),
    ];
    expect(JSON.stringify(failed)).toContain('EFBIG');
    expect(await fs.readdir('/')).toEqual(['a', 'b', 'data']);
    expect(await fs.readdir('/data')).toEqual([]);
  });

  it('apply whole patches on an overlay, which has transactions', async () => {
    const lower = mount(openFileSystem(new MemoryStorage(), { files: FILES }), {
      '/data': openFileSystem(new MemoryStorage()),
    });
    const fs = overlay(readonly(lower));
    const result = await applyPatch(whole(fs), patch(...update('/a', 'one'), ...update('/b', 'two')), { approve: yes });
    expect(result.isError).toBe(false);
    expect(await fs.readText('/b')).toBe('new\n');
  });
});
