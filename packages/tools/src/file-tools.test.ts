import { mount, observe, overlay, readonly } from '@scratchfs/core/layers';
import { Sandbox } from '@scratchfs/sandbox';
import { describe, expect, it } from 'vitest';
import { createFileTools, type FileToolsOptions } from './file-tools.js';
import { memory, named, whole, yes } from './testing/sandboxes.js';
import { TOOL_NAMES } from './tool-names.js';

const FILES = {
  '/src/a.ts': 'const a = 1;\nconst b = a + 1;\n',
  '/src/lib/b.ts': 'export const b = 2;\n',
  '/src/.env': 'KEY=secret\n',
  '/docs/x.md': '# Title\n\nSome text with (brackets) and é😀.\n',
  '/empty': '',
};

function setUp(options: FileToolsOptions = {}) {
  const fileSystem = memory(FILES);
  const tools = createFileTools(whole(fileSystem), { approve: yes, ...options });
  const call = async (name: string, input: unknown): Promise<string> => {
    const { text, isError } = await tools.call(name, input);
    return isError ? `ERROR ${text}` : text;
  };
  return { fileSystem, tools, call };
}

describe('createFileTools()', () => {
  it('returns a name, a description and a JSON Schema for each tool', () => {
    const { tools } = setUp().tools;
    expect(tools.map(({ name }) => name)).toEqual(TOOL_NAMES.slice(0, 14));
    for (const { name, description, inputSchema } of tools) {
      expect(description.length, name).toBeGreaterThan(40);
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(Object.keys(inputSchema.properties)).toEqual(expect.arrayContaining([...inputSchema.required]));
      expect(JSON.parse(JSON.stringify(inputSchema))).toEqual(inputSchema);
    }
  });

  it('describes all tools to the model in fewer than 3,000 tokens', () => {
    const described = setUp().tools.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema,
    }));
    // A token has some four bytes.
    expect(JSON.stringify(described).length / 4).toBeLessThan(3_000);
  });

  it('accepts the legacy names, and offers them on request', async () => {
    const { tools, call } = setUp();
    expect(tools.tools.some(({ name }) => name.startsWith('sandbox_'))).toBe(false);
    expect(await call('sandbox_read_text', { path: '/empty' })).toBe('[The file is empty.]');
    expect(await call('sandbox_write_text', { path: '/new', content: 'x' })).toBe("Wrote 1 character to '/new'.");
    expect(await call('sandbox_list', { pattern: 'n*' })).toBe('1  /new');
    const offered = setUp({ legacyNames: true }).tools.tools.map(({ name }) => name);
    expect(offered).toEqual(
      expect.arrayContaining(['read_file', 'sandbox_read_text', 'sandbox_write_text', 'sandbox_list']),
    );
  });

  it('selects tools by name', () => {
    const { tools } = setUp({ only: ['read_file', 'grep'] });
    expect(tools.tools.map(({ name }) => name)).toEqual(['read_file', 'grep']);
    expect(() => setUp({ only: ['reed_file'] })).toThrow("There is no tool 'reed_file'");
  });
});

describe('read_file', () => {
  it('returns lines with their numbers, and for a long file a piece and how to continue', async () => {
    const { call, tools } = setUp();
    expect(await call('read_file', { path: 'docs/x.md' })).toBe(
      '     1\t# Title\n     2\t\n     3\tSome text with (brackets) and é😀.',
    );
    expect(await call('read_file', { path: '/docs/x.md', limit: 2 })).toBe(
      '     1\t# Title\n     2\t\n[Lines 1 to 2 of 3. To go on, call read_file with offset 3.]',
    );
    expect(await call('read_file', { path: '/docs/x.md', offset: 3 })).toBe(
      '     3\tSome text with (brackets) and é😀.',
    );
    expect(await call('read_file', { path: '/docs/x.md', offset: 4 })).toBe(
      '[The file has 3 lines: line 4 is past its end.]',
    );
    expect(await call('read_file', { path: '/docs/x.md', max_chars: 20 })).toBe(
      '     1\t# Title\n[Lines 1 to 1 of 3. To go on, call read_file with offset 2.]',
    );
    expect(await call('read_file', { path: '/empty' })).toBe('[The file is empty.]');
    expect((await tools.call('read_file', { path: '/docs/x.md', offset: 2, limit: 1 })).structured).toEqual({
      path: '/docs/x.md',
      firstLine: 2,
      lastLine: 2,
      totalLines: 3,
      nextOffset: 3,
    });
  });

  it('says that lines end with \\r\\n, and counts lines without a last line break', async () => {
    const { call, fileSystem } = setUp();
    fileSystem.writeFileSync('/crlf', 'a\r\nb\r\nc');
    expect(await call('read_file', { path: '/crlf' })).toBe(
      '     1\ta\n     2\tb\n     3\tc\n[Lines end with \\r\\n.]',
    );
    expect(await call('read_file', { path: '/crlf', offset: 3 })).toBe('     3\tc');
  });

  it('cuts a long line, and says at which character it goes on', async () => {
    const { call, fileSystem } = setUp();
    fileSystem.writeFileSync('/long', `first\n${'😀'.repeat(3_000)}\nlast\n`);
    const lines = (await call('read_file', { path: '/long' })).split('\n');
    expect(lines[1]).toMatch(/^ {5}2\t(😀){1000}… \[4000 more characters in this line, from char_offset 1006 on\]$/u);
    expect(lines[2]).toBe('     3\tlast');
    expect(await call('read_file', { path: '/long', char_offset: 1006, max_chars: 3 })).toBe(
      '😀😀😀\n[Characters 1006 to 1009 of 3012. To go on, call read_file with char_offset 1009.]',
    );
    fileSystem.writeFileSync('/one', 'x'.repeat(100_000));
    expect(await call('read_file', { path: '/one' })).toContain('from char_offset 2000 on]');
  });

  it('gives all numbers of a file one width', async () => {
    const { call, fileSystem } = setUp();
    fileSystem.writeFileSync('/many', 'x\n'.repeat(1_200_000));
    expect((await call('read_file', { path: '/many', limit: 1 })).split('\n')[0]).toBe('      1\tx');
    expect(await call('read_file', { path: '/many', offset: 1_200_000 })).toBe('1200000\tx');
  });

  it('reads by characters instead, without numbers', async () => {
    const { call, tools } = setUp();
    expect(await call('read_file', { path: '/docs/x.md', char_offset: 0, max_chars: 7 })).toBe(
      '# Title\n[Characters 0 to 7 of 43. To go on, call read_file with char_offset 7.]',
    );
    expect(await call('read_file', { path: '/docs/x.md', char_offset: 40 })).toBe('😀.\n');
    expect(await call('read_file', { path: '/docs/x.md', char_offset: 99 })).toBe(
      '[The file has 43 characters: char_offset 99 is past its end.]',
    );
    expect(await call('read_file', { path: '/docs/x.md', char_offset: 1, offset: 1 })).toBe(
      'ERROR offset and limit count lines, char_offset counts characters: give one or the other.',
    );
    const { structured } = await tools.call('read_file', { path: '/docs/x.md', char_offset: 0, max_chars: 7 });
    expect(structured?.nextCharOffset).toBe(7);
  });

  it('names the tools for what is not text', async () => {
    const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0]);
    const { call, fileSystem } = setUp();
    fileSystem.writeFileSync('/a.png', png);
    fileSystem.writeFileSync('/nul', 'a\0');
    const start = "ERROR '/a.png' is not text in UTF-8: it is a PNG image (9 bytes).";
    expect(await call('read_file', { path: '/a.png' })).toBe(`${start} Use read_media to see it.`);
    expect(await call('read_file', { path: '/nul' })).toContain('file_info says what is known of it.');
    const few = createFileTools(whole(fileSystem), { only: ['read_file'] });
    expect(`ERROR ${(await few.call('read_file', { path: '/a.png' })).text}`).toBe(start);
  });

  it('gives advice if the file does not exist', async () => {
    const { call } = setUp();
    expect(await call('read_file', { path: '/nothing' })).toBe(
      "ERROR ENOENT: no such file or directory, open '/nothing'\nUse list_files or search_files to find what there is.",
    );
    expect(await call('read_file', { path: '/src' })).toContain('It is a directory: list_files shows what is in it.');
    expect(await call('read_file', { path: '../etc/passwd' })).toBe(
      "ERROR Cannot access '../etc/passwd': path is outside sandbox.\nReadable paths: /\nWritable paths: /",
    );
  });
});

describe('write_file, delete_file and move_file', () => {
  it('change files and report what they did', async () => {
    const { call, fileSystem } = setUp();
    expect(await call('write_file', { path: '/a/b/c', content: 'é😀' })).toBe("Wrote 2 characters to '/a/b/c'.");
    expect(await call('move_file', { from: '/a/b/c', to: '/a/d' })).toBe("Moved '/a/b/c' to '/a/d'.");
    expect(await call('delete_file', { path: '/a' })).toMatch(/^ERROR EISDIR|^ERROR ENOTEMPTY|^ERROR EPERM/);
    expect(await call('delete_file', { path: '/a', recursive: true })).toBe("Deleted '/a'.");
    expect(await call('delete_file', { path: '/a' })).toContain("ERROR ENOENT: no such file or directory, rm '/a'");
    expect(await call('move_file', { from: '/zzz', to: '/y' })).toContain("rename '/zzz' -> '/y'");
    expect(fileSystem.existsSync('/a')).toBe(false);
  });
});

describe('edit_file', () => {
  it('replaces text that occurs once, across lines too, and reports the count', async () => {
    const { call, fileSystem } = setUp();
    const path = '/src/a.ts';
    expect(await call('edit_file', { path, old_text: '1;\nconst b', new_text: '5;\nlet b' })).toMatch(
      /^Replaced 1 occurrence in '\/src\/a.ts'\.\n--- a\/src/,
    );
    expect(fileSystem.readTextSync(path)).toBe('const a = 5;\nlet b = a + 1;\n');
    expect(await call('edit_file', { path, old_text: ' = ', new_text: '=', replace_all: true })).toMatch(
      /^Replaced 2 occurrences in '\/src\/a.ts'\.\n/,
    );
    expect(fileSystem.readTextSync(path)).toBe('const a=5;\nlet b=a + 1;\n');
  });

  it('changes nothing if the text occurs twice, even in one line, or not at all', async () => {
    const { call, fileSystem } = setUp();
    const before = JSON.stringify(fileSystem);
    expect(await call('edit_file', { path: '/src/a.ts', old_text: 'const', new_text: 'let' })).toMatch(
      /^ERROR EINVAL.*on line 1, 2/,
    );
    expect(await call('edit_file', { path: '/docs/x.md', old_text: 't', new_text: 'T' })).toMatch(/^ERROR EINVAL/);
    expect(await call('edit_file', { path: '/src/a.ts', old_text: 'conts a', new_text: '' })).toMatch(/^ERROR EINVAL/);
    expect(await call('edit_file', { path: '/src/a.ts', old_text: '', new_text: '' })).toBe(
      'ERROR old_text must not be empty.',
    );
    expect(JSON.stringify(fileSystem)).toBe(before);
  });

  it('inserts the replacement literally', async () => {
    const { call, fileSystem } = setUp();
    await call('edit_file', { path: '/src/lib/b.ts', old_text: '2', new_text: "$& $1 $' \\n" });
    expect(fileSystem.readTextSync('/src/lib/b.ts')).toBe("export const b = $& $1 $' \\n;\n");
  });
});

describe('list_files and search_files', () => {
  it('return paths that the other tools accept', async () => {
    const { call } = setUp();
    expect(await call('list_files', {})).toBe(
      'dir  /docs/\n 47  /docs/x.md\n  0  /empty\ndir  /src/\n 11  /src/.env\n 30  /src/a.ts\ndir  /src/lib/\n 20  /src/lib/b.ts',
    );
    expect(await call('list_files', { path: '/src', pattern: '*.ts' })).toBe('30  /src/a.ts');
    expect(await call('search_files', { pattern: '*.ts' })).toBe('/src/a.ts\n/src/lib/b.ts');
    expect(await call('search_files', { pattern: 'lib/*', path: 'src' })).toBe('/src/lib/b.ts');
    expect(await call('search_files', { pattern: 'zzz' })).toBe('No files.');
    expect(await call('search_files', { pattern: '*', exclude: '{lib,.*}' })).toBe('/docs/x.md\n/empty\n/src/a.ts');
    expect(await call('list_files', { exclude: '@(src|empty)' })).toBe('dir  /docs/\n 47  /docs/x.md');
    expect(await call('list_files', { path: '/src', exclude: 'src' })).toContain('/src/lib/b.ts');
    expect(await call('list_files', { path: '/src', exclude: '!(lib)' })).toMatch(/!\(…\).*exclude/);
  });

  it('return pages', async () => {
    const { call } = setUp();
    expect(await call('list_files', { limit: 2 })).toBe(
      'dir  /docs/\n 47  /docs/x.md\n[entries 1 to 2 of 8. To go on, call list_files with offset 2.]',
    );
    expect(await call('list_files', { limit: 2, offset: 7 })).toBe(' 20  /src/lib/b.ts');
    expect(await call('list_files', { offset: 9 })).toBe('[There are 8 entries: offset 9 is past the last.]');
    const { tools } = setUp();
    expect(await tools.call('list_files', { limit: 1, offset: 1 })).toMatchObject({
      structured: { entries: [{ path: '/docs/x.md', kind: 'file', size: 47 }], total: 8, nextOffset: 2 },
      links: ['/docs/x.md'],
    });
    expect((await tools.call('search_files', { pattern: '*.ts', limit: 1 })).structured).toEqual({
      paths: ['/src/a.ts'],
      total: 2,
      nextOffset: 1,
    });
  });

  it('report what is wrong with a pattern', async () => {
    const { call } = setUp();
    expect(await call('list_files', { pattern: '../*' })).toContain(
      'ERROR pattern must begin in the directory that is listed',
    );
    expect(await call('search_files', { pattern: '*'.repeat(5000) })).toContain(
      'ERROR A pattern may have 4096 characters',
    );
  });
});

describe('grep', () => {
  it('finds lines by expression or by plain text, with context lines', async () => {
    const { call } = setUp();
    expect(await call('grep', { pattern: 'const [ab] =' })).toBe(
      '/src/a.ts:1: const a = 1;\n/src/a.ts:2: const b = a + 1;\n/src/lib/b.ts:1: export const b = 2;',
    );
    expect(await call('grep', { pattern: '(brackets)', literal: true })).toBe(
      '/docs/x.md:3: Some text with (brackets) and é😀.',
    );
    expect(await call('grep', { pattern: 'TITLE', ignore_case: true, context: 1 })).toBe(
      '/docs/x.md:1: # Title\n/docs/x.md-2- ',
    );
    expect(await call('grep', { pattern: 'title', ignore_case: true, literal: true })).toContain('# Title');
    expect(await call('grep', { pattern: 'const', path: '/src', glob: 'b.*' })).toBe(
      '/src/lib/b.ts:1: export const b = 2;',
    );
    expect(await call('grep', { pattern: 'const', exclude: 'lib' })).not.toContain('/src/lib');
    expect(await call('grep', { pattern: 'const', exclude: 'lib' })).toContain('/src/a.ts');
    expect(await call('grep', { pattern: 'secret', exclude: '.env' })).toBe('No matches.');
    expect(await call('grep', { pattern: 'secret' })).toBe('/src/.env:1: KEY=secret');
    expect(await call('grep', { pattern: 'nowhere' })).toBe('No matches.');
    expect(await call('grep', { pattern: String.raw`\(BRACKETS\)`, ignore_case: true })).toContain('/docs/x.md:3: ');
    expect(await call('grep', { pattern: 'const', limit: 1 })).toContain('To go on, call grep with offset 1.');
  });

  it('reports what is wrong with an expression', async () => {
    const { call } = setUp();
    expect(await call('grep', { pattern: '(?<=a)b(' })).toMatch(/^ERROR The pattern is no regular expression/);
    expect(await call('grep', { pattern: 'a'.repeat(501) })).toContain(
      'ERROR pattern must have at most 500 characters',
    );
    expect(await call('grep', { pattern: '[a-z]{1,1000}{2}' })).toMatch(/^ERROR The pattern/);
    expect(await call('grep', { pattern: 'a\nb', literal: true })).toMatch(/^ERROR .*line break/);
    expect(await call('grep', { pattern: 'x', path: '/nothing' })).toContain('ERROR ENOENT');
  });

  it('never hangs, whatever the expression and the text', async () => {
    const fileSystem = memory({ '/long': 'ab'.repeat(2_000_000), '/lines': `${'a'.repeat(50)}\n`.repeat(20_000) });
    const { call } = createFileTools(whole(fileSystem));
    const before = process.cpuUsage().user;
    for (const pattern of ['(a+)+$x', '(a|a)*b{200}c', '[ab]{1,400}[cd]', '^(([ab])+)+[cd]']) {
      expect((await call('grep', { pattern, path: '/long' })).text).toContain('characters were searched');
    }
    expect((await call('grep', { pattern: '[ab]{1,400}[cd]', path: '/lines' })).text).toContain(
      'The search was stopped',
    );
    expect((process.cpuUsage().user - before) / 1000).toBeLessThan(30_000);
  });

  it('searches any amount of text for an expression that only escapes', async () => {
    const fileSystem = memory({ '/a': `${`${'a'.repeat(99)}\n`.repeat(400_000)}f(x) + 1\n` });
    const { call } = createFileTools(whole(fileSystem));
    expect((await call('grep', { pattern: String.raw`f\(x\) \+ 1` })).text).toBe('/a:400001: f(x) + 1');
    expect((await call('grep', { pattern: String.raw`f\(x\) \+ [0-9]` })).text).toContain('The search was stopped');
  });

  it('yields to the event loop while it searches for a slow expression', async () => {
    const lines = `${'a'.repeat(2000)}\n`.repeat(200);
    const { call } = createFileTools(whole(memory({ '/lines': lines })));
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    // One search may end after one turn of the event loop or none.
    for (let i = 0; i < 100 && turns <= 3; i++) await call('grep', { pattern: '(a|aa)+$', path: '/lines' });
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
  });
});

describe('checkpoint, rollback and diff', () => {
  it('show what changed and undo it', async () => {
    const { call, fileSystem } = setUp();
    expect(await call('checkpoint', { name: 'before' })).toBe("Made the checkpoint 'before'.");
    expect(await call('diff', { from: 'before' })).toBe('Nothing has changed.');
    await call('edit_file', { path: '/src/lib/b.ts', old_text: '2', new_text: '3' });
    const diff = await call('diff', { from: 'before' });
    expect(diff).toContain('-export const b = 2;\n+export const b = 3;');
    expect(await call('diff', { from: 'before', limit: 1 })).toContain('To go on, call diff with offset 1.');
    expect(await call('rollback', { checkpoint: 'before' })).toBe(
      "The files are what they were at the checkpoint 'before'.",
    );
    expect(fileSystem.readTextSync('/src/lib/b.ts')).toBe(FILES['/src/lib/b.ts']);
    fileSystem.mkdirSync('/dir');
    expect(await call('diff', { from: 'before' })).toBe('No file has changed, but 1 other entry.');
    expect(await call('checkpoint', { name: 'before' })).toBe(
      "ERROR There is a checkpoint 'before' already: choose another name.",
    );
    expect(await call('rollback', { checkpoint: 'x' })).toBe(
      "ERROR There is no checkpoint 'x'. Make one with checkpoint.",
    );
    expect(await call('checkpoint', {})).toMatch(/^Made the checkpoint '.+'\.$/);
  });
});

describe('the text of a result', () => {
  it('contains paths of the sandbox, never those of the wrapped filesystem', async () => {
    const fileSystem = memory({ '/home/user/notes/a.md': 'one\n', '/home/user/src/b.ts': 'let b;\n' });
    const sandbox = named(fileSystem, {
      notes: { root: '/home/user/notes', mode: 'rw', writeApproval: false },
      src: { root: '/home/user/src' },
    });
    const { call } = createFileTools(sandbox, { approve: yes });
    const shown: string[] = [];
    for (const [name, input] of [
      ['checkpoint', { name: 'before' }],
      ['write_file', { path: 'notes/a.md', content: 'two\n' }],
      ['write_file', { path: 'notes/new/c.md', content: 'new\n' }],
      ['write_file', { path: 'src/b.ts', content: '' }],
      ['edit_file', { path: 'notes:a.md', old_text: 'x', new_text: 'y' }],
      ['move_file', { from: 'notes/nowhere', to: 'notes/b' }],
      ['delete_file', { path: 'notes/new' }],
      ['delete_file', { path: 'notes', recursive: true }],
      ['grep', { pattern: 'two|let' }],
      ['list_files', {}],
      ['search_files', { pattern: '*.md' }],
      ['read_file', { path: 'notes' }],
      ['diff', { from: 'before' }],
      ['rollback', { checkpoint: 'nowhere' }],
    ] as const) {
      shown.push((await call(name, input)).text);
    }
    expect(shown.join('\n')).not.toContain('home');
    expect(shown.join('\n')).toContain('--- a/notes/a.md\n+++ b/notes/a.md\n@@ -1 +1 @@\n-one\n+two\n');
  });

  it('cuts a line that is too long without splitting a character', async () => {
    const { call, fileSystem } = setUp();
    fileSystem.writeFileSync('/long', `a${'😀'.repeat(500_000)}`);
    await call('checkpoint', { name: 'before' });
    fileSystem.writeFileSync('/long', `b${'😀'.repeat(500_000)}`);
    const diff = await call('diff', { from: 'before' });
    for (const text of [await call('grep', { pattern: '^b' }), diff]) {
      expect(text.length).toBeLessThan(61_000);
      expect(text.isWellFormed()).toBe(true);
    }
    expect(diff).toMatch(/… \[\d+ more characters\]/);
  });
});

describe('invalid input from the model', () => {
  it.each<[string, unknown, string]>([
    ['no object', 'x', 'The input must be an object with path, offset, limit, char_offset, max_chars.'],
    ['null', null, 'The input must be an object with'],
    ['a missing parameter', {}, 'The parameter path is missing: The file to read.'],
    [
      'an unknown parameter',
      { path: '/empty', file: 1 },
      "There is no parameter 'file'. The parameters are path, offset, limit, char_offset, max_chars.",
    ],
    ['a wrong type', { path: 5 }, 'path must be a string, not 5.'],
    ['a list', { path: ['/empty'] }, 'path must be a string, not a list.'],
    ['an object', { path: { a: 1 } }, 'path must be a string, not an object.'],
    ['a number that is none', { path: '/empty', offset: 1.5 }, 'offset must be a whole number from 0 on, not 1.5.'],
    ['a number as text', { path: '/empty', offset: '1' }, "offset must be a whole number from 0 on, not '1'."],
    ['a number out of range', { path: '/empty', max_chars: 1e9 }, 'max_chars must be a whole number from 1 to 60000'],
    ['an empty path', { path: '' }, 'path must not be empty.'],
    ['NUL', { path: 'a\0b' }, "path must be plain text without null characters, not 'a\\u0000b'."],
    ['a lone surrogate', { path: '\ud800' }, 'path must be plain text'],
  ])('%s is reported in the result', async (_, input, text) => {
    const { tools } = setUp();
    const result = await tools.call('read_file', input);
    expect(result.isError).toBe(true);
    expect(result.text).toContain(text);
  });

  it('an unknown tool is reported with the names of the known ones', async () => {
    expect((await setUp().tools.call('shell', {})).text).toMatch(
      /^There is no tool of that name. The tools are read_file, /,
    );
    expect((await setUp().tools.call('constructor', {})).isError).toBe(true);
    expect((await setUp().tools.call('delete_file', { path: '/src', recursive: 'yes' })).text).toBe(
      "recursive must be true or false, not 'yes'.",
    );
  });

  it('null counts as a missing parameter', async () => {
    expect(await setUp().call('read_file', { path: '/empty', offset: null })).toBe('[The file is empty.]');
  });
});

describe('faults of the program', () => {
  it('are reported to the program and not to the model', async () => {
    const sandbox = whole(memory(FILES));
    const broken = {
      ...sandbox,
      read: async () => {
        throw new Error('at /home/me/secret.ts');
      },
      check: async () => {},
      approvals: async () => ({ read: false, write: false }),
    };
    const heard: unknown[] = [];
    const { call } = createFileTools(broken as never, {
      onError: (error, tool) => heard.push(tool, (error as Error).message),
    });
    const { text, isError } = await call('read_file', { path: '/empty' });
    expect(isError).toBe(true);
    expect(text).toBe('read_file failed because of a fault in the program, not in what you asked for.');
    expect(heard).toEqual(['read_file', 'at /home/me/secret.ts']);
  });

  it('reject if the call is aborted', async () => {
    const { tools } = setUp();
    const reason = new Error('enough');
    await expect(tools.call('read_file', { path: '/empty' }, { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
    const stop = new AbortController();
    const slow = setUp({
      approve: async () => {
        stop.abort(reason);
        return true;
      },
    });
    await expect(slow.tools.call('write_file', { path: '/x', content: '' }, { signal: stop.signal })).rejects.toBe(
      reason,
    );
    expect(slow.fileSystem.existsSync('/x')).toBe(false);
  });
});

describe('a sandbox that hides paths by patterns', () => {
  it('reads as if nothing existed there, and says why a name cannot be written', async () => {
    const fileSystem = memory(FILES);
    const { call } = createFileTools(new Sandbox(fileSystem, { root: '/', deny: ['.env'] }), { approve: yes });
    const text = async (name: string, input: object) => (await call(name, input)).text;
    for (const [name, input] of [
      ['read_file', {}],
      ['read_media', {}],
      ['file_info', {}],
      ['edit_file', { old_text: 'a', new_text: 'b', dry_run: true }],
    ] as const)
      expect(await text(name, { path: '/src/.env', ...input }), name).toMatch(/^ENOENT: no such file/);
    expect(await text('list_files', { path: '/src', pattern: '*' })).toBe(' 30  /src/a.ts\ndir  /src/lib/');
    expect(await text('grep', { pattern: 'secret' })).toBe('No matches.');
    for (const [name, input] of [
      ['write_file', { path: '/src/.env', content: '' }],
      ['make_directory', { path: '/.env/x' }],
      ['move_file', { from: '/src/a.ts', to: '/.env' }],
      ['move_file', { from: '/src', to: '/moved' }],
      ['delete_file', { path: '/src', recursive: true }],
    ] as const)
      expect(await text(name, input), name).toContain('a name that is not allowed here');
    expect(fileSystem.toJSON()).toEqual(memory(FILES).toJSON());
  });
});

describe('a sandbox with named roots', () => {
  it('appears in results by its root names', async () => {
    const fileSystem = memory({ '/w/notes/a.md': 'one\n', '/w/src/b.ts': 'two\n' });
    const sandbox = named(fileSystem, {
      notes: { root: '/w/notes', mode: 'rw', writeApproval: false },
      src: { root: '/w/src' },
    });
    const { call } = createFileTools(sandbox);
    expect((await call('list_files', {})).text).toBe('dir  notes/\n  4  notes/a.md\ndir  src/\n  4  src/b.ts');
    expect((await call('grep', { pattern: 'o' })).text).toBe('notes/a.md:1: one\nsrc/b.ts:1: two');
    expect((await call('grep', { pattern: 'o', path: 'notes' })).text).toBe('notes/a.md:1: one');
    expect((await call('write_file', { path: 'notes:b.md', content: '' })).text).toBe(
      "Wrote 0 characters to 'notes:b.md'.",
    );
    expect((await call('write_file', { path: 'src/b.ts', content: '' })).text).toBe(
      "Cannot write to 'src/b.ts': path is read-only.\nWritable paths: notes",
    );
    expect((await call('edit_file', { path: 'src/b.ts', old_text: 'two', new_text: '' })).text).toContain(
      'path is read-only',
    );
    expect((await call('move_file', { from: 'notes/a.md', to: 'src/a.md' })).text).toContain(
      "Cannot write to 'src/a.md'",
    );
    expect((await call('delete_file', { path: 'notes/none' })).text).toContain("rm 'notes/none'");
  });
});

describe('checkpoint, diff and rollback', () => {
  it('work on a copy of a project beside a read-only library', async () => {
    const project = memory(FILES);
    const library = memory({ '/guide.md': 'read me' });
    const stack = observe(mount(overlay(project), { '/lib': readonly(library) }), () => {});
    const tools = createFileTools(whole(stack), { approve: yes });
    const call = async (name: string, input: unknown) => (await tools.call(name, input)).text;
    expect(await call('checkpoint', { name: 'start' })).toBe("Made the checkpoint 'start'.");
    await call('edit_file', { path: '/src/a.ts', old_text: 'a = 1', new_text: 'a = 7' });
    expect(await call('diff', { from: 'start' })).toContain('+const a = 7;');
    expect(await call('rollback', { checkpoint: 'start' })).toContain('The files are what they were');
    expect(await call('read_file', { path: '/src/a.ts', char_offset: 0 })).toBe(FILES['/src/a.ts']);
    expect(await call('read_file', { path: '/lib/guide.md' })).toBe('     1\tread me');
    expect(project.readTextSync('/src/a.ts')).toBe(FILES['/src/a.ts']);
  });
});
