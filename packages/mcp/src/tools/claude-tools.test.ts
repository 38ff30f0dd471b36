import { describe, expect, it } from 'vitest';
import { McpWorkspaceServer } from '../server/workspace-server.js';
import { connect } from '../testing/clients.js';
import { MemoryWorkspace } from '../testing/memory-workspace.js';

const FILES = { '/src/a.ts': 'let x = 1;\nlet y = x;\n', '/b.md': 'x\n' };

async function client(files: Readonly<Record<string, string>> = FILES) {
  const workspace = new MemoryWorkspace(files);
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

  it('changes no path and no content that a failure quotes', async () => {
    const { text } = await client({ '/src/a.ts': "const list_files = all('a').map(grep(old_text));\n" });
    const missing = await text('Read', { file_path: "/it's/grep/read_file.ts" });
    expect(missing).toMatch(/^Error: .*'\/it's\/grep\/read_file\.ts'\nUse Glob to find what there is\.$/);
    const nearest = await text('Edit', {
      file_path: '/src/a.ts',
      old_string: "let list_files = all('a').map(grep(old_text))",
      new_string: '',
    });
    expect(nearest).toContain("'const list_files = all('a').map(grep(old_text));'");
  });

  it('says in its own words how a result goes on', async () => {
    const { text } = await client({ '/a.ts': '[call read_file]\n'.repeat(3_000) });
    const read = await text('Read', { file_path: '/a.ts' });
    expect(read).toContain('\t[call read_file]\n');
    expect(read).toMatch(/\n\[Lines 1 to (\d+) of 3000\. To go on, call Read with offset \d+\.\]$/);
    const found = await text('Grep', { pattern: 'call', output_mode: 'content', head_limit: 2 });
    expect(found).toMatch(/^\/a\.ts:1: \[call read_file\]\n.*\n\[.* call Grep with offset 2\.\]$/);
    expect(await text('Grep', { pattern: 'call', output_mode: 'content', head_limit: 1, offset: 2 })).toMatch(
      /^\/a\.ts:3: /,
    );
    expect(await text('Grep', { pattern: 'call', output_mode: 'count', head_limit: 2 })).toMatch(
      /^\/a\.ts:2\n\[matches 1 to 2 of 3000\./,
    );
  });

  it('does not say that there are no matches if the search was stopped or lines were cut', async () => {
    const { text } = await client({ '/a': `${'a'.repeat(99)}\n`.repeat(10_000) });
    const slow = { pattern: '[ab]{1,400}[cd]' };
    for (const mode of ['files_with_matches', 'count', 'content'])
      expect(await text('Grep', { ...slow, output_mode: mode })).toMatch(
        /^No matches so far\.\n\[The search was stopped .* narrow it with path or glob\.\]/,
      );
    const long = await client({ '/a': `${'a'.repeat(300_000)}b` });
    expect(await long.text('Grep', { pattern: 'a+b' })).toMatch(/^No matches\.\n\[Of longer lines only the first/);
  });
});
