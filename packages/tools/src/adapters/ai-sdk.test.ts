import { generateText, jsonSchema, stepCountIs } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import { createFileTools } from '../file-tools.js';
import { memory, whole, yes } from '../testing/sandboxes.js';
import { aiSdkTools } from './ai-sdk.js';

interface Call {
  readonly toolName: string;
  readonly input: unknown;
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that makes the given calls one after the other, then repeats the results it received. */
function scripted(calls: readonly Call[]) {
  let at = 0;
  return new MockLanguageModelV3({
    doGenerate: async () => {
      const call = calls[at];
      at += 1;
      if (call === undefined) {
        return {
          content: [{ type: 'text', text: 'done' }],
          finishReason: { unified: 'stop', raw: 'stop' },
          usage,
          warnings: [],
        };
      }
      const { toolName, input } = call;
      return {
        content: [{ type: 'tool-call', toolCallId: `call-${at}`, toolName, input: JSON.stringify(input) }],
        finishReason: { unified: 'tool-calls', raw: 'tool-calls' },
        usage,
        warnings: [],
      };
    },
  });
}

async function play(calls: readonly Call[]) {
  const fileSystem = memory({ '/a.txt': 'one\ntwo\n', '/a.gif': 'GIF89a' });
  const { tools } = createFileTools(whole(fileSystem), { approve: yes });
  const model = scripted(calls);
  const result = await generateText({
    model,
    prompt: 'go',
    tools: aiSdkTools(tools, jsonSchema),
    stopWhen: stepCountIs(calls.length + 1),
  });
  return { fileSystem, model, result };
}

describe('aiSdkTools()', () => {
  it('passes the schemas to the model and runs the tools it calls', async () => {
    const { fileSystem, model, result } = await play([
      { toolName: 'read_file', input: { path: '/a.txt' } },
      { toolName: 'edit_file', input: { path: '/a.txt', old_text: 'one\ntwo', new_text: 'three' } },
    ]);
    expect(result.text).toBe('done');
    const outputs = result.steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output));
    expect(outputs).toMatchObject([
      { text: '     1\tone\n     2\ttwo', structured: { totalLines: 2 } },
      { text: expect.stringMatching(/^Replaced 1 occurrence in/), structured: { replaced: 1 }, links: ['/a.txt'] },
    ]);
    const seen = model.doGenerateCalls[1]?.prompt.at(-1)?.content;
    expect(seen).toMatchObject([{ output: { type: 'text', value: '     1\tone\n     2\ttwo' } }]);
    expect(fileSystem.readTextSync('/a.txt')).toBe('three\n');
    const told = model.doGenerateCalls[0]?.tools ?? [];
    expect(told.map(({ name }) => name)).toContain('grep');
    expect(told.find(({ name }) => name === 'read_file')).toMatchObject({
      type: 'function',
      inputSchema: { type: 'object', required: ['path'], additionalProperties: false },
    });
  });

  it('passes images to the model', async () => {
    const { model } = await play([{ toolName: 'read_media', input: { path: '/a.gif' } }]);
    expect(model.doGenerateCalls.at(-1)?.prompt.at(-1)?.content).toMatchObject([
      {
        output: {
          type: 'content',
          value: [
            { type: 'text', text: "'/a.gif' is a GIF image of 6 bytes." },
            { type: 'image-data', mediaType: 'image/gif', data: btoa('GIF89a') },
          ],
        },
      },
    ]);
  });

  it('turns a failed tool into an error whose text the model sees', async () => {
    const { model, result } = await play([
      { toolName: 'read_file', input: { path: '/none' } },
      { toolName: 'read_file', input: { wrong: 1 } },
    ]);
    const errors = result.steps.flatMap(({ content }) => content.filter((part) => part.type === 'tool-error'));
    expect(errors).toHaveLength(2);
    const seen = JSON.stringify(model.doGenerateCalls.at(-1)?.prompt);
    expect(seen).toContain("ENOENT: no such file or directory, open '/none'");
    expect(seen).toContain("There is no parameter 'wrong'");
  });
});
