import { describe, expect, it } from 'vitest';
import { memoryHandlers, textEditor } from './adapters/anthropic.js';
import { createFileTools } from './file-tools.js';
import { ReadVersions } from './read-versions.js';
import { memory, named, STORAGES, whole, yes } from './testing/sandboxes.js';

const CHANGED = "'/f' has changed since you read it, so nothing was done. Call read_file, then decide again.";

describe.each(STORAGES)('file tools on %s', (_, create) => {
  const setUp = async (files: Readonly<Record<string, string>> = { '/f': 'one two' }) => {
    const fileSystem = await create(files);
    const { call: callTool } = createFileTools(whole(fileSystem), { approve: yes });
    const call = async (name: string, input: unknown): Promise<string> => (await callTool(name, input)).text;
    return { fileSystem, call };
  };

  const writes: Readonly<Record<string, unknown>> = {
    write_file: { path: '/f', content: 'mine' },
    edit_file: { path: '/f', old_text: 'one', new_text: 'mine' },
    delete_file: { path: '/f' },
    move_file: { from: '/f', to: '/g' },
  };
  for (const [tool, input] of Object.entries(writes)) {
    it(`${tool} refuses a file that has changed since the model read it, until it reads it again`, async () => {
      const { fileSystem, call } = await setUp();
      await call('read_file', { path: '/f' });
      await fileSystem.writeFile('/f', 'one theirs');
      for (let i = 0; i < 2; i++) expect(await call(tool, input)).toBe(CHANGED);
      expect(await fileSystem.readText('/f')).toBe('one theirs');
      await call('read_file', { path: '/f' });
      expect(await call(tool, input)).toMatch(/^(Wrote|Replaced|Deleted|Moved)/);
    });

    it(`${tool} changes a file that the model has not read, in any version`, async () => {
      const { fileSystem, call } = await setUp();
      await fileSystem.appendFile('/f', ' theirs');
      expect(await call(tool, input)).toMatch(/^(Wrote|Replaced|Deleted|Moved)/);
    });
  }

  it('let the model change again what it has written itself', async () => {
    const { fileSystem, call } = await setUp();
    await call('read_file', { path: '/f' });
    expect(await call('edit_file', { path: '/f', old_text: 'two', new_text: 'six' })).toMatch(/^Replaced/);
    expect(await call('edit_file', { path: '/f', old_text: 'six', new_text: 'ten' })).toMatch(/^Replaced/);
    expect(await call('write_file', { path: '/f', content: 'lone \ud800' })).toMatch(/^Wrote/);
    expect(await call('write_file', { path: '/f', content: 'text' })).toMatch(/^Wrote/);
    expect(await call('write_file', { path: '/new/f', content: 'text' })).toMatch(/^Wrote/);
    await fileSystem.appendFile('/new/f', ' theirs');
    expect(await call('write_file', { path: '/new/f', content: 'mine' })).toMatch(/changed since you read it/);
  });

  it('do not count what others wrote right after the model as seen by it', async () => {
    const { fileSystem, call } = await setUp();
    const sandbox = whole(fileSystem);
    const versions = new ReadVersions(sandbox, new Set());
    await versions.writing('/f', {}, async () => {
      await fileSystem.writeFile('/f', 'mine');
      await fileSystem.writeFile('/f', 'theirs');
      return 'mine';
    });
    const written = versions.writing('/f', {}, async (condition) => {
      await sandbox.fileSystem.writeFile('/f', 'more', condition);
      return 'more';
    });
    await expect(written).rejects.toThrow(
      "'/f' has changed since you read it, so nothing was done. Read it again first.",
    );
    expect(await call('read_file', { path: '/f' })).toContain('theirs');
  });

  it('say that a file was deleted since the model read it, and create it if asked again', async () => {
    const { fileSystem, call } = await setUp();
    await call('read_file', { path: '/f' });
    await fileSystem.rm('/f');
    expect(await call('write_file', { path: '/f', content: 'mine' })).toBe(
      "'/f' was moved or deleted since you read it, so nothing was done. To create it anew, try again.",
    );
    expect(await fileSystem.exists('/f')).toBe(false);
    expect(await call('write_file', { path: '/f', content: 'mine' })).toMatch(/^Wrote/);
  });

  it('take several calls of the model at once for no change by others', async () => {
    const { fileSystem, call } = await setUp({ '/f': 'a b c d' });
    await call('read_file', { path: '/f' });
    const edits = ['a', 'b', 'c', 'd'].map((text) =>
      call('edit_file', { path: '/f', old_text: text, new_text: text.toUpperCase() }),
    );
    await Promise.all([...edits, call('read_file', { path: '/f' })]);
    expect(await fileSystem.readText('/f')).toBe('A B C D');
    expect(await call('write_file', { path: '/f', content: 'mine' })).toMatch(/^Wrote/);
  });

  it('know a file under all its paths', async () => {
    const { fileSystem, call } = await setUp();
    await fileSystem.symlink('f', '/link');
    await call('read_file', { path: '/link' });
    await fileSystem.appendFile('/f', ' theirs');
    expect(await call('write_file', { path: './f', content: 'mine' })).toMatch(/changed since you read it/);
    expect(await call('delete_file', { path: '/link' })).toMatch(/^Deleted/);
  });

  it('keep the version with which the model began to read a file in pieces', async () => {
    const { fileSystem, call } = await setUp({ '/f': 'x'.repeat(30) });
    await call('read_file', { path: '/f', max_chars: 10 });
    await fileSystem.appendFile('/f', ' theirs');
    await call('read_file', { path: '/f', max_chars: 10, char_offset: 10 });
    expect(await call('write_file', { path: '/f', content: 'mine' })).toBe(CHANGED);
  });

  it('follow files that the model moves', async () => {
    const { fileSystem, call } = await setUp({ '/d/f': 'x', '/g': 'y', '/h': 'z' });
    for (const path of ['/d/f', '/g', '/h']) await call('read_file', { path });
    await call('move_file', { from: '/d', to: '/e' });
    await call('move_file', { from: '/g', to: '/h' });
    expect(await call('edit_file', { path: '/h', old_text: 'y', new_text: 'Y' })).toMatch(/^Replaced/);
    expect(await call('edit_file', { path: '/e/f', old_text: 'x', new_text: 'X' })).toMatch(/^Replaced/);
    for (const path of ['/h', '/e/f']) {
      await fileSystem.appendFile(path, ' theirs');
      expect(await call('write_file', { path, content: 'mine' })).toMatch(/changed since you read it/);
    }
    for (const path of ['/d/f', '/g']) expect(await call('write_file', { path, content: 'new' })).toMatch(/^Wrote/);
  });

  it('do not replace a file by a move if it has changed since the model read it', async () => {
    const { fileSystem, call } = await setUp({ '/f': 'old', '/g': 'mine' });
    await call('read_file', { path: '/f' });
    await fileSystem.writeFile('/f', 'theirs');
    const move = () => call('move_file', { from: '/g', to: '/f' });
    for (let i = 0; i < 2; i++) expect(await move()).toBe(CHANGED);
    expect([await fileSystem.readText('/f'), await fileSystem.readText('/g')]).toEqual(['theirs', 'mine']);
    await call('read_file', { path: '/f' });
    expect(await move()).toMatch(/^Moved/);
  });

  it('do not delete a directory if a file in it has changed since the model read it', async () => {
    const { fileSystem, call } = await setUp({ '/d/e/f': 'old', '/d/g': 'g', '/d/gone': 'x', '/db': 'b' });
    for (const path of ['/d/e/f', '/d/g', '/d/gone', '/db']) await call('read_file', { path });
    await fileSystem.writeFile('/d/e/f', 'theirs');
    await fileSystem.writeFile('/db', 'theirs');
    await fileSystem.rm('/d/gone');
    const remove = () => call('delete_file', { path: '/d', recursive: true });
    for (let i = 0; i < 2; i++) expect(await remove()).toBe(CHANGED.replace('/f', '/d/e/f'));
    expect(await fileSystem.readText('/d/g')).toBe('g');
    await call('read_file', { path: '/d/e/f' });
    expect(await remove()).toMatch(/^Deleted/);
  });

  it('take calls for a file and for its directory or its new name at once for no change by others', async () => {
    const { fileSystem, call } = await setUp({ '/d/f': 'f', '/g': 'g' });
    for (const path of ['/d/f', '/g']) await call('read_file', { path });
    await fileSystem.writeFile('/h', 'h');
    const results = await Promise.all([
      call('write_file', { path: '/d/f', content: 'mine' }),
      call('delete_file', { path: '/d', recursive: true }),
      call('write_file', { path: '/g', content: 'mine' }),
      call('move_file', { from: '/h', to: '/g' }),
    ]);
    expect(results.map((text) => text.split(' ')[0])).toEqual(['Wrote', 'Deleted', 'Wrote', 'Moved']);
    expect(await fileSystem.readText('/g')).toBe('h');
  });

  it('do not call a file moved or deleted because a move has a target without a directory', async () => {
    const { fileSystem, call } = await setUp();
    await call('read_file', { path: '/f' });
    expect(await call('move_file', { from: '/f', to: '/none/f' })).toMatch(/^ENOENT/);
    await fileSystem.appendFile('/f', ' theirs');
    expect(await call('write_file', { path: '/f', content: 'mine' })).toBe(CHANGED);
  });

  it('refuse a file that a rollback has taken back', async () => {
    const { call } = await setUp();
    await call('checkpoint', { name: 'before' });
    await call('write_file', { path: '/f', content: 'mine' });
    await call('rollback', { checkpoint: 'before' });
    expect(await call('write_file', { path: '/f', content: 'more' })).toBe(CHANGED);
  });

  it('name the file as the model does', async () => {
    const fileSystem = await create({ '/secret/f': 'one' });
    const sandbox = named(fileSystem, { docs: { root: '/secret', mode: 'rw', writeApproval: false } } as never);
    const { call } = createFileTools(sandbox);
    await call('read_file', { path: 'docs/f' });
    await fileSystem.appendFile('/secret/f', ' theirs');
    const { text, isError } = await call('write_file', { path: 'docs/f', content: 'mine' });
    expect([text, isError]).toEqual([CHANGED.replace('/f', 'docs/f'), true]);
  });

  it('remember a bounded number of files, those used last', async () => {
    const fileSystem = memory({ '/a': 'a', '/b': 'b', '/c': 'c' });
    const sandbox = whole(fileSystem);
    const versions = new ReadVersions(sandbox, new Set(), undefined, 2);
    for (const path of ['/a', '/b', '/a', '/c']) await versions.reading(path, {}, async () => '');
    const known: string[] = [];
    for (const path of ['/a', '/b', '/c'])
      await versions.removing(path, {}, async ({ ifVersion }) => {
        if (ifVersion !== undefined) known.push(path);
      });
    expect(known).toEqual(['/a', '/c']);
  });
});

describe.each(STORAGES)('Anthropic’s tools on %s', (_, create) => {
  const AGAIN = 'has changed since you read it, so nothing was done. Read it again first.';

  it.each([
    { command: 'str_replace', old_str: 'two', new_str: 'mine' },
    { command: 'insert', insert_line: 1, insert_text: 'mine' },
  ])('refuse to edit a file that has changed since the model viewed it: $command', async (edit) => {
    const fileSystem = await create({ '/f': 'one\ntwo\n' });
    const { call } = textEditor(whole(fileSystem), { approve: yes });
    const view = { command: 'view', path: '/f' };
    expect((await call({ ...edit, path: '/f' })).isError).toBe(false);
    await call(view);
    await fileSystem.writeFile('/f', 'zero\none\ntwo\n');
    await call({ ...view, view_range: [1, 2] });
    expect(await call({ ...edit, path: '/f' })).toMatchObject({ isError: true, text: `'/f' ${AGAIN}` });
    expect(await fileSystem.readText('/f')).toBe('zero\none\ntwo\n');
    await call(view);
    for (let i = 0; i < 2; i++) {
      const { text } = await call({ ...edit, path: '/f', ...(i === 1 && { old_str: 'mine', new_str: 'mine too' }) });
      expect(text).toMatch(/^The file \/f has been edited/);
    }
  });

  it('refuse to delete or move a memory that has changed since the model viewed it, under its own name', async () => {
    const fileSystem = await create({ '/notes/a': 'one', '/notes/b/c': 'one' });
    const memory = memoryHandlers(whole(fileSystem), { approve: yes, root: '/notes' });
    for (const path of ['/memories/a', '/memories/b/c']) await memory.view({ path });
    await memory.create({ path: '/memories/new', file_text: 'mine' });
    for (const path of ['/notes/a', '/notes/b/c', '/notes/new']) await fileSystem.appendFile(path, ' theirs');
    await expect(memory.delete({ path: '/memories/a' })).rejects.toThrow(`'/memories/a' ${AGAIN}`);
    await expect(memory.delete({ path: '/memories/b' })).rejects.toThrow(`'/memories/b' ${AGAIN}`);
    await expect(memory.rename({ old_path: '/memories/new', new_path: '/memories/x' })).rejects.toThrow(AGAIN);
    expect(await fileSystem.readdir('/notes', { recursive: true })).toEqual(['a', 'b', 'b/c', 'new']);
    await memory.view({ path: '/memories/a' });
    expect(await memory.delete({ path: '/memories/a' })).toBe('Deleted /memories/a.');
  });
});
