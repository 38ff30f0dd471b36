import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, it } from 'vitest';
import { type Grounds, grounds } from './program.js';

interface Caller {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

const info = { name: 'tester', version: '1' };

const CLIENTS: Readonly<
  Record<string, (grounds: Grounds, ...args: readonly string[]) => Promise<Caller & { listTools(): Promise<unknown> }>>
> = {
  'of SDK 2 in revision 2026-07-28': async ({ args, env }, ...more) => {
    const client = new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new StdioClientTransport({ command: process.execPath, args: args(...more), env }));
    return client;
  },
  'of SDK 2 in revision 2025-11-25': async ({ args, env }, ...more) => {
    const client = new Client(info);
    await client.connect(new StdioClientTransport({ command: process.execPath, args: args(...more), env }));
    return client;
  },
  'of SDK 1': async ({ args, env }, ...more) => {
    const client = new FirstClient(info);
    await client.connect(new FirstTransport({ command: process.execPath, args: args(...more), env }));
    return client;
  },
};

const textOf = async (caller: Caller, name: string, input: Record<string, unknown> = {}): Promise<string> => {
  const { content } = (await caller.callTool({ name, arguments: input })) as { content: { text?: string }[] };
  return content.map(({ text = '' }) => text).join('\n');
};

describe.each(Object.entries(CLIENTS))('a client %s', (_, connect) => {
  it('works on a directory of the disk, which stays as it is', async () => {
    const project = grounds({ 'src/a.ts': 'let x = 1;\n' });
    const before = project.read();
    const client = await connect(project);
    expect(await textOf(client, 'read_file', { path: '/src/a.ts' })).toContain('let x = 1;');
    await textOf(client, 'write_file', { path: '/src/a.ts', content: 'gone' });
    expect(await textOf(client, 'read_file', { path: '/src/a.ts' })).toContain('gone');
    expect(await textOf(client, 'undo')).toContain('Took back');
    expect(await textOf(client, 'read_file', { path: '/src/a.ts' })).toContain('let x = 1;');
    expect(project.read()).toEqual(before);
    await client.close();
  });
});

describe.each([{ pin: '2026-07-28' }, 'legacy'] as const)('a person whose client shows forms (%j)', (mode) => {
  it('accepts a change, and takes it back from the disk', async () => {
    const {
      args,
      env,
      directory: _,
      read,
    } = grounds({ a: 'old\n', '.git/HEAD': 'ref: refs/heads/main\n', '.env': 'secret' });
    const before = read();
    const client = new Client(info, { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } });
    const forms: string[] = [];
    client.setRequestHandler('elicitation/create', ({ params }) => {
      forms.push(params.message);
      return { action: 'accept', content: { approve: true } };
    });
    await client.connect(new StdioClientTransport({ command: process.execPath, args: args(), env }));
    expect(await textOf(client, 'list_files')).not.toMatch(/\.env|\.git/);
    await textOf(client, 'write_file', { path: '/a', content: 'new\n' });
    expect(read()).toEqual(before);
    await textOf(client, 'accept');
    expect(forms).toEqual([expect.stringContaining('+new')]);
    expect(read()).toEqual({ ...before, '/a': 'new\n' });
    await textOf(client, 'undo');
    expect(forms).toHaveLength(2);
    expect(read()).toEqual(before);
    await client.close();
  });
});

describe('the program', () => {
  it('leaves directory and stores untouched if it is only asked what there is', async () => {
    const project = grounds({ a: 'a' });
    const before = project.read();
    for (const connect of Object.values(CLIENTS)) {
      const client = await connect(project);
      await client.listTools();
      await client.close();
    }
    expect(project.read()).toEqual(before);
    expect(project.read('stores')).toEqual({});
  });

  it('writes nothing but the protocol to stdout, and ends with its input', async () => {
    const { args, env } = grounds({ a: 'a' });
    const child = spawn(process.execPath, args(), { env, stdio: ['pipe', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    const messages = [
      { method: 'initialize', id: 1, params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info } },
      { method: 'notifications/initialized' },
      { method: 'tools/call', id: 2, params: { name: 'read_file', arguments: { path: '/none' } } },
      {
        method: 'tools/call',
        id: 3,
        params: { name: 'write_file', arguments: { path: '/b', content: '\u001b[2J\n' } },
      },
    ];
    for (const message of messages) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    await expect.poll(() => output.split('\n').length).toBe(4);
    child.stdin.end();
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    const lines = output
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ id }) => id).sort()).toEqual([1, 2, 3]);
  });

  it('replies to what it was sent before its input ended', async () => {
    const { args, env } = grounds({ a: 'a' });
    const child = spawn(process.execPath, args(), { env, stdio: ['pipe', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    const call = (id: number, name: string, input: object) =>
      ({ method: 'tools/call', id, params: { name, arguments: input } }) as const;
    const messages = [
      { method: 'initialize', id: 1, params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info } },
      { method: 'notifications/initialized' },
      ...[2, 3, 4].map((id) => call(id, 'write_file', { path: `/b${id}`, content: 'b' })),
      call(5, 'fork', { name: 'x'.repeat(65) }),
    ];
    child.stdin.end(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
    expect((await once(child, 'close'))[0]).toBe(0);
    const answers = output
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.map(({ id }) => id).sort()).toEqual([1, 2, 3, 4, 5]);
    const { result } = answers.find(({ id }) => id === 5);
    expect(result.isError).toBe(true);
    expect(result.content[0].text).not.toContain('fault');
  });

  it('says on stderr what is wrong, and exits with 2', async () => {
    const { env } = grounds({});
    const { PROGRAM } = await import('./program.js');
    const child = spawn(process.execPath, [...PROGRAM, '/no/such/directory'], { env });
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    expect((await once(child, 'close'))[0]).toBe(2);
    expect(errors).toContain('There is no directory /no/such/directory');
  });
});
