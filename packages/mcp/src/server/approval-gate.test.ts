import { describe, expect, it } from 'vitest';
import { connect, type Era, type Reply } from '../testing/clients.js';
import { MemoryWorkspace } from '../testing/memory-workspace.js';
import type { McpServerOptions } from './options.js';
import { McpWorkspaceServer } from './workspace-server.js';

const YES: Reply = { action: 'accept', content: { approve: true } };

function project(options?: McpServerOptions): { workspace: MemoryWorkspace; server: McpWorkspaceServer } {
  const workspace = new MemoryWorkspace({ '/a.txt': 'old\n' });
  return { workspace, server: new McpWorkspaceServer(workspace.open, options) };
}

const write = { path: '/a.txt', content: 'new\n' };

describe.each<Era>(['legacy', 'modern'])('accept by a client with forms of a %s revision', (era) => {
  it('shows the difference, and writes after a yes', async () => {
    const { server, workspace } = project();
    const { text, forms } = await connect(server, era, () => YES);
    await text('write_file', write);
    expect(await text('accept')).toContain('Accepted.');
    expect(workspace.disk.get('/a.txt')).toBe('new\n');
    expect(forms).toEqual([expect.stringContaining('+new')]);
  });

  it.each<[string, Reply]>([
    ['a refusal', { action: 'decline' }],
    ['a closed form', { action: 'cancel' }],
    ['a refusal with content', { action: 'decline', content: { approve: true } }],
    ['a form sent with no', { action: 'accept', content: { approve: false } }],
  ])('takes %s for a no', async (_, reply) => {
    const { server, workspace } = project();
    const { text } = await connect(server, era, () => reply);
    await text('write_file', write);
    expect(await text('accept')).toContain('has not approved');
    expect(workspace.disk.get('/a.txt')).toBe('old\n');
  });

  it('counts for the changes that were shown only', async () => {
    const { server, workspace } = project();
    const other = await connect(server, era);
    const { text } = await connect(server, era, async () => {
      await other.text('write_file', { path: '/b.txt', content: 'unseen' });
      return YES;
    });
    await text('write_file', write);
    expect(await text('accept')).toContain('the attempt has changed since');
    expect([...workspace.disk]).toEqual([['/a.txt', 'old\n']]);
  });

  it('asks nothing about a call with wrong input, a dry run, a patch, and with nothing to accept', async () => {
    const { server } = project();
    const { text, forms } = await connect(server, era, () => YES);
    expect(await text('accept')).toContain('No changes.');
    await text('write_file', write);
    await text('accept', { as: 'nonsense' });
    await text('accept', { dry_run: true });
    await text('accept', { as: 'patch' });
    expect(forms).toEqual([]);
  });

  it('shows no character that a terminal obeys', async () => {
    const { server } = project();
    const { text, forms } = await connect(server, era, () => YES);
    await text('write_file', { path: '/\u001b[2Ja\u202e\u200b.txt', content: '\u001b[31mred\u202e\u{e0041}' });
    await text('accept');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that must not be there
    expect(forms.join()).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e\u200b\u{e0041}]/u);
  });
});

describe('accept by a client without forms', () => {
  it.each<Era>(['legacy', 'modern'])(
    'of a %s revision waits for a numbered approval, which counts once',
    async (era) => {
      const { server, workspace } = project({ approvalCommand: (id) => `scratchfs-mcp approve ${id} here` });
      const { text } = await connect(server, era);
      await text('write_file', write);
      const asked = await text('accept');
      expect(asked).toContain('Needs approval 1.');
      expect(asked).toContain('`scratchfs-mcp approve 1 here`');
      expect(await text('accept')).toContain('Needs approval 1.');
      expect(await text('accept', { paths: ['/a.txt'] })).toContain('Needs approval 2.');
      await workspace.approvals.approve(1);
      expect(await text('accept')).toContain('Accepted.');
      await text('write_file', { path: '/b', content: 'b' });
      expect(await text('accept')).toContain('Needs approval 3.');
    },
  );

  it('needs a new approval after another change', async () => {
    const { server, workspace } = project();
    const { text } = await connect(server, 'legacy');
    await text('write_file', write);
    await text('accept');
    await workspace.approvals.approve(1);
    await text('write_file', { path: '/b', content: 'unseen' });
    expect(await text('accept')).toContain('Needs approval 2.');
    expect(workspace.disk.size).toBe(1);
  });
});

it('at most 20 approvals of an attempt wait; those before its last change make room', async () => {
  const { server, workspace } = project();
  const { text } = await connect(server, 'legacy');
  await text('write_file', write);
  for (let i = 1; i <= 20; i++) expect(await text('accept', { message: `${i}` })).toContain(`Needs approval ${i}.`);
  expect(await text('accept', { message: 'more' })).toContain('20 approvals of the attempt wait already');
  expect(await text('accept', { message: '7' })).toContain('Needs approval 7.');
  await text('write_file', { path: '/b', content: 'b' });
  expect(await text('accept')).toContain('Needs approval 21.');
  expect(await workspace.approvals.list({ state: 'pending' })).toHaveLength(1);
});

describe('a client that lies', () => {
  interface Round {
    readonly resultType?: string;
    readonly requestState?: string;
    readonly isError?: boolean;
    readonly content?: readonly { readonly text: string }[];
  }

  async function liar(options?: McpServerOptions) {
    const { server, workspace } = project(options);
    const { client, text } = await connect(server, 'modern', () => YES);
    await text('write_file', write).catch(() => undefined);
    const call = async (name: string, input: object, extra: object = {}): Promise<Round> =>
      (await client.callTool(
        { name, arguments: input, ...extra } as never,
        { allowInputRequired: true } as never,
      )) as never;
    return { workspace, call, text };
  }

  const yes = { inputResponses: { approval: YES } };

  it('is not believed without a form that was shown', async () => {
    const { call, workspace } = await liar();
    expect(await call('accept', {}, yes)).toMatchObject({ resultType: 'input_required' });
    expect(await call('accept', { approve: true, approved: true }, yes)).toMatchObject({ isError: true });
    await expect(call('accept', {}, { ...yes, requestState: 'made up' })).rejects.toThrow('requestState');
    expect(workspace.disk.get('/a.txt')).toBe('old\n');
  });

  it('is not believed with a seal that it has changed', async () => {
    const { call, workspace } = await liar();
    const { requestState = '' } = await call('accept', {});
    const [version, , mac] = requestState.split('.');
    const body = Buffer.from(JSON.stringify({ p: { call: 'x', id: 'y' }, exp: 2 ** 40 })).toString('base64url');
    await expect(call('accept', {}, { ...yes, requestState: `${version}.${body}.${mac}` })).rejects.toThrow(
      'requestState',
    );
    expect(workspace.disk.get('/a.txt')).toBe('old\n');
  });

  it('cannot use the seal of another process, another input, or another attempt', async () => {
    const [one, two] = [await liar(), await liar()];
    const { requestState } = await one.call('accept', {});
    await expect(two.call('accept', {}, { ...yes, requestState })).rejects.toThrow('requestState');
    await one.text('fork', { name: 'other' });
    expect(await one.call('accept', { attempt: 'other' }, { ...yes, requestState })).toMatchObject({ isError: true });
    const again = await one.call('accept', { paths: ['/x'] });
    expect(await one.call('accept', {}, { ...yes, requestState: again.requestState })).toMatchObject({ isError: true });
    expect(one.workspace.disk.get('/a.txt')).toBe('old\n');
  });

  it('cannot use a form twice', async () => {
    const { call } = await liar({ approve: 'writes' });
    const [{ text: first } = { text: '' }] = (await call('checkpoint', {})).content ?? [];
    const client = /Pass client: "(\w+)"/.exec(first)?.[1];
    const input = { path: '/missing/../a.txt', content: '', client };
    const none = { path: '/none', client };
    const { requestState } = await call('delete_file', none);
    const seal = { ...yes, requestState };
    expect(await call('delete_file', none, seal)).toMatchObject({ isError: true });
    const [{ text } = { text: '' }] = (await call('delete_file', none, seal)).content ?? [];
    expect(text).toContain('used already');
    expect(await call('write_file', input, seal)).toMatchObject({ isError: true });
  });

  it.each<[string, unknown]>([
    ['a string', { action: 'accept', content: { approve: 'true' } }],
    ['a number', { action: 'accept', content: { approve: 1 } }],
    ['an object', { action: 'accept', content: { approve: {} } }],
    ['no content', { action: 'accept' }],
    ['an unknown action', { action: 'yes', content: { approve: true } }],
    ['true alone', true],
    ['a form inside', { method: 'elicitation/create', result: YES }],
  ])('is not believed with %s in place of a yes', async (_, response) => {
    const { call, workspace } = await liar();
    const { requestState } = await call('accept', {});
    const result = await call('accept', {}, { inputResponses: { approval: response }, requestState }).catch(() => ({
      isError: true,
    }));
    expect(result.isError).toBe(true);
    expect(workspace.disk.get('/a.txt')).toBe('old\n');
  });
});

describe('the approval level', () => {
  it('writes makes each change wait', async () => {
    const { server } = project({ approve: 'writes' });
    const { text, forms } = await connect(server, 'modern', () => YES);
    expect(await text('read_file', { path: '/a.txt' })).toContain('old');
    await text('write_file', write);
    expect(forms).toEqual([expect.stringContaining('write_file')]);
    expect(await text('read_file', { path: '/a.txt' })).toContain('new');
  });

  it('all makes each call wait', async () => {
    const { server } = project({ approve: 'all' });
    const { text } = await connect(server, 'modern', () => ({ action: 'decline' }));
    expect(await text('read_file', { path: '/a.txt' })).toContain('has not approved');
  });

  it.each<McpServerOptions>([{ approve: 'all' }, { tools: ['diff'] }, { profile: 'claude', tools: ['Grep'] }])(
    '%j offers no resources, which a host would read without a tool',
    async (options) => {
      const { client } = await connect(project(options).server, 'modern', () => YES);
      expect(client.getServerCapabilities()?.resources).toBeUndefined();
      await expect(client.readResource({ uri: 'scratchfs://calm-otter/a.txt' })).rejects.toThrow();
    },
  );
});
