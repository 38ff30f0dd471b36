import { observe, readonly } from '@scratchfs/core/layers';
import { describe, expect, it } from 'vitest';
import { createFileTools } from '../file-tools.js';
import { named, STORAGES, whole, yes } from '../testing/sandboxes.js';

describe.each(STORAGES)('the checkpoints of the model on %s', (_, create) => {
  it('are not those of the program, by name or by id', async () => {
    const fileSystem = await create({ '/a': 'one' });
    const own = await fileSystem.checkpoint('start');
    await fileSystem.writeFile('/a', 'two');
    const { call } = createFileTools(whole(fileSystem), { approve: yes });
    for (const name of ['start', own.id]) {
      const refused = { text: `There is no checkpoint '${name}'. Make one with checkpoint.`, isError: true };
      expect(await call('rollback', { checkpoint: name })).toEqual(refused);
      expect(await call('diff', { from: name })).toEqual(refused);
    }
    expect(await fileSystem.readText('/a')).toBe('two');
    expect(await call('checkpoint', { name: 'start' })).toMatchObject({
      text: "Made the checkpoint 'start'.",
      isError: false,
    });
    await fileSystem.writeFile('/a', 'three');
    expect((await call('diff', { from: 'start', to: own.id })).text).toBe(
      `There is no checkpoint '${own.id}'. Make one with checkpoint.`,
    );
    expect((await call('rollback', { checkpoint: 'start' })).isError).toBe(false);
    expect(await fileSystem.readText('/a')).toBe('two');
    expect((await fileSystem.checkpoints()).map(({ name }) => name)).toEqual(['start', 'tools:start']);
    await fileSystem.rollback('start');
    expect(await fileSystem.readText('/a')).toBe('one');
  });

  it('show in a diff the white space at its end', async () => {
    const fileSystem = await create({ '/a': 'one\n\n', '/b': 'one\n' });
    const { call } = createFileTools(whole(fileSystem), { approve: yes });
    await call('checkpoint', { name: 'x' });
    await fileSystem.writeFile('/a', 'two\n\n');
    expect((await call('diff', { from: 'x' })).text.split('\n').slice(3)).toEqual([
      '@@ -1,2 +1,2 @@',
      '-one',
      '+two',
      ' ',
    ]);
    await fileSystem.writeFile('/b', 'one\n  \n');
    expect((await call('diff', { from: 'x' })).text.split('\n').slice(-2)).toEqual([' one', '+  ']);
  });

  it('are found by tools that are created later over the same filesystem', async () => {
    const fileSystem = await create({ '/a': 'one' });
    await createFileTools(whole(fileSystem), { approve: yes }).call('checkpoint', { name: 'x' });
    await fileSystem.writeFile('/a', 'two');
    const { call } = createFileTools(whole(fileSystem), { approve: yes });
    expect((await call('rollback', { checkpoint: 'x' })).isError).toBe(false);
    expect(await fileSystem.readText('/a')).toBe('one');
  });

  it('are numbered without a name, past those that a sandbox hides', async () => {
    const fileSystem = await create({ '/w/a': 'one' });
    const made = async (): Promise<string> => {
      const sandbox = named(fileSystem, { w: { root: '/w', mode: 'rw' } });
      return (await createFileTools(sandbox, { approve: yes }).call('checkpoint', {})).text;
    };
    expect([await made(), await made()]).toEqual(["Made the checkpoint '1'.", "Made the checkpoint '2'."]);
    const { call } = createFileTools(whole(fileSystem), { approve: yes });
    expect((await call('checkpoint', {})).text).toBe("Made the checkpoint '3'.");
    expect((await call('checkpoint', { name: '1' })).text).toBe(
      "There is a checkpoint '1' already: choose another name.",
    );
    expect((await call('checkpoint', { name: 'x'.repeat(300) })).text).toMatch(/ is too long for the name/);
  });
});

describe('the checkpoint tools', () => {
  it.each([
    ['checkpoints', ['checkpoint']],
    ['rollback', ['rollback']],
    ['diff', ['diff']],
  ])('are offered if the filesystem has %s', (ability, offered) => {
    const capabilities = { checkpoints: false, rollback: false, diff: false, [ability]: true };
    const methods = { check: yes, list: yes, locate: yes, show: yes, explain: yes, approvals: yes };
    const sandbox = { readableRoots: ['/'], writableRoots: ['/'], fileSystem: { capabilities }, ...methods };
    const names = createFileTools(sandbox as never).tools.map(({ name }) => name);
    expect(names).toContain('edit_file');
    expect(names.filter((name) => ['checkpoint', 'rollback', 'diff'].includes(name))).toEqual(offered);
  });
});

describe('a read-only sandbox', () => {
  it.each(STORAGES)('offers no tools that write or make checkpoints on %s', async (_, create) => {
    const fileSystem = await create({ '/a': 'a', '/src/b': 'b' });
    const readers = ['read_file', 'read_media', 'list_files', 'file_info', 'search_files', 'grep'];
    for (const sandbox of [
      named(fileSystem, { src: { root: '/src' } }),
      await whole(fileSystem).derive({ allowRead: '/src' }),
      await whole(fileSystem).derive({ inherit: true, readonly: true }),
      whole(readonly(fileSystem)),
      whole(observe(readonly(fileSystem), () => undefined)),
    ]) {
      const { tools, call } = createFileTools(sandbox, { approve: yes });
      expect(tools.map(({ name }) => name)).toEqual(readers);
      expect(tools.map(({ description }) => description).join('\n')).not.toMatch(/edit_file|rollback/);
      for (const name of ['shell', 'checkpoint', 'rollback', 'diff'])
        expect((await call(name, {})).text).toBe(`There is no tool of that name. The tools are ${readers.join(', ')}.`);
      expect(await fileSystem.checkpoints()).toEqual([]);
      const legacy = createFileTools(sandbox, { legacyNames: true }).tools.map(({ name }) => name);
      expect(legacy).not.toContain('sandbox_write_text');
    }
  });

  it('still explains itself if the model calls one by name', async () => {
    const [, create] = STORAGES[0] as (typeof STORAGES)[0];
    const { call } = createFileTools(named(await create({ '/src/b': 'b' }), { src: { root: '/src' } }));
    expect((await call('write_file', { path: 'src/b', content: '' })).text).toBe(
      "Cannot write to 'src/b': path is read-only.\nWritable paths: none",
    );
  });
});
