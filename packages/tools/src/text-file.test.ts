import { describe, expect, it } from 'vitest';
import { aiSdkTools } from './adapters/ai-sdk.js';
import { memoryHandlers, textEditor } from './adapters/anthropic.js';
import { applyPatch, applyPatchEditor } from './adapters/openai.js';
import { createFileTools } from './file-tools.js';
import { STORAGES, whole, yes } from './testing/sandboxes.js';

const bytes = (text: string, size = text.length): Uint8Array<ArrayBuffer> => {
  const made = new Uint8Array(size).fill(0xfe);
  made.set([...text].map((unit) => unit.charCodeAt(0)));
  return made;
};

const KINDS: readonly (readonly [string, Uint8Array<ArrayBuffer>, string])[] = [
  ['png', bytes('\x89PNG\r\n\x1a\n\0', 1234), 'a PNG image (1234 bytes)'],
  ['jpeg', bytes('\xff\xd8\xff\xe0', 20), 'a JPEG image (20 bytes)'],
  ['webp', bytes('RIFF\0\0\0\0WEBP'), 'a WebP image (12 bytes)'],
  ['pdf', bytes('%PDF-1.7\n%', 50), 'a PDF document (50 bytes)'],
  ['zip', bytes('PK\x03\x04\0'), 'a ZIP archive, or a document in one (5 bytes)'],
  ['utf16', bytes('\xff\xfeh\0i\0'), 'text in UTF-16 (6 bytes)'],
  ['nul', bytes('a\0b'), 'a binary file (3 bytes)'],
  ['latin1', bytes(`${'a'.repeat(30_000)}\xe9`), 'a binary file, or text in another encoding (30001 bytes)'],
];

/** Advice may follow. */
const startsWith = (text: string): RegExp => new RegExp(`^${text.replaceAll(/[.()]/g, '\\$&')}`);

describe.each(STORAGES)('a file that is not text, on %s,', (_, create) => {
  it.each(KINDS)('is refused with its kind and size by all that read text: %s', async (name, content, kind) => {
    const fileSystem = await create({ [`/memories/${name}`]: content });
    const sandbox = whole(fileSystem);
    const path = `/memories/${name}`;
    const { call } = createFileTools(sandbox, { approve: yes });
    const editor = textEditor(sandbox, { approve: yes });
    const handlers = memoryHandlers(sandbox, { approve: yes });
    const patch = `*** Begin Patch\n*** Update File: ${path}\n@@\n-a\n+b\n*** End Patch`;
    const refused = `'${path}' is not text in UTF-8: it is ${kind}.`;
    for (const result of [
      await call('read_file', { path }),
      await call('read_file', { path, max_chars: 10 }),
      await editor.call({ command: 'view', path }),
      await editor.call({ command: 'str_replace', path, old_str: 'zz', new_str: 'b' }),
      await editor.call({ command: 'insert', path, insert_line: 0, insert_text: 'b' }),
      await applyPatch(sandbox, patch, { approve: yes }),
      ...(name === 'nul' ? [] : [await call('edit_file', { path, old_text: 'zz', new_text: 'b' })]),
    ])
      expect(result).toEqual({ text: expect.stringMatching(startsWith(refused)), isError: true });
    await expect(handlers.view({ path })).rejects.toThrow(refused);
    const { tools } = createFileTools(sandbox);
    await expect(aiSdkTools(tools, (schema) => schema)['read_file']?.execute({ path }, {})).rejects.toThrow(refused);
    const patched = await applyPatchEditor(sandbox, { approve: yes }).updateFile({
      type: 'update_file',
      path,
      diff: '@@\n-a\n+b',
    });
    expect(patched).toEqual({ status: 'failed', output: refused });
    expect(await fileSystem.readFile(path)).toEqual(content);
  });

  it('is told from text with unusual characters', async () => {
    const text = `\ufeffé😀\ufffd${'x'.repeat(8_000)}\0`;
    const { call } = createFileTools(whole(await create({ '/a': text })));
    expect(await call('read_file', { path: '/a', char_offset: 0 })).toMatchObject({ text, isError: false });
  });
});
