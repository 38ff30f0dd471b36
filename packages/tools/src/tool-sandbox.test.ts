import { type FileSandbox, PathNotInSandboxError, pieceOf, SuffixNotAllowedError } from '@scratchfs/sandbox';
import { describe, expect, it } from 'vitest';
import type { ApprovalRequest } from './approvals.js';
import { createFileTools } from './file-tools.js';
import { memory, yes } from './testing/sandboxes.js';

/** An object with just the eight members of the protocol, over a Map. */
function eightMembers(files: Map<string, string>): FileSandbox {
  const check = (path: string): void => {
    if (path.startsWith('/secret')) throw new PathNotInSandboxError(path, ['/']);
    if (path.endsWith('.exe')) throw new SuffixNotAllowedError(path, ['.txt']);
  };
  const can = (path: string): boolean => {
    try {
      check(path);
      return true;
    } catch {
      return false;
    }
  };
  return {
    readableRoots: ['/'],
    writableRoots: ['/out'],
    canRead: async (path) => can(path),
    canWrite: async (path) => can(path) && path.startsWith('/out/'),
    resolve: async (path) => {
      if (path.startsWith('/secret')) check(path);
      return path;
    },
    read: async (path, options) => {
      check(path);
      return pieceOf(files.get(path) ?? '', options);
    },
    write: async (path, content) => {
      check(path);
      files.set(path, content);
    },
    listFiles: async () => [...files.keys()],
  };
}

describe('createFileTools() over an object with the eight members of FileSandbox', () => {
  const setUp = () => {
    const files = new Map([
      ['/a.txt', 'hello'],
      ['/binary', 'a\0b'],
    ]);
    const asked: ApprovalRequest[] = [];
    const approve = (request: ApprovalRequest): boolean => asked.push(request) > 0;
    return { files, asked, ...createFileTools(eightMembers(files), { approve }) };
  };

  it('offers the tools that need no filesystem', () => {
    expect(setUp().tools.map(({ name }) => name)).toEqual(['read_file', 'write_file', 'list_files', 'search_files']);
  });

  it('works without the filesystem that the object keeps for itself', async () => {
    const sandbox = { ...eightMembers(new Map([['/a.txt', 'hello']])), fileSystem: memory({ '/a.txt': 'other' }) };
    const { tools, call } = createFileTools(sandbox, { approve: yes });
    expect(tools.map(({ name }) => name)).toEqual(['read_file', 'write_file', 'list_files', 'search_files']);
    expect(await call('read_file', { path: '/a.txt' })).toMatchObject({ text: '     1\thello', isError: false });
    expect((await call('write_file', { path: '/out/b', content: 'x' })).isError).toBe(false);
    expect((await call('list_files', {})).text).toBe('/a.txt\n/out/b');
  });

  it('reads, writes, lists and searches, and asks before it writes', async () => {
    const { call, asked, files } = setUp();
    expect(await call('read_file', { path: '/a.txt' })).toMatchObject({ text: '     1\thello', isError: false });
    expect(await call('read_file', { path: '/a.txt', char_offset: 0, max_chars: 2 })).toMatchObject({
      text: 'he\n[Characters 0 to 2 of 5. To go on, call read_file with char_offset 2.]',
      isError: false,
    });
    expect(asked).toEqual([]);
    expect((await call('write_file', { path: '/out/b.txt', content: 'x' })).text).toBe(
      "Wrote 1 character to '/out/b.txt'.",
    );
    expect(asked).toMatchObject([{ tool: 'write_file', effect: 'write', paths: ['/out/b.txt'] }]);
    expect(files.get('/out/b.txt')).toBe('x');
    expect((await call('list_files', {})).text).toBe('/a.txt\n/binary\n/out/b.txt');
    expect((await call('search_files', { pattern: '*' })).text).toBe('/a.txt\n/binary\n/out/b.txt');
  });

  it('reports what the object refuses, before it asks', async () => {
    const { call, asked } = setUp();
    const texts = await Promise.all([
      call('read_file', { path: '/secret/x' }),
      call('read_file', { path: '/x.exe' }),
      call('write_file', { path: '/secret/x', content: '' }),
      call('write_file', { path: '/a.txt', content: '' }),
      call('read_file', { path: '/binary' }),
    ]);
    expect(texts.map(({ text }) => text)).toEqual([
      "Cannot access '/secret/x': path is outside sandbox.\nReadable paths: /",
      "Cannot access '/x.exe': suffix not allowed.\nAllowed suffixes: .txt",
      "Cannot access '/secret/x': path is outside sandbox.\nReadable paths: /",
      "Cannot write to '/a.txt': path is read-only.\nWritable paths: /out",
      "'/binary' is a binary file.",
    ]);
    expect(texts.every(({ isError }) => isError)).toBe(true);
    expect(asked).toEqual([]);
  });

  it('refuses a piece in which many characters were not UTF-8, but not a few in a long text', async () => {
    const files = new Map([
      ['/png', '\ufffdPNG\r\n\x1a\n\ufffd\ufffd'],
      ['/latin1', 'Gr\ufffd\ufffde an M\ufffdller'],
      ['/one', '\ufffd'],
      ['/named', "const REPLACEMENT = '\ufffd';"],
      ['/long', `\ufffd\ufffd\ufffd${'x'.repeat(300)}`],
    ]);
    const { call } = createFileTools(eightMembers(files));
    for (const path of ['/png', '/latin1'])
      expect(await call('read_file', { path })).toEqual({
        text: `'${path}' is not text in UTF-8: it is a binary file, or text in another encoding.`,
        isError: true,
      });
    for (const path of ['/one', '/named', '/long'])
      expect(await call('read_file', { path, char_offset: 0 })).toMatchObject({
        text: files.get(path),
        isError: false,
      });
  });

  it('refuses to write without a hook for approval', async () => {
    const { call } = createFileTools(eightMembers(new Map()));
    expect((await call('write_file', { path: '/out/x', content: '' })).text).toContain('it needs approval');
  });

  it('notices that a path leads elsewhere after the approval', async () => {
    const sandbox = eightMembers(new Map());
    let place = '/out/one';
    const approve = (): boolean => {
      place = '/out/two';
      return true;
    };
    const { call } = createFileTools({ ...sandbox, resolve: async () => place }, { approve });
    expect((await call('write_file', { path: '/out/x', content: '' })).text).toContain('began to lead elsewhere');
  });
});
