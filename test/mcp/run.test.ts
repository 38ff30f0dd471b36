import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Grounds, grounds } from './program.js';

const hasBubblewrap = existsSync('/usr/bin/bwrap') || process.env['CI'] !== undefined;

async function started({ args, env }: Grounds, ...options: readonly string[]) {
  const client = new Client({ name: 'tester', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: args(...options), env }));
  onTestFinished(() => client.close());
  return async (name: string, input: Record<string, unknown> = {}) => {
    const { content, structuredContent, isError } = await client.callTool({ name, arguments: input });
    const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    return { text, isError, ...(structuredContent as object | undefined) };
  };
}

/** Starts a web server and returns a command that prints its text, or `none` if it cannot be reached. */
async function page(): Promise<string> {
  const server = createServer((_, response) => response.end('hello'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return `node -e "fetch('http://127.0.0.1:${port}').then((r) => r.text()).then(console.log, () => console.log('none'))"`;
}

describe.skipIf(!hasBubblewrap)('run (needs bubblewrap)', () => {
  it('says why it does not take what a command makes, and takes no dots for a hidden name', async () => {
    const call = await started(grounds({ a: 'x\n' }), '--allow-run');
    const { text } = await call('run', { command: "echo x >'f\\g'" });
    expect(text).toMatch(/^not taken \/f\\g: .*A name must not be empty, \., \.\. or contain \/ or \\$/m);
  });

  it('changes files of the attempt as one operation, which undo takes back; the disk stays as it is', async () => {
    const project = grounds({ 'src/a.txt': 'one\n', 'src/gone': 'x\n', '.git/HEAD': 'ref: refs/heads/main\n' });
    const before = project.read();
    const call = await started(project, '--allow-run');
    await call('write_file', { path: '/src/b.txt', content: 'of the attempt\n' });
    const command = 'cat b.txt; echo two >>a.txt; rm gone; mkdir ../new; echo n >../new/c; echo careful >&2; exit 3';
    const changed = await call('run', { command, cwd: '/src' });
    expect(changed).toMatchObject({
      text: expect.stringMatching(
        /^exit code 3\nof the attempt\nstderr:\ncareful\n(.*\n)*\[Operation 2 of the attempt/,
      ),
      isError: undefined,
      operation: 2,
      changes: [
        { path: '/new', type: 'added' },
        { path: '/new/c', type: 'added' },
        { path: '/src/a.txt', type: 'changed' },
        { path: '/src/gone', type: 'removed' },
      ],
    });
    expect((await call('log')).text).toMatch(/2 .*tester run/);
    expect((await call('read_file', { path: '/src/a.txt' })).text).toContain('two');
    expect(await call('undo')).toMatchObject({ operation: 3 });
    const looked = await call('run', { command: `cat src/a.txt src/gone src/b.txt; ls; ${await page()}` });
    expect(looked).toMatchObject({ text: expect.stringMatching(/^exit code 0\none\nx\nof the attempt\nsrc\nnone/) });
    expect(looked).toMatchObject({ changes: [] });
    const late = await call('run', { command: 'echo d >d; sleep 60', timeout_s: 1 });
    expect(late).toMatchObject({ text: expect.stringMatching(/^Killed after timeout_s/), changes: [] });
    const commit = await call('run', { command: 'touch .git/index.lock' });
    expect(commit.text).toContain('To commit, accept the attempt as a branch');
    expect((await call('list_files')).text).not.toContain('/d');
    expect(project.read()).toEqual(before);
  });

  it('reaches the network with --network', async () => {
    const call = await started(grounds({ a: 'a' }), '--allow-run', '--network');
    expect((await call('run', { command: await page() })).text).toMatch(/^exit code 0\nhello/);
  });
});
