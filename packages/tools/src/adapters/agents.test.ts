import { Agent, type AgentOutputItem, type Model, Runner, tool, Usage } from '@openai/agents-core';
import { describe, expect, it } from 'vitest';
import { createFileTools } from '../file-tools.js';
import { memory, whole, yes } from '../testing/sandboxes.js';
import { agentsTools } from './agents.js';

/** Runs OpenAI's own runner with a model that makes the given calls, and returns the output of each. */
async function play(calls: readonly (readonly [name: string, input: unknown])[]) {
  const fileSystem = memory({ '/a.txt': 'one\ntwo\n', '/a.gif': 'GIF89a' });
  const { tools } = createFileTools(whole(fileSystem), { approve: yes });
  const outputs: unknown[] = [];
  let told: readonly unknown[] = [];
  let at = 0;
  const model: Model = {
    async getResponse({ input, tools: given }) {
      told = given;
      if (Array.isArray(input))
        outputs.splice(0, outputs.length, ...input.filter((item) => item.type === 'function_call_result'));
      const call = calls[at];
      at += 1;
      const item =
        call === undefined
          ? {
              type: 'message',
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text: 'done' }],
            }
          : {
              type: 'function_call',
              callId: `c${at}`,
              name: call[0],
              status: 'completed',
              arguments: JSON.stringify(call[1]),
            };
      return { usage: new Usage(), output: [item as AgentOutputItem] };
    },
    getStreamedResponse() {
      throw new Error('not used');
    },
  };
  const agent = new Agent({ name: 'a', model, tools: agentsTools(tools, tool) });
  const { finalOutput } = await new Runner({ tracingDisabled: true }).run(agent, 'go', { maxTurns: 20 });
  expect(finalOutput).toBe('done');
  return { fileSystem, told, outputs: (outputs as { output: unknown }[]).map(({ output }) => output) };
}

describe('agentsTools() in OpenAI’s Agents SDK', () => {
  it('passes the schemas to the model and runs the tools it calls', async () => {
    const { fileSystem, told, outputs } = await play([
      ['read_file', { path: '/a.txt' }],
      ['edit_file', { path: '/a.txt', old_text: 'one\ntwo', new_text: 'three' }],
    ]);
    expect(outputs).toMatchObject([
      { type: 'text', text: '     1\tone\n     2\ttwo' },
      { type: 'text', text: expect.stringMatching(/^Replaced 1 occurrence in/) },
    ]);
    expect(fileSystem.readTextSync('/a.txt')).toBe('three\n');
    expect(told).toContainEqual(
      expect.objectContaining({
        type: 'function',
        name: 'read_file',
        strict: false,
        parameters: expect.objectContaining({ required: ['path'] }),
      }),
    );
  });

  it('returns images as parts of the output', async () => {
    const { outputs } = await play([['read_media', { path: '/a.gif' }]]);
    expect(outputs).toMatchObject([
      [{ type: 'input_text', text: "'/a.gif' is a GIF image of 6 bytes." }, { type: 'input_image' }],
    ]);
    expect(JSON.stringify(outputs)).toContain(`data:image/gif;base64,${btoa('GIF89a')}`);
  });

  it('returns failures and wrong input as text for the model', async () => {
    const { outputs } = await play([
      ['read_file', { path: '/none' }],
      ['read_file', { wrong: 1 }],
    ]);
    expect(outputs).toMatchObject([
      { text: expect.stringMatching(/^ENOENT: no such file or directory, open '\/none'\n/) },
      { text: expect.stringMatching(/^There is no parameter 'wrong'/) },
    ]);
  });

  it('rejects with the reason of an aborted call', async () => {
    const [read] = agentsTools(createFileTools(whole(memory({ '/a': 'a' }))).tools, (options) => options);
    const reason = new Error('enough');
    const call = read?.execute({ path: '/a' }, undefined, { signal: AbortSignal.abort(reason) });
    await expect(call).rejects.toBe(reason);
    expect(() => read?.errorFunction(undefined, reason)).toThrow(reason);
  });
});
