import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { type McpServerOptions, McpWorkspaceServer } from '@scratchfs/mcp';
import { openWorkspace, type Workspace } from '@scratchfs/workspace';
import { describe, expect, it, onTestFinished } from 'vitest';
import { passingHandle } from './passing-handle.js';
import { grounds } from './program.js';

async function started(files: Readonly<Record<string, string>>, options: McpServerOptions = {}) {
  const { directory } = grounds(files);
  let workspace: Workspace | undefined;
  const open = async () => {
    workspace ??= await openWorkspace(directory, { store: 'memory:' });
    return workspace;
  };
  const server = new McpWorkspaceServer(open, options);
  const handler = createMcpHandler(server.factory);
  const client = new Client(
    { name: 'tester', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
  );
  const person = { says: true, forms: [] as string[] };
  client.setRequestHandler('elicitation/create', ({ params }) => {
    person.forms.push(params.message);
    return { action: 'accept', content: { approve: person.says } };
  });
  const fetch = ((input: string, init?: RequestInit) => handler.fetch(new Request(input, init))) as never;
  await client.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), { fetch }));
  passingHandle(client);
  onTestFinished(() => server.close());
  const text = async (name: string, input: object = {}): Promise<string> => {
    const { content } = await client.callTool({ name, arguments: { ...input } });
    return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  };
  return { client, text, person, directory, open, at: (path: string) => join(directory, path) };
}

describe('undo and redo', () => {
  it('of an accept are asked about, and a no leaves the disk as it is', async () => {
    const { text, person, at } = await started({ a: 'old\n' });
    await text('write_file', { path: '/a', content: 'new\n' });
    await text('accept');
    person.says = false;
    expect(await text('undo')).toContain('has not approved');
    expect(readFileSync(at('a'), 'utf8')).toBe('new\n');
    person.says = true;
    expect(await text('undo')).toContain('Took back');
    expect(readFileSync(at('a'), 'utf8')).toBe('old\n');
    person.says = false;
    expect(await text('redo')).toContain('has not approved');
    expect(readFileSync(at('a'), 'utf8')).toBe('old\n');
    expect(person.forms).toHaveLength(4);
    expect(person.forms[1]).toContain('on your disk');
  });

  it('of a merge, which only git takes back, ask nobody and say so', async () => {
    const { text, person, directory, at } = await started({ a: 'old\n' });
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', directory, '-c', 'user.name=A', '-c', 'user.email=a@b', ...args], {
        encoding: 'utf8',
      });
    git('init', '-q');
    for (const [key, value] of Object.entries({ 'user.name': 'A', 'user.email': 'a@b' })) git('config', key, value);
    git('add', 'a');
    git('commit', '-qm', 'One');
    await text('write_file', { path: '/a', content: 'new\n' });
    await text('accept', { as: 'merge' });
    expect(person.forms).toHaveLength(1);
    const commit = git('rev-parse', 'HEAD').trim();
    expect(await text('undo')).toContain(
      `git revert ${commit}. To undo what the attempt did before it, restore the state`,
    );
    expect(person.forms).toHaveLength(1);
    expect(readFileSync(at('a'), 'utf8')).toBe('new\n');
  });

  it('of an accept say what changes on the disk, and the form shows its lines', async () => {
    const { text, person, at } = await started({
      'src/a': 'old\n',
      'src/b': 'old\n',
      'guide.md': 'guide\n',
      'new.md': 'new\n',
    });
    await text('move_file', { from: '/new.md', to: '/guide.md' });
    expect(await text('log', { limit: 1 })).toMatch(/\n {4}R \/new.md -> \/guide.md \(replaces a file of 6 bytes\)$/);
    await text('undo');
    await text('delete_file', { path: '/src', recursive: true });
    expect(await text('diff')).toBe('D /src (directory, 2 files)\n[paths shows what is in a removed directory.]');
    expect(await text('diff', { paths: ['/src/a'] })).toContain('\n-old');
    expect(await text('accept', { dry_run: true })).toBe(
      "'/src' would be accepted.\nNothing was changed: this was a dry run.\nwould accept D /src (directory, 2 files)",
    );
    expect(await text('accept')).toContain("Accepted '/src'.\naccepted D /src (directory, 2 files)");
    expect(await text('log', { limit: 1 })).toMatch(/accept: Accept '\/src'\n {4}D \/src \(directory, 2 files\)\n/);
    expect(await text('undo')).toMatch(
      /^Took back operation 4 \(accept\): Accept '\/src'\n {4}A \/src \(directory\)\n {4}A \/src\/a/,
    );
    expect(existsSync(at('src/a'))).toBe(true);
    expect(person.forms[1]).toMatch(/Take back on your disk: 4 .*Accept '\/src'\nA \/src .*\nA \/src\/a \+1 -0\n/);
    expect(person.forms[1]).toContain('+++ b/src/a\n@@ -0,0 +1,1 @@\n+old');
    expect(await text('redo')).toContain('D /src (directory, 2 files)');
    expect(person.forms[2]).toContain('\n-old');
  });

  it('of an accept that the person made are asked about too', async () => {
    const { text, person, at, open } = await started({ a: 'old\n' });
    await text('write_file', { path: '/a', content: 'new\n' });
    await (await (await open()).attempt()).accept();
    person.says = false;
    expect(await text('undo')).toContain('has not approved');
    expect(readFileSync(at('a'), 'utf8')).toBe('new\n');
  });

  it('of changes in the attempt are not asked about', async () => {
    const { text, person } = await started({});
    await text('write_file', { path: '/a', content: 'new\n' });
    expect(await text('undo')).toContain('Took back');
    expect(await text('redo')).toContain('Made again');
    expect(person.forms).toEqual([]);
  });
});

describe('a form of accept', () => {
  it('shows targets, modes, options and what runs by itself, and something of each file', async () => {
    const { text, person, open } = await started({ '.git/HEAD': 'ref: refs/heads/main\n' });
    await text('write_file', { path: '/a-long', content: 'long\n'.repeat(5000) });
    await text('write_file', { path: '/z-short', content: 'EVIL\n' });
    await text('write_file', { path: '/package.json', content: '{}\n' });
    const { fileSystem } = await (await open()).attempt();
    await fileSystem.symlink('z-short', '/link');
    await fileSystem.chmod('/z-short', 0o755);
    person.says = false;
    expect(await text('accept', { message: 'a message', skip_conflicts: true })).toContain('has not approved');
    const [form = ''] = person.forms;
    for (const part of ['/link links to z-short', '/z-short mode 755', 'a message', 'conflicts are left out'])
      expect(form).toContain(part);
    expect(form).toContain('run these on their own: /package.json');
    expect(form).toContain('+EVIL');
    expect(form.indexOf('links to')).toBeLessThan(form.indexOf('+long'));
  });

  it('is not shown if it could not name all paths, or if the accept would fail', async () => {
    const { text, person, open, at } = await started({ a: 'old\n' });
    const attempt = await (await open()).attempt();
    await attempt.operation({}, async (fs) => {
      for (let i = 0; i < 300; i++) await fs.writeFile(`/${i}-${'x'.repeat(40)}`, 'x');
    });
    expect(await text('accept')).toContain('name them in paths');
    await text('write_file', { path: '/a', content: 'agent\n' });
    writeFileSync(at('a'), 'person\n');
    expect(await text('accept', { paths: ['/a'] })).toContain('conflict /a');
    expect(person.forms).toEqual([]);
  });

  it('counts although the person has changed another file of the attempt before', async () => {
    const { text, at } = await started({ a: '1\n2\n3\n4\n5\n6\n7\n8\n' });
    await text('edit_file', { path: '/a', edits: [{ old_text: '1\n', new_text: 'agent\n' }] });
    writeFileSync(at('a'), '1\n2\n3\n4\n5\n6\n7\nperson\n');
    expect(await text('accept')).toMatch(/^Accepted/);
    expect(readFileSync(at('a'), 'utf8')).toBe('agent\n2\n3\n4\n5\n6\n7\nperson\n');
  });
});

describe('what is denied', () => {
  it('is only a number in diff and log, and is not accepted', async () => {
    const { client, text, person, open, at } = await started({ a: 'old\n' }, { deny: ['private'] });
    const attempt = await (await open()).attempt();
    await attempt.operation({ summary: 'Write /private/key' }, async (fs) => {
      await fs.mkdir('/private');
      await fs.writeFile('/private/key', 'hunter2\n');
    });
    await text('write_file', { path: '/b', content: 'b\n' });
    const { resources } = await client.listResources();
    const all = [
      await text('diff'),
      await text('diff', { stat: true }),
      await text('diff', { paths: ['/private'] }),
      await text('log'),
      await text('log', { path: '/private' }),
      await text('accept', { as: 'patch' }),
      await text('accept', { dry_run: true }),
      await text('accept'),
      await text('undo', { to: 0, path: '/private/x' }),
      JSON.stringify(resources),
    ].join('\n');
    expect(all).not.toMatch(/private\/k|hunter2/);
    expect(all).toContain('hidden');
    expect(all).toContain('/b');
    expect(person.forms).toEqual([]);
    expect(await text('accept', { paths: ['/b'] })).toMatch(/^Accepted/);
    expect(existsSync(at('private'))).toBe(false);
  });
});
