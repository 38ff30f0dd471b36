import { describe, expect, it } from 'vitest';
import { McpWorkspaceServer } from '../server/workspace-server.js';
import { connect } from '../testing/clients.js';
import { MemoryWorkspace } from '../testing/memory-workspace.js';

async function client() {
  const workspace = new MemoryWorkspace({ '/src/a.ts': 'let x = 1;\nlet y = x;\n', '/b.md': 'x\n' });
  return connect(new McpWorkspaceServer(workspace.open, { profile: 'claude' }), 'modern');
}

describe('the profile claude', () => {
  it('has the names of Claude Code, and those that undo and accept', async () => {
    const { client: connected } = await client();
    const names = (await connected.listTools()).tools.map(({ name }) => name);
    expect(names.slice(0, 5)).toEqual(['Read', 'Write', 'Edit', 'Glob', 'Grep']);
    expect(names).toEqual(expect.arrayContaining(['undo', 'diff', 'accept']));
    expect(names).not.toContain('read_file');
  });

  it('reads, edits, writes and undoes', async () => {
    const { text } = await client();
    expect(await text('Read', { file_path: '/home/me/project/src/a.ts', offset: 2, limit: 1 })).toContain('let y');
    expect(await text('Edit', { file_path: '/src/a.ts', old_string: 'let x', new_string: 'const x' })).toContain(
      '+const x',
    );
    expect(await text('Write', { file_path: '/c.md', content: 'c' })).toContain('Wrote 1 character');
    await text('undo');
    expect(await text('Read', { file_path: '/c.md' })).toContain('Error: ');
  });

  it('finds files and lines', async () => {
    const { text } = await client();
    expect(await text('Glob', { pattern: '**/*.ts' })).toContain('/src/a.ts');
    expect(await text('Glob', { pattern: '*.none' })).toBe('No files found');
    expect((await text('Grep', { pattern: 'X', '-i': true })).split('\n').sort()).toEqual(['/b.md', '/src/a.ts']);
    expect(await text('Grep', { pattern: 'x', output_mode: 'count', path: '/src' })).toBe('/src/a.ts:2');
    expect(await text('Grep', { pattern: 'y', output_mode: 'content' })).toContain('/src/a.ts:2: let y = x;');
    expect(await text('Grep', { pattern: 'none' })).toBe('No matches found');
  });

  it('explains failures in its own words', async () => {
    const { text } = await client();
    const twice = await text('Edit', { file_path: '/src/a.ts', old_string: 'let', new_string: 'var' });
    expect(twice).toContain('Error: ');
    expect(twice).not.toMatch(/old_text|edit_file/);
    expect(await text('Grep', { pattern: 'x', output_mode: 'all' })).toContain(
      'content or files_with_matches or count',
    );
    expect(await text('Read', {})).toContain('file_path is missing');
  });
});
