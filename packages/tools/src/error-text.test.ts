import { Sandbox } from '@scratchfs/sandbox';
import { describe, expect, it } from 'vitest';
import { memoryHandlers, textEditor } from './adapters/anthropic.js';
import { applyPatch } from './adapters/openai.js';
import { createFileTools } from './file-tools.js';
import { memory, whole, yes } from './testing/sandboxes.js';
import { TOOL_NAMES } from './tool-names.js';

const FILES = { '/src/a.ts': 'a\n', '/big': 'x'.repeat(100), '/png': new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0]) };

/** Calls that fail or succeed, by the tool. */
const CALLS: readonly (readonly [string, object])[] = [
  ['read_file', { path: '/none' }],
  ['read_file', { path: '/src' }],
  ['read_file', { path: '/src/a.ts/x' }],
  ['read_file', { path: '/png' }],
  ['write_file', { path: '/src', content: '' }],
  ['write_file', { path: '/src/a.ts/x', content: '' }],
  ['list_files', { path: '/none' }],
  ['list_files', { limit: 1 }],
  ['edit_file', { path: '/none', old_text: 'a', new_text: 'b' }],
  ['edit_file', { path: '/src/a.ts', old_text: 'z', new_text: 'b' }],
  ['edit_file', { path: '/png', old_text: 'z', new_text: 'b' }],
  ['delete_file', { path: '/src' }],
  ['delete_file', { path: '/none' }],
  ['move_file', { from: '/none', to: '/x' }],
  ['move_file', { from: '/src/a.ts', to: '/none/x' }],
  ['search_files', { pattern: 'x', path: '/none' }],
  ['grep', { pattern: 'x', path: '/none' }],
  ['rollback', { checkpoint: 'x' }],
  ['diff', { from: 'x' }],
];

const ORDINARY_WORDS = ['checkpoint', 'rollback', 'diff', 'memory'];

/** Returns the tools that a text names. Ordinary words count if the text advises to use them. */
function named(text: string): string[] {
  return TOOL_NAMES.filter((name) => {
    const before = ORDINARY_WORDS.includes(name) ? '(?:[Uu]se|[Cc]all|with) ' : '(?<![/\\w])';
    return new RegExp(`${before}${name}(?![/\\w])`).test(text);
  });
}

describe('the texts of a tool', () => {
  it.each(CALLS)('name no tool but itself if it is the only one: %s %o', async (name, input) => {
    const { tools, call } = createFileTools(whole(memory(FILES)), { approve: yes, only: [name] });
    for (const { description, inputSchema } of tools) {
      expect(named(description + JSON.stringify(inputSchema))).toEqual([]);
    }
    const { text } = await call(name, input);
    expect([name]).toEqual(expect.arrayContaining(named(text)));
  });

  it('name others that the model has', async () => {
    const { tools, call } = createFileTools(whole(memory(FILES)), { only: ['read_file', 'search_files', 'grep'] });
    expect((await call('read_file', { path: '/none' })).text).toBe(
      "ENOENT: no such file or directory, open '/none'\nUse search_files to find what there is.",
    );
    expect((await call('read_file', { path: '/src' })).text).toMatch(/\nIt is a directory\.$/);
    expect(tools.find(({ name }) => name === 'search_files')?.description).toMatch(/use grep\.$/);
  });

  it('say how to delete a directory', async () => {
    const { call } = createFileTools(whole(memory(FILES)), { approve: yes });
    expect((await call('delete_file', { path: 'src' })).text).toBe(
      "EISDIR: illegal operation on a directory, rm 'src'. Set recursive to true to delete a directory with all that is in it",
    );
  });
});

describe('the errors of the editor tools and of apply_patch', () => {
  it('name no file tools', async () => {
    const sandbox = whole(memory(FILES));
    const editor = textEditor(sandbox, { approve: yes });
    const handlers = memoryHandlers(whole(memory({ '/memories/d/a': 'a' })), { approve: yes });
    const texts = [
      (await editor.call({ command: 'view', path: '/none' })).text,
      (await editor.call({ command: 'insert', path: '/src', insert_line: 0, insert_text: 'x' })).text,
      (await editor.call({ command: 'view', path: '/src/a.ts/x' })).text,
      (await editor.call({ command: 'view', path: '/png' })).text,
      (await editor.call({ command: 'create', path: '/src/a.ts', file_text: '' })).text,
      await handlers.view({ path: '/memories/none' }).catch(String),
      await handlers.str_replace({ path: '/memories/d', old_str: 'a', new_str: 'b' }).catch(String),
      ...(await Promise.all(
        ['Delete File: /none', 'Delete File: /src', 'Update File: /png\n@@\n-a\n+b', 'Update File: /none\n@@\n-a'].map(
          async (line) =>
            (
              await applyPatch(sandbox, `*** Begin Patch\n*** ${line}\n*** End Patch`, { approve: yes })
            ).text,
        ),
      )),
    ];
    expect(named(texts.join('\n'))).toEqual([]);
    expect(texts[0]).toContain('Use view on a directory');
    expect(texts[4]).toBe("There is a file '/src/a.ts' already. Use str_replace to change it.");
    expect(texts.slice(7).join('\n')).not.toContain('view');
  });
});

describe('the error of a file that is larger than the sandbox allows to read', () => {
  it('does not advise grep, which skips it', async () => {
    const sandbox = new Sandbox(memory(FILES), { root: { root: '/', maxFileBytes: 10 } });
    expect((await createFileTools(sandbox).call('read_file', { path: '/big' })).text).toBe(
      "Cannot read '/big': file too large (100 bytes).\nMaximum allowed: 10 bytes",
    );
  });
});
