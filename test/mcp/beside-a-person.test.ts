import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler, InMemoryTransport } from '@modelcontextprotocol/server';
import { type McpServerOptions, McpWorkspaceServer } from '@scratchfs/mcp';
import { openWorkspace } from '@scratchfs/workspace';
import { describe, expect, it, onTestFinished } from 'vitest';
import { passingHandle } from './passing-handle.js';
import { grounds } from './program.js';

const lines = Array.from({ length: 12 }, (_, i) => `line ${i + 1}`);
const before = `${lines.join('\n')}\n`;

async function started(
  { directory, read } = grounds({ a: before, b: 'b\n' }),
  store = 'memory:',
  options: McpServerOptions = {},
  afterDryRun?: () => void,
) {
  const server = new McpWorkspaceServer(async () => {
    const workspace = await openWorkspace(directory, { store });
    if (afterDryRun === undefined) return workspace;
    const attempt = await workspace.attempt();
    const forClient = attempt.forClient.bind(attempt);
    attempt.forClient = () => {
      const own = forClient();
      const accept = own.accept.bind(own);
      own.accept = async (options) => {
        const result = await accept(options);
        if (options?.dryRun === true) afterDryRun();
        return result;
      };
      return own;
    };
    return workspace;
  }, options);
  onTestFinished(() => server.close());
  const { text, forms } = await clientOf(server);
  const edit = (from: string, to: string): Promise<string> =>
    text('edit_file', { path: '/a', edits: [{ old_text: from, new_text: to }] });
  const person = (content: string): void => writeFileSync(join(directory, 'a'), content);
  return { server, text, edit, person, read, forms };
}

/** Connects a client over HTTP without a handshake. It passes the handle that results name, as a model does. */
async function clientOf(server: McpWorkspaceServer) {
  const handler = createMcpHandler(server.factory);
  const client = new Client(
    { name: 'tester', version: '1' },
    { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { form: {} } } },
  );
  const forms: string[] = [];
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    forms.push(params.message);
    return { action: 'decline' as const };
  });
  const fetch = ((input: string, init?: RequestInit) => handler.fetch(new Request(input, init))) as never;
  await client.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), { fetch }));
  return { text: textOf(passingHandle(client)), forms };
}

const textOf =
  (client: Client) =>
  async (name: string, input: object = {}): Promise<string> => {
    const { content } = await client.callTool({ name, arguments: { ...input } });
    return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  };

/** Connects a client of a revision with a handshake. */
async function clientWithHandshake(server: McpWorkspaceServer) {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await (await server.factory({ era: 'legacy' })).connect(far);
  const client = new Client({ name: 'tester', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
  await client.connect(near as never);
  return { text: textOf(client) };
}

describe('an agent beside a person', () => {
  it.each([
    ['edit_file', { edits: [{ old_text: 'line 5', new_text: 'agent 5' }] }],
    ['read_file', {}],
    ['write_file', { content: 'all new\n' }],
    ['edit_file', { edits: [{ old_text: 'line 12', new_text: 'agent 12' }] }],
  ])('is told by %s what the person changed at its path, also if it is refused', async (tool, input) => {
    const { text, edit, person } = await started();
    await edit('line 1\n', 'agent 1\n');
    if (tool === 'write_file') await text('read_file', { path: '/a' });
    person(before.replace('line 12', 'person 12'));
    const told = await text(tool, { path: '/a', ...input });
    expect(told).toContain('1 file changed on disk: /a');
    if (tool === 'write_file') expect(told).toContain('changed since');
    const merged = await text('read_file', { path: '/a' });
    expect(merged).toContain('agent 1');
    expect(merged).toContain('person 12');
    expect(merged).not.toContain('changed on disk');
  });

  it('edits at once what the person wrote', async () => {
    const { text, edit, person } = await started();
    await edit('line 1\n', 'agent 1\n');
    person(before.replace('line 12', 'person 12'));
    await edit('person 12', 'both 12');
    expect(await text('read_file', { path: '/a' })).toContain('both 12');
  });

  it.each(['diff', 'accept'])('is told by %s what the person changed at any other path', async (tool) => {
    const { text, edit, person } = await started();
    await edit('line 1\n', 'agent 1\n');
    person(before.replace('line 12', 'person 12'));
    for (const [name, input] of [
      ['write_file', { path: '/c', content: 'c' }],
      ['read_file', { path: '/b' }],
      ['undo', {}],
      ['redo', {}],
    ] as const)
      expect(await text(name, input)).not.toContain('changed on disk');
    const told = await text(tool, tool === 'accept' ? { dry_run: true } : {});
    expect(told).toContain('1 file changed on disk: /a');
    if (tool === 'diff') expect(told).not.toContain('12');
  });

  it('is told of a conflict by the call that touches it, and keeps its own version', async () => {
    const { text, edit, person } = await started();
    await edit('line 5', 'agent 5');
    person(before.replace('line 5', 'person 5'));
    expect(await text('write_file', { path: '/c', content: 'c' })).not.toContain('conflict');
    expect(await edit('line 1\n', 'agent 1\n')).toContain('conflict /a: both changed the same lines');
    expect(await text('read_file', { path: '/a' })).toContain('agent 5');
    expect(await edit('agent 5', 'both 5')).not.toContain('conflict');
    expect(await text('accept', { dry_run: true })).not.toContain('conflict');
  });

  it('settles no conflict that its results have not named', async () => {
    const { text, edit, person } = await started();
    await edit('line 5', 'agent 5');
    await text('write_file', { path: '/b', content: 'agent\n' });
    person(before.replace('line 5', 'person 5'));
    await text('write_file', { path: '/b', content: 'agent 2\n' });
    // The conflict begins before this call, which is the first to name it.
    expect(await text('write_file', { path: '/a', content: before })).toContain('conflict /a');
    expect(await text('accept', { dry_run: true })).toContain('conflict /a');
  });

  it('settles no conflict of which only another client was told', async () => {
    const ground = grounds({ a: before, b: 'b\n' });
    const store = `file://${grounds({}).directory}`;
    const other = await started(ground, store);
    await other.edit('line 5', 'agent 5');
    other.person(before.replace('line 5', 'person 5'));
    expect(await other.text('diff', {})).toContain('conflict /a');
    const { text, edit } = await started(ground, store);
    expect(await edit('agent 5', 'both 5')).toContain('conflict /a');
    expect(await text('accept', { dry_run: true })).toContain('conflict /a');
    await edit('both 5', 'settled 5');
    expect(await text('accept', { dry_run: true })).not.toContain('conflict /a');
  });

  it.each([
    ['without a handshake', clientOf],
    ['with a handshake', clientWithHandshake],
  ])(
    '%s shares neither what it was told nor what it has read with another client of the server',
    async (_, connect) => {
      const { server, person, read } = await started();
      const [one, two] = [await connect(server), await connect(server)];
      const edits = (from: string, to: string) => ({ path: '/a', edits: [{ old_text: from, new_text: to }] });
      await one.text('edit_file', edits('line 5', 'agent 5'));
      await two.text('read_file', { path: '/b' });
      await one.text('write_file', { path: '/b', content: 'one\n' });
      expect(await two.text('write_file', { path: '/b', content: 'two\n' })).toContain('changed since you read it');
      person(before.replace('line 5', 'person 5'));
      expect(await one.text('diff')).toContain('conflict /a');
      // Only the other client was told, so this settles nothing; the next edit does.
      expect(await two.text('edit_file', edits('agent 5', 'two 5'))).toContain('conflict /a');
      expect(await one.text('accept', { dry_run: true })).toContain('conflict /a');
      await two.text('edit_file', edits('two 5', 'both 5'));
      expect(await one.text('accept', { dry_run: true })).not.toContain('conflict');
      expect(read()).toMatchObject({ '/a': before.replace('line 5', 'person 5') });
    },
  );

  it('has to name itself where requests belong to no connection, or cannot change a file', async () => {
    const { server } = await started();
    const handler = createMcpHandler(server.factory);
    const client = new Client({ name: 'tester', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    const fetch = ((input: string, init?: RequestInit) => handler.fetch(new Request(input, init))) as never;
    await client.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), { fetch }));
    const call = async (name: string, input: Record<string, unknown>): Promise<string> =>
      JSON.stringify((await client.callTool({ name, arguments: input })).content);
    for (const [name, input] of [
      ['write_file', { path: '/a', content: '' }],
      ['edit_file', { path: '/a', edits: [{ old_text: 'line 1\n', new_text: '' }] }],
      ['delete_file', { path: '/a' }],
      ['move_file', { from: '/a', to: '/z' }],
    ] as const) {
      expect(await call(name, input)).toContain('This call needs client');
      expect(await call(name, { ...input, client: 'unknown' })).toContain('no longer knows what this client has read');
      expect(await call(name, { ...input, client: 1 })).toContain('client must be a string');
    }
    expect(await call('checkpoint', {})).toMatch(/^.*"0: undo.*Pass client: /);
  });

  it('makes no operation on a read-only server', async () => {
    const ground = grounds({ a: before });
    const store = `file://${grounds({}).directory}`;
    const { edit, person } = await started(ground, store);
    await edit('line 1\n', 'agent 1\n');
    person(before.replace('line 12', 'person 12'));
    const { text } = await started(ground, store, { readOnly: true });
    expect(await text('read_file', { path: '/a' })).toContain('agent 1');
    expect(await text('diff')).toContain('+agent 1');
    expect(await text('checkpoint')).toContain('1: undo');
  });

  it('settles no conflict that only the person has seen, in a form', async () => {
    const { text, edit, person, forms } = await started();
    await edit('line 5', 'agent 5');
    await text('write_file', { path: '/b', content: 'agent\n' });
    person(before.replace('line 5', 'person 5'));
    expect(await text('accept', { skip_conflicts: true })).not.toContain('conflict');
    expect(forms).toEqual([expect.stringContaining('conflict /a')]);
    expect(await edit('line 1\n', 'agent 1\n')).toContain('conflict /a');
    expect(await text('accept', { dry_run: true })).toContain('conflict /a');
  });

  it('settles a conflict that a refused accept has named', async () => {
    const { text, edit, person } = await started();
    await edit('line 5', 'agent 5');
    person(before.replace('line 5', 'person 5'));
    expect(await text('accept')).toContain('conflict /a');
    await edit('agent 5', 'both 5');
    expect(await text('accept', { dry_run: true })).not.toContain('conflict /a');
  });

  it('settles no conflict whose line was cut off', async () => {
    const long = Array.from({ length: 16 }, () => 'd'.repeat(240)).join('/');
    const names = Array.from({ length: 12 }, (_, i) => `${long}/${String.fromCharCode(97 + i)}`);
    const ground = grounds(Object.fromEntries(names.map((name) => [name, before])));
    const { text } = await started(ground);
    const change = (name: string, from: string, to: string) =>
      text('edit_file', { path: `/${name}`, edits: [{ old_text: from, new_text: to }] });
    for (const name of names) await change(name, 'line 5', 'agent 5');
    for (const name of names) writeFileSync(join(ground.directory, name), before.replace('line 5', 'person 5'));
    const ends = [names[0], names.at(-1)] as [string, string];
    const named = (told: string): boolean[] => ends.map((name) => told.includes(`conflict /${name}: `));
    for (const input of [{}, { dry_run: true }]) {
      const told = await text('accept', input);
      expect(told).toHaveLength(40_000);
      expect(named(told)).toEqual([true, false]);
    }
    for (const name of ends) await change(name, 'agent 5', 'both 5');
    expect(named(await text('accept', { paths: ends.map((name) => `/${name}`), dry_run: true }))).toEqual([
      false,
      true,
    ]);
  });

  it('is told why a removed directory stays on the disk, and the way out', async () => {
    const ground = grounds({ '.gitignore': 'build/gen/\n', 'build/gen/x': 'x\n' });
    execFileSync('git', ['init', '-q'], { cwd: ground.directory });
    const { text, forms } = await started(ground);
    await text('delete_file', { path: '/build', recursive: true });
    for (let i = 0; i < 2; i++) {
      const told = await text('accept');
      expect(told).toContain("they stay: '/build'. Ignored directories");
      expect(told).toContain('undo with to: 0 and path');
    }
    expect(forms).toEqual([]);
    expect(await text('undo', { to: 0, path: '/build' })).toContain('Restored');
    expect(await text('accept')).toContain('no changes to accept');
    expect(ground.read()).toMatchObject({ '/build/gen/x': 'x\n' });
  });

  it('is told what a patch leaves out, which git applies', async () => {
    const ground = grounds({ 'd/a': before, 'd/c': 'c\n' });
    const { text } = await started(ground);
    await text('delete_file', { path: '/d', recursive: true });
    writeFileSync(join(ground.directory, 'd/a'), before.replace('line 5', 'person 5'));
    const patch = await text('accept', { as: 'patch', skip_conflicts: true });
    expect(patch).toMatch(/^Left out because of conflicts: 1 path\.\n/);
    expect(patch).toContain('conflict /d/a: one side removed what the other changed');
    execFileSync('git', ['apply'], { cwd: ground.directory, input: patch });
    expect(Object.keys(ground.read())).toEqual(['/d/a']);
  });

  it('writes nothing without a yes if the person undoes their edit after the plan', async () => {
    const ground = grounds({ 'd/a': before });
    const person = (content: string): void => writeFileSync(join(ground.directory, 'd/a'), content);
    const { text, forms } = await started(ground, undefined, {}, () => person(before));
    await text('delete_file', { path: '/d', recursive: true });
    person(before.replace('line 5', 'person 5'));
    expect(await text('accept', { skip_conflicts: true })).toContain('conflict /d/a');
    expect(forms).toEqual([]);
    expect(ground.read()).toEqual({ '/d/a': before });
  });

  it.each(['accept', 'diff'])('is told of a conflict once by %s', async (tool) => {
    const { text, edit, person } = await started();
    await edit('line 5', 'agent 5');
    person(before.replace('line 5', 'person 5'));
    for (const input of tool === 'accept' ? [{}, { dry_run: true }] : [{}])
      expect((await text(tool, input)).match(/conflict \/a/g)).toHaveLength(1);
  });

  it('is told of a conflict by the undo that brings it about', async () => {
    const { text, edit, person } = await started();
    await edit('line 5', 'agent 5');
    await edit('agent 5', 'line 5');
    person(before.replace('line 5', 'person 5'));
    expect(await text('undo', {})).toContain('conflict /a: both changed the same lines');
  });

  it('does not overwrite what it has not seen', async () => {
    const { text, person, read } = await started();
    await text('read_file', { path: '/a' });
    person('from the person\n');
    expect(await text('write_file', { path: '/a', content: 'over it' })).toContain('changed since');
    expect(await text('read_file', { path: '/a' })).toContain('from the person');
    expect(read()).toMatchObject({ '/a': 'from the person\n' });
  });
});
