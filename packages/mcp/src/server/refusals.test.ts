import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWorkspace } from '@scratchfs/workspace';
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '../testing/clients.js';
import type { McpServerOptions } from './options.js';
import { McpWorkspaceServer } from './workspace-server.js';

async function client(options: McpServerOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'scratchfs-refusals-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const name of ['node_modules', '.git']) mkdirSync(join(directory, name));
  const files = {
    '.gitignore': 'node_modules\n',
    '.env': 'A=1\n',
    'node_modules/x.js': 'x\n',
    a: 'foo\nfoo\n',
    nul: 'a\0b',
  };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(directory, path), text);
  const server = new McpWorkspaceServer(() => openWorkspace(directory, { store: 'memory:' }), options);
  onTestFinished(() => server.close());
  return connect(server, 'modern');
}

it('a change in an ignored directory is refused with the reason, and what to do', async () => {
  const { text } = await client();
  expect(await text('read_file', { path: '/node_modules/x.js' })).toContain('x');
  for (const [tool, input] of [
    ['write_file', { path: '/node_modules/x.js', content: 'y' }],
    ['delete_file', { path: '/node_modules/x.js' }],
    ['edit_file', { path: '/node_modules/x.js', edits: [{ old_text: 'x', new_text: 'y' }] }],
  ] as const)
    expect(await text(tool, input), tool).toMatch(/EROFS: .*a directory that git ignores.*write elsewhere/);
});

it('hidden names are refused in one wording, for any tool, whether or not they exist', async () => {
  const { text } = await client();
  for (const path of ['/.env', '/.env.missing', '/.git/config'])
    for (const [tool, input] of [
      ['read_file', {}],
      ['write_file', { content: 'y' }],
      ['edit_file', { edits: [{ old_text: 'A', new_text: 'y' }] }],
      ['delete_file', {}],
    ] as const)
      expect(await text(tool, { path, ...input }), tool).toMatch(`Error: '${path}' is hidden here: `);
  expect(await text('move_file', { from: '/a', to: '/.env' })).toMatch("Error: '/.env' is hidden here: ");
});

it('an unknown parameter is refused with those that the published schema has', async () => {
  const { client: sdk, text } = await client();
  const { tools } = await sdk.listTools();
  for (const { name, inputSchema } of tools) {
    const published = Object.keys(inputSchema.properties ?? {}).join(', ');
    expect(await text(name, { nope: 1 })).toBe(`Error: There is no parameter 'nope'. The parameters are ${published}.`);
  }
});

it('a text that occurs twice is refused with the parameter that replaces both', async () => {
  const { text } = await client();
  const edit = { old_text: 'foo', new_text: 'bar' };
  const joined = { old_text: 'foo\nfoo', new_text: 'foo foo' };
  for (const input of [edit, { edits: [edit] }, { edits: [joined, edit] }])
    expect(await text('edit_file', { path: '/a', ...input })).toContain('or set replace_all');
  expect(await text('edit_file', { path: '/a', edits: [{ ...edit, replace_all: true }] })).toContain('Replaced 2');
});

it('a failure advises no tool that is not offered', async () => {
  const { text } = await client();
  expect(await text('read_file', { path: '/nul' })).toBe(
    "Error: '/nul' is not text in UTF-8: it is a binary file (3 bytes).",
  );
  expect(await text('read_file', { path: '/none' })).toMatch(
    /\nUse list_files or search_files to find what there is\.$/,
  );
  const few = await client({ tools: ['read_file', 'search_files'] });
  expect(await few.text('read_file', { path: '/none' })).toMatch(/\nUse search_files to find what there is\.$/);
});
