import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { McpWorkspaceServer } from '@scratchfs/mcp';
import { openWorkspace } from '@scratchfs/workspace';
import { describe, expect, it } from 'vitest';
import { passingHandle } from './passing-handle.js';
import { grounds } from './program.js';

/** Numbers below 1 that depend on the seed alone. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const CALLS = 200;

describe('an agent of 200 random calls', () => {
  it.each([1, 2])('is undone to the first byte (seed %s)', async (seed) => {
    const files = Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [`d${i % 3}/f${i}.txt`, `line ${i}\n`.repeat(i)]),
    );
    const project = grounds(files);
    const server = new McpWorkspaceServer(() => openWorkspace(project.directory, { store: 'memory:' }));
    const handler = createMcpHandler(server.factory);
    const client = new Client({ name: 'random', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    const fetch = ((input: string, init?: RequestInit) => handler.fetch(new Request(input, init))) as never;
    await client.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), { fetch }));
    passingHandle(client);
    const call = async (name: string, input: object = {}): Promise<{ isError?: boolean; text: string }> => {
      const { content, isError = false } = await client.callTool({ name, arguments: { ...input } });
      return { isError, text: content.map((block) => (block.type === 'text' ? block.text : '')).join('\n') };
    };
    const state = async (): Promise<string> => {
      const { text } = await call('list_files', { limit: 1000 });
      const names = text.split('\n').filter((line) => !line.startsWith('['));
      const read = await Promise.all(names.map((line) => call('read_file', { path: line.trim().split(/ +/).at(-1) })));
      return [text, ...read.map((each) => each.text)].join('\n---\n');
    };
    const random = randomFrom(seed);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const path = (): string => `/${pick(['d0', 'd1', 'd2', 'new', 'new/deep'])}/f${Math.floor(random() * 14)}.txt`;
    const directory = (): string => `/${pick(['d0', 'd1', 'd2', 'new', 'moved'])}`;
    const first = await state();
    let made = 0;
    for (let i = 0; i < CALLS; i++) {
      const [name, input] = pick<() => [string, object]>([
        () => ['write_file', { path: path(), content: `text ${i}\n` }],
        () => ['edit_file', { path: path(), edits: [{ old_text: 'line', new_text: `row${i}`, replace_all: true }] }],
        () => ['delete_file', { path: pick([path, directory])(), recursive: random() < 0.5 }],
        () => ['move_file', { from: pick([path, directory])(), to: pick([path, directory])() }],
        () => ['read_file', { path: path() }],
        () => ['undo', {}],
        () => ['redo', {}],
      ])();
      if (!(await call(name, input)).isError && name !== 'read_file') made++;
    }
    const last = await state();
    expect(made).toBeGreaterThan(40);
    expect(last).not.toBe(first);
    let undone = 0;
    while (!(await call('undo')).isError) undone++;
    expect(await state()).toBe(first);
    for (; undone > 0; undone--) expect((await call('redo')).isError).toBe(false);
    expect(await state()).toBe(last);
    expect(project.read()).toEqual(
      Object.fromEntries(
        Object.entries(files)
          .sort()
          .map(([name, text]) => [`/${name}`, text]),
      ),
    );
    await client.close();
    await server.close();
  });
});
