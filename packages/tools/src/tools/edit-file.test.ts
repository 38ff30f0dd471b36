import type { FileSystem } from '@scratchfs/core';
import { mount, observe } from '@scratchfs/core/layers';
import { describe, expect, it } from 'vitest';
import type { ApprovalRequest } from '../approvals.js';
import { createFileTools } from '../file-tools.js';
import { memory, named, STORAGES, whole, yes } from '../testing/sandboxes.js';

const TEXT = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n';

const PLACES: readonly (readonly [string, (files: Record<string, string>) => FileSystem | Promise<FileSystem>])[] = [
  ...STORAGES,
  ['a mount, which has no transactions,', (files) => mount(memory(files), { '/m': memory({ '/a': TEXT }) })],
];

describe.each(PLACES)('edit_file on %s', (_, create) => {
  const setUp = async (text = TEXT) => {
    const fileSystem = await create({ '/a': text });
    const { call } = createFileTools(whole(fileSystem), { approve: yes });
    return { fileSystem, edit: (input: object) => call('edit_file', { path: '/a', ...input }) };
  };

  it('makes several edits in their order, and returns the diff', async () => {
    const { fileSystem, edit } = await setUp();
    const edits = [
      { old_text: 'two', new_text: 'TWO' },
      { old_text: 'TWO\nthree', new_text: '2\n3' },
      { old_text: 'n', new_text: 'N', replace_all: true },
    ];
    const { text, structured } = await edit({ edits });
    const diff =
      '--- a/a\n+++ b/a\n@@ -1,10 +1,10 @@\n-one\n-two\n-three\n+oNe\n+2\n+3\n four\n five\n six\n-seven\n+seveN\n eight\n-nine\n-ten\n+NiNe\n+teN';
    expect(text).toBe(`Replaced 7 occurrences in '/a'.\n${diff}`);
    expect(structured).toEqual({ path: '/a', replaced: 7, dryRun: false, diff });
    expect(await fileSystem.readText('/a')).toBe('oNe\n2\n3\nfour\nfive\nsix\nseveN\neight\nNiNe\nteN\n');
  });

  it('makes all edits or none, and says which does not fit', async () => {
    const { fileSystem, edit } = await setUp();
    const good = { old_text: 'two', new_text: 'TWO' };
    const { text, isError, structured } = await edit({ edits: [good, { old_text: 'twelve', new_text: '' }] });
    expect([isError, structured]).toEqual([true, undefined]);
    expect(text).toMatch(/^Edit 2 of 2 does not fit, so none was made\. The text to replace was not found\./);
    expect((await edit({ edits: [good, good] })).text).toContain('Edit 2 of 2 does not fit');
    expect((await edit({ edits: [{ old_text: 'e\n', new_text: '' }, good] })).text).toContain('Edit 1 of 2');
    expect(await fileSystem.readText('/a')).toBe(TEXT);
  });

  it('shows the diff of a dry run, and writes nothing', async () => {
    const { fileSystem, edit } = await setUp();
    const input = { old_text: 'five', new_text: '5' };
    const { text, structured } = await edit({ ...input, dry_run: true });
    const diff = '--- a/a\n+++ b/a\n@@ -2,7 +2,7 @@\n two\n three\n four\n-five\n+5\n six\n seven\n eight';
    expect(text).toBe(`Would replace 1 occurrence in '/a'. Nothing was written.\n${diff}`);
    expect(structured).toMatchObject({ dryRun: true, replaced: 1 });
    expect(await fileSystem.readText('/a')).toBe(TEXT);
    expect((await edit(input)).text).toBe(`Replaced 1 occurrence in '/a'.\n${diff}`);
  });

  it('keeps a byte order mark, line ends and what no edit names', async () => {
    const { fileSystem, edit } = await setUp('\ufeffa\r\nb\r\nc');
    expect((await edit({ old_text: 'b\r\nc', new_text: 'B\r\nC' })).text).toContain('-b\r\n-c\n');
    expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(await fileSystem.readFile('/a'))).toBe(
      '\ufeffa\r\nB\r\nC',
    );
  });

  it('bounds the diff', async () => {
    const { edit } = await setUp(`${'line\n'.repeat(20_000)}`);
    const { text } = await edit({ old_text: 'line', new_text: 'LINE', replace_all: true });
    expect(text.length).toBeLessThan(6_200);
    expect(text).toMatch(/\n\[\d+ more lines of the diff\]$/);
    const large = await edit({ old_text: 'LINE', new_text: `${'x'.repeat(50)}`, replace_all: true });
    expect(large.text).toContain('too large to be shown as a diff');
  });
});

describe('edit_file', () => {
  const setUp = () => {
    const fileSystem = memory({ '/a': TEXT, '/ro/b': 'b' });
    return { fileSystem, call: createFileTools(whole(fileSystem), { approve: yes }).call };
  };

  it.each<[string, object, string]>([
    ['nothing', {}, 'Give either old_text and new_text, or edits'],
    ['both forms', { old_text: 'a', new_text: 'b', edits: [{ old_text: 'a', new_text: 'b' }] }, 'Give either'],
    ['half of an edit', { old_text: 'a' }, 'The parameter new_text is missing'],
    ['the other half', { new_text: 'a' }, 'The parameter old_text is missing'],
    ['no edits', { edits: [] }, 'edits must be a list with 1 item or more, not a list.'],
    ['text', { edits: 'x' }, "edits must be a list with 1 item or more, not 'x'."],
    ['an edit that is text', { edits: ['x'] }, 'edits[0] must be an object with old_text, new_text, replace_all.'],
    ['an incomplete one', { edits: [{ old_text: 'x' }] }, 'The parameter new_text is missing'],
    ['an unknown field', { edits: [{ old_text: 'x', new_text: '', all: true }] }, "There is no parameter 'all'."],
    [
      'replace_all beside edits',
      { edits: [{ old_text: 'x', new_text: '' }], replace_all: true },
      'replace_all belongs into each edit',
    ],
  ])('refuses %s', async (_, input, text) => {
    const result = await setUp().call('edit_file', { path: '/a', ...input });
    expect(result.isError).toBe(true);
    expect(result.text).toContain(text);
  });

  it('asks for approval of all edits together, and for none of a dry run', async () => {
    const asked: ApprovalRequest[] = [];
    const approve = (request: ApprovalRequest): boolean => asked.push(request) > 0;
    const { call } = createFileTools(whole(memory({ '/a': TEXT })), { approve });
    const edits = [
      { old_text: 'two', new_text: '2' },
      { old_text: 'three', new_text: '3' },
    ];
    expect((await call('edit_file', { path: '/a', edits, dry_run: true })).isError).toBe(false);
    expect(asked).toEqual([]);
    expect((await call('edit_file', { path: '/a', edits })).isError).toBe(false);
    expect(asked).toMatchObject([{ effect: 'write', summary: "Make 2 edits in '/a'", detail: '2\n3' }]);
    const careful = createFileTools(whole(memory({ '/a': TEXT })), {
      rules: { edit_file: { approvalRequired: true } },
    });
    expect((await careful.call('edit_file', { path: '/a', edits, dry_run: true })).text).toMatch(/^Not done/);
  });

  it('refuses a dry run of a change that the sandbox refuses', async () => {
    const sandbox = named(memory({ '/w/a': 'a' }), { x: { root: '/w' }, y: { root: '/y', mode: 'rw' } });
    const { call } = createFileTools(sandbox, { approve: yes });
    const input = { path: 'x/a', old_text: 'a', new_text: 'b', dry_run: true };
    expect((await call('edit_file', input)).text).toContain('path is read-only');
  });

  it('makes its edits again if another client changes the file meanwhile, and loses nothing', async () => {
    const beneath = memory({ '/a': TEXT });
    let writes = 0;
    // Another client writes between the read and the write.
    const fileSystem = observe(beneath, ({ operation }) => {
      if (operation === 'readFile' && writes++ < 2) beneath.editFileSync('/a', 'ten', `ten${writes}`);
    });
    const { call } = createFileTools(whole(fileSystem), { approve: yes });
    expect((await call('edit_file', { path: '/a', old_text: 'one', new_text: '1' })).isError).toBe(false);
    expect(beneath.readTextSync('/a')).toBe(TEXT.replace('one', '1').replace('ten', 'ten21'));
    expect(writes).toBeGreaterThan(1);
  });
});
