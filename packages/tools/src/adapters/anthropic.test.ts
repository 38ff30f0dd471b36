import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { betaMemoryTool, type MemoryToolHandlers } from '@anthropic-ai/sdk/helpers/beta/memory';
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import { BetaLocalFilesystemMemoryTool } from '@anthropic-ai/sdk/tools/memory/node';
import { describe, expect, it } from 'vitest';
import { createFileTools } from '../file-tools.js';
import { memory, named, STORAGES, whole, yes } from '../testing/sandboxes.js';
import { memoryHandlers, textEditor } from './anthropic.js';
import { anthropicTools } from './anthropic-tools.js';

const FILES = {
  '/memories/notes.md': 'one\ntwo two\nthree\n',
  '/memories/sub/deep/x.md': 'x',
  '/memories/.hidden': 'h',
  '/memories/crlf.txt': 'a\r\nb\r\n',
  '/memories/binary': new Uint8Array([0xff, 0xfe]),
  '/memoriesfoo/y': 'y',
  '/secret': 's',
};

interface ToolResultBlock {
  readonly tool_use_id: string;
  readonly content: unknown;
  readonly is_error?: boolean;
}

/** Runs Anthropic's own client with a model that makes the given calls, and returns what the client sent back. */
async function conversation(tools: unknown[], name: string, inputs: readonly unknown[]): Promise<ToolResultBlock[]> {
  const results: ToolResultBlock[] = [];
  let at = 0;
  const fetch = async (_: unknown, init?: { body?: unknown }): Promise<Response> => {
    const { messages } = JSON.parse(String(init?.body)) as { messages: { content: unknown }[] };
    const last = messages.at(-1)?.content;
    if (Array.isArray(last)) results.push(...(last as ToolResultBlock[]));
    const input = inputs[at];
    at += 1;
    const content =
      input === undefined ? [{ type: 'text', text: 'done' }] : [{ type: 'tool_use', id: `t${at}`, name, input }];
    return Response.json({
      id: `m${at}`,
      type: 'message',
      role: 'assistant',
      model: 'm',
      content,
      stop_reason: input === undefined ? 'end_turn' : 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    });
  };
  const client = new Anthropic({ apiKey: 'none', fetch: fetch as never });
  await client.beta.messages.toolRunner({
    model: 'm',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'go' }],
    tools: tools as never,
  });
  return results;
}

describe('anthropicTools() in Anthropic’s client', () => {
  const play = async (name: string, inputs: readonly unknown[]) => {
    const fileSystem = memory({ '/a.txt': 'one\n', '/a.gif': 'GIF89a' });
    const { tools } = createFileTools(whole(fileSystem), { approve: yes });
    const runnable: BetaRunnableTool[] = anthropicTools(tools);
    return { fileSystem, results: await conversation(runnable, name, inputs) };
  };

  it('runs the tools that the model calls', async () => {
    const { results } = await play('read_file', [{ path: '/a.txt' }]);
    expect(results).toMatchObject([{ content: '     1\tone' }]);
    const edit = await play('edit_file', [{ path: '/a.txt', edits: [{ old_text: 'one', new_text: '1' }] }]);
    expect(edit.fileSystem.readTextSync('/a.txt')).toBe('1\n');
  });

  it('returns images as blocks', async () => {
    const { results } = await play('read_media', [{ path: '/a.gif' }]);
    expect(results[0]?.content).toEqual([
      { type: 'text', text: "'/a.gif' is a GIF image of 6 bytes." },
      { type: 'image', source: { type: 'base64', media_type: 'image/gif', data: btoa('GIF89a') } },
    ]);
  });

  it('reports failures and wrong input as errors', async () => {
    const { results } = await play('read_file', [{ path: '/none' }, { wrong: 1 }]);
    expect(results.map(({ is_error: isError }) => isError)).toEqual([true, true]);
    expect(results[0]?.content).toContain("ENOENT: no such file or directory, open '/none'");
    expect(results[1]?.content).toContain("There is no parameter 'wrong'");
  });

  it('sends the schemas, and stops with the signal of the runner', async () => {
    const [tool] = anthropicTools(createFileTools(whole(memory({ '/a': 'a' }))).tools);
    expect(tool).toMatchObject({ type: 'custom', name: 'read_file', input_schema: { required: ['path'] } });
    const reason = new Error('enough');
    await expect(tool?.run({ path: '/a' }, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe('memoryHandlers() in Anthropic’s client', () => {
  const play = async (inputs: readonly unknown[]) => {
    const fileSystem = memory(FILES);
    const handlers: MemoryToolHandlers = memoryHandlers(whole(fileSystem), { approve: yes });
    const results = await conversation([betaMemoryTool(handlers)], 'memory', inputs);
    return {
      fileSystem,
      texts: results.map(({ content, is_error: isError }) => `${isError === true ? 'ERROR ' : ''}${String(content)}`),
    };
  };

  it('views directories and files', async () => {
    const { texts } = await play([
      { command: 'view', path: '/memories' },
      { command: 'view', path: '/memories/notes.md' },
      { command: 'view', path: '/memories/notes.md', view_range: [2, -1] },
      { command: 'view', path: '/memories/none' },
    ]);
    expect(texts[0]).toBe(
      'Here are the files and directories up to 2 levels deep in /memories, without hidden ones and node_modules:\n' +
        '2B\t/memories/binary\n6B\t/memories/crlf.txt\n18B\t/memories/notes.md\n-\t/memories/sub/\n-\t/memories/sub/deep/',
    );
    expect(texts[1]).toContain('     1\tone\n     2\ttwo two\n     3\tthree');
    expect(texts[2]).toContain(':\n     2\ttwo two\n     3\tthree');
    expect(texts[3]).toContain('ENOENT: no such file or directory');
    expect(texts[3]).toContain("'/memories/none'");
  });

  it.each(STORAGES)('shows an empty directory before the first write on %s', async (_, create) => {
    for (const [sandbox, root] of [
      [whole(await create({ '/other': 'x' })), undefined],
      [named(await create({ '/other': 'x' }), { store: { root: '/w', mode: 'rw', writeApproval: false } }), 'store'],
    ] as const) {
      const handlers = memoryHandlers(sandbox, { approve: yes, root });
      const empty = 'up to 2 levels deep in /memories, without hidden ones and node_modules:';
      expect(await handlers.view({ path: '/memories' })).toBe(`Here are the files and directories ${empty}`);
      await expect(handlers.view({ path: '/memories/x' })).rejects.toThrow('ENOENT');
      await handlers.create({ path: '/memories/x/a', file_text: 'a' });
      expect(await handlers.view({ path: '/memories' })).toBe(
        `Here are the files and directories ${empty}\n-\t/memories/x/\n1B\t/memories/x/a`,
      );
    }
  });

  it('shows no empty directory for one outside of the sandbox', async () => {
    const sandbox = await whole(memory({ '/src/a': 'a' })).derive({ allowRead: '/src' });
    await expect(memoryHandlers(sandbox).view({ path: '/memories' })).rejects.toThrow('path is outside sandbox');
  });

  it('accepts paths with repeated and final separators, and prints them without', async () => {
    const { fileSystem, texts } = await play([
      { command: 'view', path: '/memories/' },
      { command: 'view', path: '/memories//sub/./' },
      { command: 'delete', path: '/memories/.' },
      { command: 'rename', old_path: '/memories//./', new_path: '/memories/x' },
    ]);
    expect(texts[0]).toContain('18B\t/memories/notes.md\n-\t/memories/sub/\n-\t/memories/sub/deep/');
    expect(texts[1]).toContain(':\n-\t/memories/sub/deep/\n1B\t/memories/sub/deep/x.md');
    expect(texts.slice(2).join()).toBe(['', ''].map(() => 'ERROR Error: The directory /memories itself stays.').join());
    expect(fileSystem.existsSync('/memories/notes.md')).toBe(true);
  });

  it('replaces text that spans several lines', async () => {
    const { fileSystem, texts } = await play([
      { command: 'str_replace', path: '/memories/notes.md', old_str: 'one\ntwo two', new_str: 'ONE $& $1' },
    ]);
    expect(texts[0]).toContain(
      'The file /memories/notes.md has been edited. Here is what stands there now:\n     1\tONE $& $1\n     2\tthree',
    );
    expect(fileSystem.readTextSync('/memories/notes.md')).toBe('ONE $& $1\nthree\n');
  });

  it('refuses text that occurs twice in one line, across lines or overlapping', async () => {
    const { fileSystem, texts } = await play([
      { command: 'str_replace', path: '/memories/notes.md', old_str: 'two', new_str: 'x' },
      { command: 'create', path: '/memories/twice.md', file_text: 'a\nb\na\nb\na\n' },
      { command: 'str_replace', path: '/memories/twice.md', old_str: 'a\nb', new_str: 'x' },
      { command: 'str_replace', path: '/memories/twice.md', old_str: 'a\nb\na', new_str: 'x' },
      { command: 'str_replace', path: '/memories/twice.md', old_str: 'zzz', new_str: 'x' },
      { command: 'str_replace', path: '/memories/twice.md', old_str: '', new_str: 'x' },
    ]);
    expect(texts[0]).toContain('ERROR');
    expect(texts[0]).toContain('old_str appears more than once in /memories/notes.md, beginning in lines 2, 2.');
    expect(texts[2]).toContain('beginning in lines 1, 3.');
    expect(texts[3]).toContain('beginning in lines 1, 3.');
    expect(texts[4]).toContain('old_str does not appear verbatim in /memories/twice.md');
    expect(texts[5]).toContain('old_str must not be empty');
    expect(fileSystem.readTextSync('/memories/twice.md')).toBe('a\nb\na\nb\na\n');
    expect(fileSystem.readTextSync('/memories/notes.md')).toBe(FILES['/memories/notes.md']);
  });

  it('is stricter than the client’s own example, which misses text across lines and a second occurrence in one line', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memory-'));
    try {
      const example = await BetaLocalFilesystemMemoryTool.init(folder);
      const path = '/memories/x';
      await example.create({ command: 'create', path, file_text: 'a\nb b\n' });
      await expect(
        example.str_replace({ command: 'str_replace', path, old_str: 'a\nb', new_str: 'x' }),
      ).rejects.toThrow('did not appear');
      await example.str_replace({ command: 'str_replace', path, old_str: 'b', new_str: 'x' });
      expect(readFileSync(join(folder, path), 'utf8')).toBe('a\nx b\n');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('inserts lines, keeps line ends, and reports the valid line numbers', async () => {
    const { fileSystem, texts } = await play([
      { command: 'insert', path: '/memories/notes.md', insert_line: 0, insert_text: 'zero' },
      { command: 'insert', path: '/memories/notes.md', insert_line: 4, insert_text: 'four\n' },
      { command: 'insert', path: '/memories/notes.md', insert_line: 9, insert_text: 'x' },
      { command: 'insert', path: '/memories/crlf.txt', insert_line: 1, insert_text: 'x' },
      { command: 'insert', path: '/memories/sub/deep/x.md', insert_line: 1, insert_text: 'y' },
      { command: 'insert', path: '/memories/notes.md', insert_line: 'one', insert_text: 'x' },
    ]);
    expect(fileSystem.readTextSync('/memories/notes.md')).toBe('zero\none\ntwo two\nthree\nfour\n');
    expect(fileSystem.readTextSync('/memories/crlf.txt')).toBe('a\r\nx\r\nb\r\n');
    expect(fileSystem.readTextSync('/memories/sub/deep/x.md')).toBe('x\ny');
    expect(texts[2]).toContain('insert_line must be from 0 to 5, the number of lines, not 9.');
    expect(texts[5]).toContain('insert_line must be a number');
  });

  it('creates, deletes and renames, and never replaces an existing file', async () => {
    const { fileSystem, texts } = await play([
      { command: 'create', path: '/memories/a/b.md', file_text: 'b' },
      { command: 'create', path: '/memories/a/b.md', file_text: 'again' },
      { command: 'rename', old_path: '/memories/a/b.md', new_path: '/memories/c/d.md' },
      { command: 'rename', old_path: '/memories/c/d.md', new_path: '/memories/notes.md' },
      { command: 'delete', path: '/memories/sub' },
      { command: 'delete', path: '/memories' },
      { command: 'rename', old_path: '/memories/', new_path: '/memories/x' },
    ]);
    expect(texts[1]).toContain("There is a file '/memories/a/b.md' already");
    expect(texts[3]).toContain("There is something at '/memories/notes.md' already.");
    expect(texts[5]).toContain('The directory /memories itself stays.');
    expect(texts[6]).toContain('The directory /memories itself stays.');
    expect(fileSystem.readTextSync('/memories/c/d.md')).toBe('b');
    expect(fileSystem.existsSync('/memories/sub')).toBe(false);
  });

  it('stays in its directory and refuses files that are not text', async () => {
    const { fileSystem, texts } = await play([
      { command: 'view', path: '/memoriesfoo/y' },
      { command: 'view', path: '/memories/../secret' },
      { command: 'delete', path: '/secret' },
      { command: 'create', path: 'memories/x', file_text: '' },
      { command: 'str_replace', path: '/memories/binary', old_str: 'x', new_str: '' },
      { command: 'view' },
      { command: 'view', path: '/memories/notes.md', view_range: [0, 2] },
      { command: 'view', path: '/memories/notes.md', view_range: [99, -1] },
      { command: 'view', path: '/memories/notes.md', view_range: 'all' },
    ]);
    for (const text of texts.slice(0, 4)) expect(text).toContain('Paths have to begin with /memories');
    expect(texts[4]).toContain("'/memories/binary' is not text in UTF-8: it is text in UTF-16 (2 bytes).");
    expect(texts[5]).toContain('path must be a string.');
    expect(texts[6]).toContain('view_range must be two line numbers');
    expect(texts[7]).toContain('The file has 3 lines: line 99 is past its end.');
    expect(texts[8]).toContain('view_range must be a list of two numbers.');
    expect(fileSystem.readTextSync('/secret')).toBe('s');
  });

  it('uses the directory given as root', async () => {
    const fileSystem = memory({ '/w/mem/a': 'a' });
    const sandbox = named(fileSystem, { store: { root: '/w/mem', mode: 'rw', writeApproval: false } });
    const handlers = memoryHandlers(sandbox, { root: 'store' });
    expect(await handlers.view({ path: '/memories/a' })).toContain('     1\ta');
    await handlers.create({ path: '/memories/b', file_text: 'b' });
    expect(fileSystem.readTextSync('/w/mem/b')).toBe('b');
    await expect(memoryHandlers(whole(fileSystem)).create({ path: '/memories/x', file_text: '' })).rejects.toThrow(
      'nobody is there to give it',
    );
  });
});

describe('textEditor() in Anthropic’s client', () => {
  const play = async (inputs: readonly unknown[]) => {
    const fileSystem = memory({ '/src/a.ts': 'let a = 1;\nlet b = 1;\n', '/src/lib/b.ts': 'b' });
    const editor = textEditor(whole(fileSystem), { approve: yes });
    const { type, name } = editor;
    const run = async (input: unknown, context?: { signal?: AbortSignal | null }): Promise<string> => {
      const { text, isError } = await editor.call(input, { signal: context?.signal ?? undefined });
      if (isError) throw new Error(text);
      return text;
    };
    const results = await conversation([{ type, name, run, parse: (input: unknown) => input }], name, inputs);
    return { fileSystem, texts: results.map(({ content }) => String(content)) };
  };

  it('views, creates, replaces and inserts', async () => {
    const { fileSystem, texts } = await play([
      { command: 'view', path: '/' },
      { command: 'view', path: '/src/a.ts', view_range: [1, 1] },
      { command: 'create', path: '/src/new/c.ts', file_text: 'c\n' },
      { command: 'str_replace', path: '/src/a.ts', old_str: '1;\nlet b', new_str: '2;\nlet c' },
      { command: 'insert', path: '/src/new/c.ts', insert_line: 1, insert_text: 'd' },
      { command: 'str_replace', path: '/src/new/c.ts', old_str: 'c\n' },
    ]);
    expect(texts[0]).toContain('-\t/src/\n22B\t/src/a.ts\n-\t/src/lib/');
    expect(texts[1]).toContain('     1\tlet a = 1;');
    expect(fileSystem.readTextSync('/src/a.ts')).toBe('let a = 2;\nlet c = 1;\n');
    expect(fileSystem.readTextSync('/src/new/c.ts')).toBe('d\n');
  });

  it('rejects commands that only the memory tool has', async () => {
    const { texts } = await play([{ command: 'delete', path: '/src' }, 'no command', { command: 5 }]);
    expect(texts[0]).toContain("There is no command 'delete'.");
    expect(texts[1]).toContain('The input must be an object');
    expect(texts[2]).toContain('command must be a string.');
  });

  it('reports a path with a null character', async () => {
    const editor = textEditor(whole(memory({ '/a': 'a' })), { approve: yes });
    for (const input of [
      { command: 'view', path: '/a\0' },
      { command: 'create', path: '/\0', file_text: '' },
      { command: 'str_replace', path: '/a\0b', old_str: 'a', new_str: 'b' },
      { command: 'insert', path: '\0', insert_line: 0, insert_text: 'b' },
    ])
      expect(await editor.call(input)).toMatchObject({
        isError: true,
        text: expect.stringContaining('null characters'),
      });
  });

  it('lists the root names of a sandbox', async () => {
    const sandbox = named(memory({ '/w/a/x': 'x', '/w/b/.y': 'y', '/w/b/z/q': 'q' }), {
      a: { root: '/w/a' },
      b: { root: '/w/b' },
    });
    expect((await textEditor(sandbox).call({ command: 'view', path: '/' })).text).toContain(
      ':\na/\n1B\ta/x\nb/\n-\tb/z/',
    );
  });

  it('ends a long view with how to continue', async () => {
    const fileSystem = memory({ '/long': 'x'.repeat(99).concat('\n').repeat(2000) });
    const { text } = await textEditor(whole(fileSystem)).call({ command: 'view', path: '/long' });
    expect(text.length).toBeLessThan(61_000);
    expect(text).toMatch(/\[Lines 1 to \d+ of 2000\. To go on, view with view_range \[\d+, -1\]\.\]$/);
  });
});
