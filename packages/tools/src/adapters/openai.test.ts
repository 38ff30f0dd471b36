import {
  Agent,
  type AgentOutputItem,
  applyDiff,
  applyPatchTool,
  type Editor,
  type Model,
  Runner,
  Usage,
} from '@openai/agents-core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memory, named, whole, yes } from '../testing/sandboxes.js';
import { applyPatch, applyPatchEditor } from './openai.js';
import type { PatchOperation } from './patch.js';
import { applyUpdate, createdText } from './v4a.js';

const FILES = { '/src/a.ts': 'let a = 1;\nlet b = 1;\nlet c = 1;\n', '/old.txt': 'old' };

/** Runs OpenAI's own runner with a model that sends the given patches, and returns the result of each. */
async function play(operations: readonly PatchOperation[]) {
  const fileSystem = memory(FILES);
  const editor: Editor = applyPatchEditor(whole(fileSystem), { approve: yes });
  const outputs: unknown[] = [];
  let at = 0;
  const model: Model = {
    async getResponse({ input }) {
      if (Array.isArray(input))
        outputs.splice(0, outputs.length, ...input.filter((item) => item.type === 'apply_patch_call_output'));
      const operation = operations[at];
      at += 1;
      const item = (
        operation === undefined
          ? {
              type: 'message',
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text: 'done' }],
            }
          : { type: 'apply_patch_call', callId: `c${at}`, status: 'completed', operation }
      ) as AgentOutputItem;
      return { usage: new Usage(), output: [item] };
    },
    getStreamedResponse() {
      throw new Error('not used');
    },
  };
  const agent = new Agent({ name: 'a', model, tools: [applyPatchTool({ editor })] });
  const { finalOutput } = await new Runner({ tracingDisabled: true }).run(agent, 'go', { maxTurns: 20 });
  expect(finalOutput).toBe('done');
  return { fileSystem, outputs: outputs as { status: string; output?: string }[] };
}

describe('applyPatchEditor() in OpenAI’s Agents SDK', () => {
  it('creates, updates, moves and deletes files', async () => {
    const { fileSystem, outputs } = await play([
      { type: 'create_file', path: '/new/x.ts', diff: '+one\n+two\n' },
      { type: 'update_file', path: '/src/a.ts', diff: '@@\n let a = 1;\n-let b = 1;\n+let b = 2;\n let c = 1;\n' },
      { type: 'update_file', path: '/src/a.ts', diff: '@@ let b = 2;\n-let c = 1;\n', moveTo: '/src/sub/b.ts' },
      { type: 'delete_file', path: '/old.txt' },
    ]);
    expect(outputs.map(({ status }) => status)).toEqual(Array(4).fill('completed'));
    expect(fileSystem.toJSON()).toEqual({ '/new/x.ts': 'one\ntwo', '/src/sub/b.ts': 'let a = 1;\nlet b = 2;\n' });
  });

  it('reports why a patch does not fit, and changes nothing', async () => {
    const { fileSystem, outputs } = await play([
      { type: 'update_file', path: '/src/a.ts', diff: '@@\n-let x = 1;\n+let x = 2;\n' },
      { type: 'update_file', path: '/none', diff: '@@\n-a\n' },
      { type: 'create_file', path: '/old.txt', diff: '+x\n' },
      { type: 'delete_file', path: '/src' },
      { type: 'update_file', path: '../x', diff: '@@\n-a\n' },
      { type: 'update_file', path: '/old.txt', diff: '' },
      { type: 'update_file', path: '/old.txt', diff: '', moveTo: '/src/a.ts' },
      { type: 'create_file', path: '/y', diff: 'x' },
    ]);
    expect(outputs.map(({ status }) => status)).toEqual(Array(8).fill('failed'));
    const texts = outputs.map(({ output }) => output);
    expect(texts[0]).toBe(
      "The patch does not fit: the line 'let x = 1;' cannot be found. Read the file and make the patch anew.",
    );
    expect(texts[1]).toContain("open '/none'");
    expect(texts[2]).toContain("There is a file '/old.txt' already");
    expect(texts[3]).toContain("'/src'");
    expect(texts[4]).toContain("Cannot access '../x'");
    expect(texts[5]).toContain("The patch says nothing of what to change in '/old.txt'.");
    expect(texts[6]).toContain("There is something at '/src/a.ts' already.");
    expect(texts[7]).toContain("Every line of a new file has to begin with '+', not 'x'.");
    expect(fileSystem.toJSON()).toEqual(FILES);
  });
});

describe('applyPatch', () => {
  it('applies a patch of several files', async () => {
    const fileSystem = memory(FILES);
    const patch = [
      '*** Begin Patch',
      '*** Add File: /x.ts',
      '+x',
      '*** Update File: /src/a.ts',
      '*** Move to: /b.ts',
      '@@',
      '-let a = 1;',
      '+let a = 3;',
      '*** Delete File: /old.txt',
      '*** End Patch',
    ].join('\n');
    expect(await applyPatch(whole(fileSystem), patch, { approve: yes })).toEqual({
      text: "Create '/x.ts': done.\nUpdate '/src/a.ts' and move it to '/b.ts': done.\nDelete '/old.txt': done.",
      isError: false,
    });
    expect(fileSystem.toJSON()).toEqual({
      '/b.ts': 'let a = 3;\nlet b = 1;\nlet c = 1;\n',
      '/x.ts': 'x',
      '/src': null,
    });
  });

  it('applies everything or nothing', async () => {
    const fileSystem = memory(FILES);
    const patch =
      '*** Begin Patch\n*** Delete File: /old.txt\n*** Add File: /n\n+n\n*** Update File: /src/a.ts\n@@\n-nothing like it\n*** End Patch';
    expect((await applyPatch(whole(fileSystem), patch, { approve: yes })).isError).toBe(true);
    expect(fileSystem.toJSON()).toEqual(FILES);
  });

  it('asks for approval once, and touches nothing that the sandbox forbids', async () => {
    const asked: unknown[] = [];
    const sandbox = named(memory({ '/a/x': 'x', '/b/y': 'y' }), { a: { root: '/a', mode: 'rw' }, b: { root: '/b' } });
    const approve = (request: unknown): boolean => asked.push(request) > 0;
    const both = '*** Begin Patch\n*** Update File: a/x\n@@\n-x\n+z\n*** Update File: b/y\n@@\n-y\n+z\n*** End Patch';
    expect((await applyPatch(sandbox, both, { approve })).text).toContain("Cannot write to 'b/y': path is read-only.");
    expect(asked).toEqual([]);
    const one = '*** Begin Patch\n*** Update File: a/x\n@@\n-x\n+z\n*** Add File: a/new\n+n\n*** End Patch';
    expect((await applyPatch(sandbox, one, { approve })).isError).toBe(false);
    expect(asked).toMatchObject([
      { summary: "Update 'a/x'; Create 'a/new'", paths: ['a/x', 'a/new'], detail: '@@\n-x\n+z\n+n' },
    ]);
  });

  it.each([
    ['no beginning', '*** Update File: /a\n*** End Patch', "A patch has to begin with '*** Begin Patch'"],
    ['no end', '*** Begin Patch\n*** Delete File: /a', "A patch has to begin with '*** Begin Patch'"],
    ['nothing in it', '*** Begin Patch\n*** End Patch', 'The patch changes nothing.'],
    ['a line of another kind', '*** Begin Patch\nhello\n*** End Patch', "'*** Delete File: ' is expected: 'hello'"],
    [
      'text after a removal',
      '*** Begin Patch\n*** Delete File: /old.txt\n+x\n*** End Patch',
      "Nothing may follow the removal of '/old.txt'.",
    ],
  ])('refuses a patch with %s', async (_, patch, text) => {
    const result = await applyPatch(whole(memory(FILES)), patch, { approve: yes });
    expect(result).toMatchObject({ isError: true });
    expect(result.text).toContain(text);
  });
});

describe('a V4A diff', () => {
  const both = (text: string, diff: string): string => {
    const ours = applyUpdate(text, diff);
    expect(ours).toBe(applyDiff(text, diff));
    return ours;
  };

  it.each([
    ['context and a change', 'a\nb\nc\n', '@@\n a\n-b\n+B\n c\n', 'a\nB\nc\n'],
    ['no mark at the start', 'a\nb\n', '-a\n+A\n', 'A\nb\n'],
    ['two sections', 'a\nb\na\nb\n', '@@\n-a\n+1\n@@\n-a\n+2\n', '1\nb\n2\nb\n'],
    ['a line to look for first', 'x\na\ny\na\n', '@@ y\n-a\n+b\n', 'x\na\ny\nb\n'],
    ['several of them', 'k\nf\na\nk2\nf\na\n', '@@ k2\n@@ f\n-a\n+b\n', 'k\nf\na\nk2\nf\nb\n'],
    ['white space at the end that differs', 'a  \nb\n', '@@\n a\n-b\n+c\n', 'a  \nc\n'],
    ['white space in front that differs', '    a\n    b\n', '@@\n a\n-b\n+c\n', '    a\nc\n'],
    ['the end of the file', 'a\nb\na\nb\n', '@@\n a\n-b\n+c\n*** End of File\n', 'a\nb\na\nc\n'],
    ['only new lines', 'a\nb\n', '@@ a\n+x\n', 'a\nx\nb\n'],
    ['an empty line as context', 'a\n\nb\n', '@@\n a\n\n-b\n+c\n', 'a\n\nc\n'],
    ['CRLF', 'a\r\nb\r\n', '@@\n a\n-b\n+c\n', 'a\r\nc\r\n'],
    ['a file without a last newline', 'a\nb', '@@\n-b\n+c\n', 'a\nc'],
    ['several lines taken away and put in', 'a\nb\nc\nd\n', '@@\n a\n-b\n-c\n+x\n+y\n+z\n d\n', 'a\nx\ny\nz\nd\n'],
    ['two changes in one section', 'a\nb\nc\nd\ne\n', '@@\n-a\n+A\n b\n c\n-d\n+D\n e\n', 'A\nb\nc\nD\ne\n'],
  ])('with %s gives the same result as OpenAI’s own code', (_, text, diff, expected) => {
    expect(both(text, diff)).toBe(expected);
  });

  it('between any two texts turns one into the other, as OpenAI’s own code does', () => {
    const line = fc.constantFrom('a', 'b', 'c', '', 'x y', '  indented', '*', '@');
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 12 }),
        fc.array(line, { maxLength: 12 }),
        fc.integer({ min: 0, max: 12 }),
        (top, added, at) => {
          const from = Math.min(at, top.length);
          const kept = top.slice(0, from);
          const removed = top.slice(from, from + 3);
          const rest = top.slice(from + 3);
          const diff = [
            ...kept.map((each) => ` ${each}`),
            ...removed.map((each) => `-${each}`),
            ...added.map((each) => `+${each}`),
            ...rest.map((each) => ` ${each}`),
          ];
          if (diff.length === 0) return;
          const text = top.map((each) => `${each}\n`).join('');
          const wanted = [...kept, ...added, ...rest].map((each) => `${each}\n`).join('');
          expect(both(text, `@@\n${diff.join('\n')}\n`)).toBe(wanted);
        },
      ),
    );
  });

  it('is refused if it does not fit', () => {
    for (const diff of [
      '@@\n-nothing\n',
      '@@ k\n@@ nothing\n-a\n',
      'nonsense\n',
      '@@\n',
      '@@\n-a\n*** Other\n',
      '@@\n-a\n@@\n-a\n',
    ]) {
      expect(() => applyUpdate('k\na\nb\n', diff), diff).toThrow();
      expect(() => applyDiff('k\na\nb\n', diff), diff).toThrow();
    }
  });

  it('ends at *** End Patch', () => {
    expect(both('a\n', '@@\n-a\n+b\n*** End Patch\n')).toBe('b\n');
  });

  it('creates a file from lines with +', () => {
    expect(createdText('+a\n+\n+b\n')).toBe('a\n\nb');
    expect(createdText('+a\n+\n+b\n')).toBe(applyDiff('', '+a\n+\n+b\n', 'create'));
  });

  it('stops searching after a bounded number of comparisons', () => {
    const before = process.cpuUsage().user;
    const diff = `@@\n${' a\n'.repeat(5000)}-b\n`;
    expect(() => applyUpdate('a\n'.repeat(100_000), diff)).toThrow('takes too long to place');
    expect((process.cpuUsage().user - before) / 1000).toBeLessThan(3000);
  });
});
