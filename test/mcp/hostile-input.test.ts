import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, it, onTestFinished } from 'vitest';
import { grounds } from './program.js';

/** Valid inputs, in which one parameter at a time is replaced. */
const INPUTS: Readonly<Record<string, Record<string, unknown>>> = {
  read_file: { path: '/a' },
  read_media: { path: '/a' },
  write_file: { path: '/a', content: 'new' },
  edit_file: { path: '/a', edits: [{ old_text: 'a', new_text: 'b' }] },
  delete_file: { path: '/none' },
  move_file: { from: '/none', to: '/to' },
  list_files: { path: '/' },
  search_files: { pattern: '*' },
  grep: { pattern: 'a' },
  undo: { to: 0, path: '/a' },
  log: { path: '/a' },
  diff: { paths: ['/a'] },
  fork: { name: 'Not a name' },
  attempts: { compare_with: 'none' },
  accept: { paths: ['/a'] },
};

const HOSTILE: readonly unknown[] = [
  'x'.repeat(1_100_000),
  `/${'d/'.repeat(2_100)}e`,
  `/${'é'.repeat(128)}`,
  '\ud800',
  '/d/\udfff/e',
  '\0',
  '__proto__',
  '/__proto__/constructor',
  '',
  null,
  Number.MAX_VALUE,
  { toString: 'x' },
  [['/a']],
];

it('refuses damaged and very large arguments of each tool by name, and loses nothing', async () => {
  const project = grounds({ a: 'a\n' });
  const before = project.read();
  const client = new Client({ name: 'hostile', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: project.args(), env: project.env }));
  onTestFinished(() => client.close());
  const call = async (name: string, input: Record<string, unknown>): Promise<string> => {
    const { content, isError } = await client.callTool({ name, arguments: input });
    const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    return `${isError ? 'Error: ' : ''}${text}`;
  };
  await call('write_file', { path: '/kept', content: 'kept\n' });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).filter((name) => !(name in INPUTS))).toEqual(['checkpoint', 'redo']);
  const failed: string[] = [];
  for (const { name, inputSchema } of tools) {
    const input = INPUTS[name] ?? {};
    expect(await call(name, JSON.parse('{"__proto__":{"path":"/a"},"constructor":1}'))).toContain(
      "parameter 'constructor'",
    );
    const isText = (schema: unknown): boolean => ['string', 'array'].includes(Object(schema).type);
    const parameters = Object.entries(inputSchema.properties ?? {}).filter(([, schema]) => isText(schema));
    for (const [parameter, schema] of parameters)
      for (const value of HOSTILE) {
        const given = Object(schema).type === 'array' && typeof value === 'string' ? [value] : value;
        const text = await call(name, { ...input, [parameter]: given }).catch((error: unknown) => `Thrown: ${error}`);
        if (
          text === '' ||
          text.length > 40_000 + 'Error: '.length ||
          /fault|internal|^Thrown|not a function/i.test(text)
        )
          failed.push(`${name} ${parameter} ${JSON.stringify(value).slice(0, 40)}: ${text.slice(0, 200)}`);
      }
  }
  expect(failed).toEqual([]);
  await call('write_file', { path: '/__proto__', content: 'mine\n' });
  expect(await call('read_file', { path: '/__proto__' })).toContain('mine');
  expect(await call('read_file', { path: '/kept' })).toContain('kept');
  expect(project.read()).toEqual(before);
  await call('undo', { to: 0 });
  expect(await call('diff', {})).toBe('There is no difference.');
});
