import { chmodSync, mkdirSync, readFileSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Grounds, grounds, PROGRAM } from './program.js';

const REFERENCE = fileURLToPath(
  new URL('./node_modules/@modelcontextprotocol/server-filesystem/dist/index.js', import.meta.url),
);

const FILES: Readonly<Record<string, string>> = {
  'a.txt': 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n',
  'b/c.ts': 'function f() {\n    return 1;\n}\n',
  'b/deep/d.md': '# d\n',
  'crlf.txt': 'a\r\nb\r\nc\r\n',
  'empty.txt': '',
  'no-end.txt': 'x\ny',
  'fence.md': '```ts\nlet x = 1;\n```\n',
  'odd/a\u202eb\nc': 'odd',
  'picture.png': '\x89PNG',
  'sound.mp3': 'ID3',
  'data.bin': '\x00\x01',
};

type Result = { content?: { text?: string }[]; structuredContent?: unknown; isError?: boolean };
type Input = Readonly<Record<string, unknown>>;

/** A call; `DIR` stands for the directory. With `order`, the order of names is not compared. */
interface Case {
  readonly title: string;
  readonly tool: string;
  readonly input: Input;
  readonly order?: 'any' | 'tree';
  /** Difference of our server, and its reason. */
  readonly difference?: string;
}

const call = (title: string, tool: string, input: Input, more: Pick<Case, 'order' | 'difference'> = {}): Case => ({
  title,
  tool,
  input,
  ...more,
});

const INPUT = 'The message for input of a wrong type is ours: that of the reference is its schema library printed.';

const ESCAPED = 'Characters that hide or reorder text are escaped in names.';

const CASES: readonly Case[] = [
  call('a whole file', 'read_text_file', { path: 'DIR/a.txt' }),
  call('a relative path', 'read_text_file', { path: 'a.txt' }),
  call('the old name', 'read_file', { path: 'DIR/b/c.ts' }),
  call('the first lines', 'read_text_file', { path: 'DIR/a.txt', head: 3 }),
  call('more first lines than there are', 'read_text_file', { path: 'DIR/no-end.txt', head: 9 }),
  call('the last lines', 'read_text_file', { path: 'DIR/a.txt', tail: 3 }),
  call('the last lines with CRLF', 'read_text_file', { path: 'DIR/crlf.txt', tail: 2 }),
  call('the first lines with CRLF', 'read_text_file', { path: 'DIR/crlf.txt', head: 2 }),
  call('an empty file', 'read_text_file', { path: 'DIR/empty.txt' }),
  call('the end of an empty file', 'read_text_file', { path: 'DIR/empty.txt', tail: 2 }),
  call('first and last lines together', 'read_text_file', { path: 'DIR/a.txt', head: 1, tail: 1 }),
  call('an unknown parameter', 'read_text_file', { path: 'DIR/a.txt', lines: 3 }),
  call('a missing file', 'read_text_file', { path: 'DIR/none' }),
  call('a missing directory', 'read_text_file', { path: 'DIR/none/none' }),
  call('a path outside', 'read_text_file', { path: '/etc/passwd' }),
  call('a path that leads out', 'read_text_file', { path: 'DIR/../secret' }),
  call('a path with a prefix of the directory', 'read_text_file', { path: 'DIRx/a' }),
  call('a path of Windows', 'read_text_file', { path: 'C:\\Users\\x' }),
  call('a link inside', 'read_text_file', { path: 'DIR/inside' }),
  call(
    'a link that leads out',
    'read_text_file',
    { path: 'DIR/outside' },
    {
      difference: 'The message names the link, not where it leads: nothing outside is looked at.',
    },
  ),
  call('no path', 'read_text_file', {}, { difference: INPUT }),
  call('a wrong type', 'read_text_file', { path: 7 }, { difference: INPUT }),
  call(
    'a secret',
    'read_text_file',
    { path: 'DIR/.env' },
    { difference: 'Secrets are hidden. --allow-secrets shows them.' },
  ),
  call(
    'a secret to edit',
    'edit_file',
    { path: 'DIR/.env', edits: [{ oldText: '1', newText: '2' }], dryRun: true },
    { difference: 'Secrets are hidden.' },
  ),
  call('odd names in a list', 'list_directory', { path: 'DIR/odd' }, { difference: ESCAPED }),
  call('odd names with sizes', 'list_directory_with_sizes', { path: 'DIR/odd' }, { difference: ESCAPED }),
  call('odd names in a tree', 'directory_tree', { path: 'DIR/odd' }, { difference: ESCAPED }),
  call('odd names in a search', 'search_files', { path: 'DIR/odd', pattern: '*' }, { difference: ESCAPED }),
  call('a picture', 'read_media_file', { path: 'DIR/picture.png' }),
  call('a sound', 'read_media_file', { path: 'DIR/sound.mp3' }),
  call('other bytes', 'read_media_file', { path: 'DIR/data.bin' }),
  call('several files with a missing one', 'read_multiple_files', {
    paths: ['DIR/a.txt', 'DIR/none', 'b/c.ts', '/etc'],
  }),
  call('no files', 'read_multiple_files', { paths: [] }, { difference: INPUT }),
  call('a directory', 'list_directory', { path: 'DIR/b' }, { order: 'any' }),
  call('a file as a directory', 'list_directory', { path: 'DIR/a.txt' }),
  call('a missing directory', 'list_directory', { path: 'DIR/none' }),
  call('the top', 'list_directory', { path: 'DIR' }, { order: 'any', difference: 'Secrets are hidden.' }),
  call('sizes by name', 'list_directory_with_sizes', { path: 'DIR/b' }),
  call('sizes by size', 'list_directory_with_sizes', { path: 'DIR/b', sortBy: 'size' }, { order: 'any' }),
  call('sizes by an unknown order', 'list_directory_with_sizes', { path: 'DIR/b', sortBy: 'x' }, { difference: INPUT }),
  call('a tree', 'directory_tree', { path: 'DIR/b' }, { order: 'tree' }),
  call(
    'a tree without some',
    'directory_tree',
    { path: 'DIR', excludePatterns: ['deep', '*.txt', '.env'] },
    { order: 'tree' },
  ),
  call('a search in the top', 'search_files', { path: 'DIR', pattern: '*.txt' }, { order: 'any' }),
  call('a search at all depths', 'search_files', { path: 'DIR', pattern: '**/*.{ts,md}' }, { order: 'any' }),
  call(
    'a search without some',
    'search_files',
    { path: 'DIR', pattern: '**/*.*', excludePatterns: ['b/**', '.env', '*outside*'] },
    { order: 'any' },
  ),
  call('a search without result', 'search_files', { path: 'DIR', pattern: '*.rs' }),
  call('what a file is', 'get_file_info', { path: 'DIR/a.txt' }),
  call('what a missing file is', 'get_file_info', { path: 'DIR/none' }),
  call('the directories', 'list_allowed_directories', {}),
  call('a dry run', 'edit_file', { path: 'DIR/a.txt', edits: [{ oldText: 'two', newText: 'TWO' }], dryRun: true }),
  call('an edit', 'edit_file', {
    path: 'DIR/a.txt',
    edits: [
      { oldText: 'two', newText: 'TWO' },
      { oldText: 'nine\nten', newText: 'NINE' },
    ],
  }),
  call('an edit by lines', 'edit_file', {
    path: 'DIR/b/c.ts',
    edits: [{ oldText: 'function f() {\n  return 1;', newText: 'function g() {\n  return 2;' }],
  }),
  call('an edit of a file without an end of line', 'edit_file', {
    path: 'DIR/no-end.txt',
    edits: [{ oldText: 'x', newText: 'z' }],
  }),
  call('an edit of a text with a fence', 'edit_file', {
    path: 'DIR/fence.md',
    edits: [{ oldText: '1', newText: '2' }],
  }),
  call('an edit that changes nothing', 'edit_file', { path: 'DIR/a.txt', edits: [] }),
  call('an edit of a text that is not there', 'edit_file', {
    path: 'DIR/a.txt',
    edits: [{ oldText: 'nope', newText: '' }],
  }),
  call('an edit of a missing file', 'edit_file', { path: 'DIR/none', edits: [{ oldText: 'a', newText: 'b' }] }),
  call('a new file', 'write_file', { path: 'DIR/new.txt', content: 'new\n' }),
  call('an old file', 'write_file', { path: 'DIR/run.sh', content: 'exit 1\n' }),
  call('a file through a link', 'write_file', { path: 'DIR/inside', content: 'linked\n' }),
  call('a file in a missing directory', 'write_file', { path: 'DIR/none/x', content: '' }),
  call('a file outside', 'write_file', { path: 'DIR/../x', content: '' }),
  call('a new directory', 'create_directory', { path: 'DIR/x/y/z' }),
  call('a directory that exists', 'create_directory', { path: 'DIR/x' }),
  call('a directory in place of a file', 'create_directory', { path: 'DIR/a.txt' }),
  call('a moved file', 'move_file', { source: 'DIR/new.txt', destination: 'DIR/x/moved.txt' }),
  call('a moved directory', 'move_file', { source: 'DIR/b', destination: 'DIR/x/b' }),
  call('a move onto a file', 'move_file', { source: 'DIR/a.txt', destination: 'DIR/crlf.txt' }),
  call('a move of a missing file', 'move_file', { source: 'DIR/none', destination: 'DIR/none2' }),
  call('a move into a missing directory', 'move_file', { source: 'DIR/a.txt', destination: 'DIR/none/a' }),
  call('a move out', 'move_file', { source: 'DIR/a.txt', destination: '/tmp/a.txt' }),
];

function prepared(): Grounds {
  const project = grounds(FILES);
  const { directory } = project;
  writeFileSync(join(directory, '.env'), 'SECRET=1\n');
  writeFileSync(join(directory, 'run.sh'), 'exit 0\n');
  chmodSync(join(directory, 'run.sh'), 0o755);
  symlinkSync('empty.txt', join(directory, 'inside'));
  mkdirSync(join(directory, '..', 'elsewhere'));
  writeFileSync(join(directory, '..', 'elsewhere', 'secret'), 'secret');
  symlinkSync('../elsewhere/secret', join(directory, 'outside'));
  return project;
}

async function connect(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  roots?: readonly string[],
  onStderr?: (text: string) => void,
): Promise<Client> {
  const client = new Client(
    { name: 'tester', version: '1' },
    { capabilities: roots === undefined ? {} : { roots: {} } },
  );
  if (roots !== undefined)
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: roots.map((uri) => ({ uri: `file://${uri}` })) }));
  const stderr = onStderr === undefined ? 'ignore' : 'pipe';
  const transport = new StdioClientTransport({ command: process.execPath, args: [...args], env: { ...env }, stderr });
  transport.stderr?.on('data', (data) => onStderr?.(String(data)));
  await client.connect(transport);
  return client;
}

const within = (value: unknown, from: string, to: string): unknown =>
  JSON.parse(JSON.stringify(value ?? null).replaceAll(from, to));

function normalized(result: Result, directory: string, order: Case['order']): unknown {
  const ordered = (text: string): unknown => {
    if (order === 'tree' && text.startsWith('[')) return sortedTree(JSON.parse(text));
    const lines = text.replace(/^(created|modified|accessed): .*$/gm, '$1').split('\n');
    return order === 'any' ? lines.sort() : lines;
  };
  const named = within(within(result, directory, 'DIR'), dirname(directory), 'TOP');
  const { content = [], structuredContent, isError = false } = named as Result;
  const structured = (structuredContent as { content?: unknown } | undefined)?.content;
  return {
    isError,
    content: content.map((block) => (block.text === undefined ? block : ordered(block.text))),
    structured: typeof structured === 'string' ? ordered(structured) : structured,
  };
}

interface Node {
  readonly name: string;
  readonly children?: Node[];
}

const sortedTree = (nodes: readonly Node[]): Node[] =>
  nodes
    .map((node) => (node.children === undefined ? node : { ...node, children: sortedTree(node.children) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

describe('the profile filesystem beside the reference server', () => {
  let clients: readonly { readonly client: Client; readonly project: Grounds }[];

  it('has its tools with their parameters, kinds of results and annotations', async () => {
    clients = await open();
    const [ours, theirs] = (await Promise.all(clients.map(({ client }) => client.listTools()))).map(({ tools }) =>
      tools.map(({ name, title, inputSchema, outputSchema, annotations }) => ({
        name,
        title,
        parameters: Object.entries(inputSchema.properties ?? {})
          .map(([key, schema]) => [key, kindOf(schema)])
          .sort(),
        required: [...(inputSchema.required ?? [])].sort(),
        result: Object.entries(outputSchema?.properties ?? {}).map(([key, schema]) => [key, kindOf(schema)]),
        annotations,
      })),
    );
    expect(ours?.filter(({ name }) => theirs?.some((one) => one.name === name))).toEqual(theirs);
    expect(ours?.slice(theirs?.length).map(({ name }) => name)).toEqual(['undo', 'redo', 'log']);
  });

  it('costs less than 3,000 tokens, and cuts a long file with a line that says how to go on', async () => {
    const project = grounds({ 'long.txt': 'a line of text\n'.repeat(10_000) });
    const client = await connect([...PROGRAM, project.directory, '--profile', 'filesystem'], project.env);
    const { tools } = await client.listTools();
    expect(Buffer.byteLength(JSON.stringify({ tools })) / 4).toBeLessThan(3000);
    const read = async (input: Input): Promise<string> => {
      const { content } = (await client.callTool({ name: 'read_text_file', arguments: { ...input } })) as Result;
      return content?.[0]?.text ?? '';
    };
    const first = await read({ path: 'long.txt' });
    expect(first.length).toBeLessThanOrEqual(40_000);
    const tail = Number(/with tail: (\d+)\.\]$/.exec(first)?.[1]);
    expect(tail).toBeLessThan(10_000);
    expect((await read({ path: 'long.txt', tail })).startsWith('a line of text\n')).toBe(true);
    await client.close();
  });

  it('returns the same, and leaves the same on the disk, but for what is listed', async () => {
    clients = await open();
    const unexpected: unknown[] = [];
    for (const { title, tool, input, order, difference } of CASES) {
      const results: unknown[] = [];
      for (const { client, project } of clients) {
        const { directory } = project;
        const args = within(input, 'DIR', directory) as Record<string, unknown>;
        results.push(normalized((await client.callTool({ name: tool, arguments: args })) as Result, directory, order));
      }
      const [ours, theirs] = results;
      const isSame = JSON.stringify(ours) === JSON.stringify(theirs);
      if (isSame === (difference !== undefined)) unexpected.push({ title, tool, ours, theirs });
      const [left, right] = clients.map(({ project }) => project.read());
      if (JSON.stringify(left) !== JSON.stringify(right)) unexpected.push({ title, tool, left, right });
    }
    expect(unexpected).toEqual([]);
    const modes = clients.map(({ project }) => statSync(join(project.directory, 'run.sh')).mode & 0o777);
    expect(modes).toEqual([0o755, 0o755]);
  });

  it('keeps line ends where the reference writes LF, refuses to edit other bytes, and takes everything back by undo', async () => {
    const { client, project } = (await open())[0] as (typeof clients)[0];
    const mixed = join(project.directory, 'mixed.txt');
    writeFileSync(mixed, '\ufeffa\r\nb\nport=1\n');
    writeFileSync(join(project.directory, 'latin1.txt'), 'caf\xe9\r\nport=1\n', 'latin1');
    const before = project.read();
    const text = async (name: string, input: Input = {}): Promise<string> =>
      ((await client.callTool({ name, arguments: { ...input } })) as Result).content?.[0]?.text ?? '';
    const { directory } = project;
    expect(await text('edit_file', { path: 'crlf.txt', edits: [{ oldText: 'b', newText: 'B' }] })).toContain('+B\n');
    expect(project.read()['/crlf.txt']).toBe('a\r\nB\r\nc\r\n');
    const edits = [{ oldText: 'port=1', newText: 'port=2' }];
    for (const dryRun of [true, false])
      expect(await text('edit_file', { path: 'latin1.txt', edits, dryRun })).toContain('is not UTF-8 text');
    expect(project.read()['/latin1.txt']).toBe(before['/latin1.txt']);
    expect(await text('edit_file', { path: 'mixed.txt', edits })).toContain('+port=2\n');
    expect(readFileSync(mixed, 'utf8')).toBe('\ufeffa\r\nb\nport=2\n');
    await text('undo');
    await text('move_file', { source: `${directory}/b`, destination: `${directory}/moved` });
    await text('write_file', { path: `${directory}/a.txt`, content: 'gone' });
    expect(await text('log')).toContain('tester write_file');
    for (let count = 0; count < 3; count++) expect(await text('undo')).toContain('Took back');
    expect(project.read()).toEqual(before);
    await text('redo');
    expect(project.read()['/crlf.txt']).toBe('a\r\nB\r\nc\r\n');
    writeFileSync(join(directory, 'crlf.txt'), 'person');
    expect(await text('undo')).toContain('no longer hold');
  });

  it('serves several directories, and fewer if the client has roots', async () => {
    const project = prepared();
    const other = realpathSync(join(project.directory, '..', 'elsewhere'));
    const args = [...PROGRAM, project.directory, other, '--profile', 'filesystem'];
    const ask = async (client: Client, name: string, input: Input = {}): Promise<string> =>
      ((await client.callTool({ name, arguments: { ...input } })) as Result).content?.[0]?.text ?? '';
    const client = await connect(args, project.env);
    onTestFinished(() => client.close());
    expect(await ask(client, 'read_text_file', { path: `${other}/secret` })).toBe('secret');
    expect(await ask(client, 'list_allowed_directories')).toBe(`Allowed directories:\n${project.directory}\n${other}`);
    const missing = [`${project.directory}/none`, `${other}/none`];
    const errors = (await ask(client, 'read_multiple_files', { paths: missing })).split('\n---\n');
    for (const [i, path] of missing.entries())
      expect(errors[i]?.trim()).toBe(`${path}: Error - ENOENT: no such file or directory, open '${path}'`);
    await ask(client, 'write_file', { path: `${other}/secret`, content: 'new' });
    expect(await ask(client, 'undo')).toContain('directory is needed');
    expect(await ask(client, 'undo', { directory: other })).toContain('Took back');
    const move = { source: `${other}/secret`, destination: `${project.directory}/secret` };
    expect(await ask(client, 'move_file', move)).toContain('different allowed directories');
    const narrowed = await connect(args, project.env, [`${project.directory}/b`, '/etc']);
    onTestFinished(() => narrowed.close());
    expect(await ask(narrowed, 'list_allowed_directories')).toBe(`Allowed directories:\n${project.directory}/b`);
    expect(await ask(narrowed, 'read_text_file', { path: `${project.directory}/b/c.ts` })).toContain('return 1');
    for (const path of [`${project.directory}/a.txt`, `${other}/secret`, '/etc/passwd'])
      expect(await ask(narrowed, 'read_text_file', { path })).toContain('Access denied - path outside');
  });

  it('keeps a client with narrower roots to them, also through links, by sizes and by undo', async () => {
    const project = prepared();
    const { directory } = project;
    const inside = `${directory}/b`;
    symlinkSync('../made-outside.txt', `${inside}/dangling`);
    symlinkSync('missing/x.txt', `${inside}/dangling-inside`);
    symlinkSync('../a.txt', `${inside}/leads-out`);
    symlinkSync('..', `${inside}/up`);
    const before = project.read();
    const client = await connect(project.args('--profile', 'filesystem'), project.env, [inside]);
    onTestFinished(() => client.close());
    const ask = async (name: string, input: Input = {}): Promise<string> => {
      const result = (await client.callTool({ name, arguments: { ...input } })) as Result;
      return `${result.isError ? 'Error: ' : ''}${result.content?.[0]?.text}`;
    };
    for (const name of ['dangling', 'leads-out', 'up/new.txt', 'up/made/new.txt']) {
      const path = `${inside}/${name}`;
      expect(await ask('write_file', { path, content: 'escaped' })).toMatch(/^Error: (Access denied|EACCES)/);
      expect(await ask('create_directory', { path })).toMatch(/^Error: (Access denied|EACCES)/);
      expect(await ask('move_file', { source: `${inside}/c.ts`, destination: path })).toMatch(/^Error: /);
      expect(await ask('read_text_file', { path })).toMatch(/^Error: (Access denied|EACCES)/);
    }
    expect(await ask('write_file', { path: `${inside}/dangling-inside`, content: '' })).toContain('ENOENT');
    const list = await ask('list_directory_with_sizes', { path: inside });
    expect(list).toMatch(/leads-out +0 B/);
    for (const tool of ['log', 'undo', 'redo']) {
      expect(await ask(tool)).toContain('Error: undo, redo and log work on the whole');
      expect(await ask(tool, { directory: inside })).toContain('Error: undo, redo and log work on the whole');
    }
    expect(await ask('undo', { to: 0 })).toMatch(/^Error: undo, redo and log/);
    expect(project.read()).toEqual(before);
  });

  it('allows nothing to a client whose roots do not exist, and says so on stderr', async () => {
    const project = prepared();
    let stderr = '';
    const args = project.args('--profile', 'filesystem');
    const client = await connect(args, project.env, [`${project.directory}/none`], (text) => {
      stderr += text;
    });
    onTestFinished(() => client.close());
    const path = `${project.directory}/a.txt`;
    const result = (await client.callTool({ name: 'read_text_file', arguments: { path } })) as Result;
    expect(result.content?.[0]?.text).toContain("not in any: no root of the client lies in this server's directories");
    await expect.poll(() => stderr).toContain('not directories of this disk. Allowed directories: none');
  });

  async function open(): Promise<typeof clients> {
    const [ours, theirs] = [prepared(), prepared()];
    const made = await Promise.all([
      connect(ours.args('--profile', 'filesystem'), ours.env),
      connect([REFERENCE, theirs.directory], theirs.env),
    ]);
    onTestFinished(async () => void (await Promise.all(made.map((client) => client.close()))));
    return [
      { client: made[0] as Client, project: ours },
      { client: made[1] as Client, project: theirs },
    ];
  }
});

const kindOf = (schema: unknown): unknown => {
  const { type } = schema as { type?: string };
  return type === 'integer' ? 'number' : type;
};
