import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it } from 'vitest';
import { grounds, PROGRAM } from './program.js';

/** Runs a command in a terminal of its own, in which a line is typed. */
async function inTerminal(command: string, typed: string, env: Readonly<Record<string, string>>) {
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
    if (/Type yes: $/.test(output)) child.stdin.end(`${typed}\n`);
  });
  const [code] = await once(child, 'close');
  return { code, output };
}

// util-linux; another system has another program of the name.
const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0;

describe.skipIf(!hasScript)('a client without forms, in a terminal of Linux', () => {
  it('names a command, which shows the change and takes a typed yes only', async () => {
    const { args, env, directory, read } = grounds({ a: 'old\n' });
    const client = new Client({ name: 'tester', version: '1' });
    await client.connect(new StdioClientTransport({ command: process.execPath, args: args(), env }));
    const text = async (name: string, input: Record<string, unknown> = {}): Promise<string> => {
      const { content } = await client.callTool({ name, arguments: input });
      return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    };
    await text('write_file', { path: '/a', content: 'new\n' });
    const asked = await text('accept');
    expect(asked).toContain('Needs approval 1.');
    expect(asked).toContain(`approve 1 ${directory}`);
    const command = ['node', ...PROGRAM, 'approve', '1', directory].join(' ');

    // A yes on stdin is not one that was typed.
    const piped = spawnSync('setsid', ['-w', 'sh', '-c', `echo yes | ${command}`], {
      env: { ...env },
      encoding: 'utf8',
    });
    expect(piped.stderr).toContain('no terminal');
    expect(await text('accept')).toContain('Needs approval 1.');

    expect(await inTerminal(command, 'y', env)).toMatchObject({ code: 4, output: expect.stringContaining('+new') });
    expect(await text('accept')).toContain('Needs approval 1.');
    expect(read()).toEqual({ '/a': 'old\n' });

    expect(await inTerminal(command, 'yes', env)).toMatchObject({ code: 0 });
    expect(await text('accept')).not.toContain('Needs approval');
    expect(read()).toEqual({ '/a': 'new\n' });
    expect((await inTerminal(command, 'yes', env)).code).toBe(1);
    await client.close();
  });
});
