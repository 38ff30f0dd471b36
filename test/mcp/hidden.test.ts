import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { McpWorkspaceServer } from '@scratchfs/mcp';
import { type Attempt, openWorkspace, WorkspaceError } from '@scratchfs/workspace';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { connectOverHttp, serve } from './other-node.js';
import { passingHandle } from './passing-handle.js';
import { grounds } from './program.js';

const DENY = ['classified', '*.pem'];
/** A name and a content that no client may see, except in what it has sent itself. */
const SECRETS = /plan-x|hunter/;

interface Scene {
  readonly client: Client;
  /** The person's view of the same attempt, in which the names of `DENY` are not hidden. */
  readonly attempt: Attempt;
  readonly directory: string;
  /** Messages of the forms that were shown. */
  readonly forms: string[];
  /** Calls a tool. Returns the whole result as JSON. */
  call(name: string, input?: object): Promise<string>;
}

/** Sets up a person who changes hidden files beside an agent in one attempt, in several operations. */
async function scene(mode: 'legacy' | 'modern'): Promise<Scene> {
  const project = grounds({ 'src/a.ts': 'let x = 1;\n', 'classified/plan-x.txt': 'hunter2\n', '.env': 'A=hunter2\n' });
  vi.stubEnv('XDG_STATE_HOME', project.env['XDG_STATE_HOME']);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { directory } = project;
  const server = new McpWorkspaceServer(() => openWorkspace(directory, { deny: DENY }), { deny: DENY, allowRun: true });
  const workspace = await openWorkspace(directory);
  onTestFinished(async () => {
    await server.close();
    await workspace.close();
  });
  const attempt = await workspace.attempt();
  const forms: string[] = [];
  const elicitation = { elicitation: { form: {} } };
  const versionNegotiation = { mode: mode === 'legacy' ? 'legacy' : ('auto' as const) } as const;
  const client = new Client({ name: 'agent', version: '1' }, { capabilities: elicitation, versionNegotiation });
  client.setRequestHandler('elicitation/create', ({ params }) => {
    forms.push(params.message);
    return { action: 'accept', content: { approve: true } };
  });
  await connectOverHttp(client, await serve(server));
  passingHandle(client);
  const call = async (name: string, input: object = {}): Promise<string> =>
    JSON.stringify(await client.callTool({ name, arguments: { ...input } }));
  await call('write_file', { path: '/src/b.ts', content: 'let y = 2;\n' });
  const { fileSystem } = attempt;
  await fileSystem.writeFile('/classified/plan-x.txt', 'hunter3\n');
  await fileSystem.writeFile('/classified/plan-x-2.txt', 'hunter4\n');
  const label = { tool: 'run', summary: "cp -r classified/plan-x.txt 'classified/plan-x 3' /tmp" };
  await attempt.labelled(label, () => fileSystem.writeFile('/src/c.ts', 'let z = 3;\n'));
  return { client, attempt, directory, forms, call };
}

const SENTENCES = [
  'cat hunter.pem|wc',
  'sh -c "cat hunter.pem"',
  "bash -lc 'cat hunter.pem | wc'",
  'sort <hunter.pem',
  'echo x >>hunter.pem',
  'git show HEAD:hunter.pem',
  'node --key=hunter.pem a.js',
  'cat `ls hunter.pem`',
  'cat hunter.pem&',
  'cat {hunter.pem,x}',
  'cat "hunter.pem "',
  "cat 'classified/plan-x 3/plan-x.txt' plan",
  'Shown: /src/c.ts, /classified/see plan-x.txt. Write /classified/plan-x.',
];
const COMMANDS = [...SENTENCES, 'cd classified && cat plan-x.txt', 'cat plan\\-x.txt classified'];

/** Calls whose results must not contain `SECRETS`, by title. */
const DOORS: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  'the log': ({ call }) => call('log'),
  'a summary in the log': ({ call }) => call('log', { path: '/src/c.ts' }),
  'commands of a person': async ({ call, attempt }) => {
    for (const [i, summary] of COMMANDS.entries())
      await attempt.labelled({ tool: 'run', summary }, () => attempt.fileSystem.writeFile('/src/c.ts', `${i}`));
    const undone = await call('undo');
    const log = await call('log', { path: '/src/c.ts' });
    expect(log).toContain('a command of user');
    return [undone, log];
  },
  'sentences of a person': async ({ call, attempt }) => {
    for (const [i, summary] of SENTENCES.entries())
      await attempt.labelled({ tool: 'edit', summary }, () => attempt.fileSystem.writeFile('/src/c.ts', `${i}`));
    const log = await call('log', { path: '/src/c.ts' });
    expect(log).toContain('Shown: ');
    return log;
  },
  'a diff': ({ call }) => call('diff'),
  'a diff of names': ({ call }) => call('diff', { stat: true }),
  'a diff of operations': ({ call }) => call('diff', { from: 0, to: 3 }),
  'a diff of paths': ({ call }) => call('diff', { paths: ['/'] }),
  'a comparison': async ({ call }) => {
    await call('fork', { name: 'other', at: 1 });
    return call('attempts', { compare_with: 'other' });
  },
  'the list of attempts': ({ call }) => call('attempts'),
  'the list of files': ({ call }) => call('list_files', { depth: 5 }),
  'a search for names': ({ call }) => call('search_files', { pattern: '**' }),
  'a search in contents': ({ call }) => call('grep', { pattern: '[2-4]' }),
  'an undo and a redo': async ({ call }) => [await call('undo'), await call('undo'), await call('redo')],
  'an undo to a state': ({ call }) => call('undo', { to: 0 }),
  'an undo that cannot be': async ({ call, attempt, directory }) => {
    await attempt.accept();
    writeFileSync(join(directory, 'classified', 'plan-x.txt'), 'hunter5\n');
    const result = await call('undo');
    expect(result).toContain('no longer hold');
    return result;
  },
  'an undo to a state that cannot be': async ({ call, attempt }) => {
    const error = new WorkspaceError('refused', 'Nothing: /classified/plan-x.txt. /classified/plan-x 3, /src/a.ts');
    const restore = vi.spyOn(Object.getPrototypeOf(attempt), 'restore').mockRejectedValueOnce(error);
    const result = await call('undo', { to: 0 });
    restore.mockRestore();
    expect(result).toContain('/src/a.ts');
    return result;
  },
  'an accept': ({ call }) => call('accept'),
  'a patch': ({ call }) => call('accept', { as: 'patch' }),
  'a dry run': ({ call }) => call('accept', { dry_run: true }),
  'the list of resources': ({ client }) => client.listResources(),
  'a directory as a resource': ({ client, attempt }) => client.readResource({ uri: `scratchfs://${attempt.name}/src` }),
  'a completion of paths': async ({ client, attempt }) => {
    const complete = (value: string) =>
      client.complete({
        ref: { type: 'ref/resource', uri: 'scratchfs://{attempt}/{+path}' },
        argument: { name: 'path', value },
        context: { arguments: { attempt: attempt.name } },
      });
    return [await complete(''), await complete('cl'), await complete('classified/')];
  },
  'what a refresh found': async ({ call, directory }) => {
    writeFileSync(join(directory, 'classified', 'plan-x.txt'), 'hunter6\n');
    return call('write_file', { path: '/src/d.ts', content: 'd' });
  },
  prompts: async ({ client }) => [await client.listPrompts(), await client.getPrompt({ name: 'what-happened' })],
};

describe('what is hidden never appears to a client', () => {
  it.each(Object.entries(DOORS))('by %s', async (_, open) => {
    const made = await scene('modern');
    const result = JSON.stringify([await open(made), made.forms]);
    expect(result).not.toMatch(SECRETS);
  });
});

describe.each(['legacy', 'modern'] as const)('what is hidden never appears to a client of a %s revision', (mode) => {
  it('by errors, which are the same for what does not exist', async () => {
    const { call, client, attempt } = await scene(mode);
    const neutral = (text: string): string => text.replace(/plan-x|nothing/g, 'P');
    for (const tool of ['read_file', 'read_media', 'delete_file', 'list_files', 'grep', 'search_files']) {
      const input = (name: string) => ({ path: `/classified/${name}.txt`, pattern: 'hunter' });
      const { pattern: _, ...plain } = input('');
      const of = (name: string) => (/grep|search/.test(tool) ? input(name) : { ...plain, path: input(name).path });
      expect(neutral(await call(tool, of('plan-x')))).toBe(neutral(await call(tool, of('nothing'))));
    }
    const failure = async (name: string): Promise<string> => {
      const reading = client.readResource({ uri: `scratchfs://${attempt.name}/classified/${name}.txt` });
      return neutral(await reading.then(String, String));
    };
    expect(await failure('plan-x')).toBe(await failure('nothing'));
  });

  it('by updates of a resource', async () => {
    const { client, attempt } = await scene(mode);
    const heard: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      heard.push(params.uri);
    });
    const [hidden, shown] = ['classified/plan-x.txt', 'src/a.ts'].map((path) => `scratchfs://${attempt.name}/${path}`);
    const uris = [hidden as string, shown as string];
    if (mode === 'legacy') for (const uri of uris) await client.subscribeResource({ uri });
    else await client.listen({ resourceSubscriptions: uris });
    // The server begins to follow events some time after the request.
    for (let i = 0; i < 100 && heard.length === 0; i++) {
      await attempt.fileSystem.writeFile('/classified/plan-x.txt', `hunter${i}`);
      await attempt.fileSystem.writeFile('/src/a.ts', `${i}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await expect.poll(() => heard.length).toBeGreaterThan(0);
    expect(heard).not.toContain(hidden);
  });
});
