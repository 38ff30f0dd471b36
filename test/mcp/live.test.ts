import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, it } from 'vitest';
import { grounds } from './program.js';

it('with --live each call writes to the disk, and undo takes it back there unless the person has edited it since', async () => {
  const project = grounds({ 'src/a.ts': 'let x = 1;\n', 'b.txt': 'b\n' });
  const before = project.read();
  const client = new Client({ name: 'tester', version: '1' });
  const { args, env } = project;
  await client.connect(new StdioClientTransport({ command: process.execPath, args: args('--live'), env }));
  const call = async (name: string, input: Record<string, unknown> = {}): Promise<string> => {
    const { content, isError } = await client.callTool({ name, arguments: input });
    return `${isError ? 'Error: ' : ''}${content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')}`;
  };
  try {
    await call('read_file', { path: '/src/a.ts' });
    await call('edit_file', { path: '/src/a.ts', edits: [{ old_text: '1', new_text: '2' }] });
    expect(project.read()['/src/a.ts']).toBe('let x = 2;\n');
    await call('move_file', { from: '/src', to: '/lib' });
    await call('delete_file', { path: '/b.txt' });
    expect(project.read()).toEqual({ '/lib/a.ts': 'let x = 2;\n' });
    expect(await call('log')).toContain('tester delete_file');
    writeFileSync(join(project.directory, 'b.txt'), 'person\n');
    expect(await call('undo')).toContain('Error: Nothing was changed');
    expect(project.read()['/b.txt']).toBe('person\n');
    writeFileSync(join(project.directory, 'b.txt'), 'b\n');
    await call('delete_file', { path: '/b.txt' });
    expect(await call('undo', { to: 0 })).toContain('Restored');
    expect(project.read()).toEqual(before);
  } finally {
    await client.close();
  }
});
