import { describe, expect, it } from 'vitest';
import type { ApprovalRequest, Approve } from './approvals.js';
import { createFileTools, type FileToolsOptions } from './file-tools.js';
import { memory, named, whole, yes } from './testing/sandboxes.js';

const FILES = {
  '/src/a.ts': 'a',
  '/src/link.ts': { symlink: '/other/b.ts' },
  '/other/b.ts': 'b',
  '/private/c.ts': 'c',
};

function setUp(options: FileToolsOptions = {}) {
  const fileSystem = memory(FILES);
  const asked: ApprovalRequest[] = [];
  const approve: Approve = (request) => {
    asked.push(request);
    return true;
  };
  const tools = createFileTools(whole(fileSystem), { approve, ...options });
  return { fileSystem, asked, tools };
}

describe('approval', () => {
  it('is requested for every write by default, with a readable summary, and for no read', async () => {
    const { asked, tools, fileSystem } = setUp();
    await tools.call('read_file', { path: '/src/a.ts' });
    await tools.call('grep', { pattern: 'a' });
    await tools.call('checkpoint', { name: 'c' });
    expect(asked).toEqual([]);
    await tools.call('write_file', { path: '/src/a.ts', content: 'new\u001b[31m' });
    await tools.call('edit_file', { path: '/src/a.ts', old_text: 'new', new_text: 'old' });
    await tools.call('move_file', { from: '/src/a.ts', to: '/src/b.ts' });
    await tools.call('delete_file', { path: '/src', recursive: true });
    await tools.call('rollback', { checkpoint: 'c' });
    expect(asked.map(({ tool, summary }) => `${tool}: ${summary}`)).toEqual([
      "write_file: Write 8 characters to '/src/a.ts'",
      "edit_file: Replace 'new' by 'old' in '/src/a.ts'",
      "move_file: Move '/src/a.ts' to '/src/b.ts'",
      "delete_file: Delete '/src' with all that is in it",
      "rollback: Make all files what they were at the checkpoint 'c'",
    ]);
    expect(asked[0]).toMatchObject({ effect: 'write', paths: ['/src/a.ts'], detail: 'new\u001b[31m' });
    expect(fileSystem.readTextSync('/src/a.ts')).toBe('a');
  });

  it('shows where a link leads', async () => {
    const { asked, tools } = setUp();
    await tools.call('write_file', { path: '/src/link.ts', content: 'x' });
    expect(asked[0]?.paths).toEqual(['/src/link.ts', '/other/b.ts']);
  });

  it('escapes text that could mislead a person', async () => {
    const { asked, tools } = setUp();
    await tools.call('edit_file', { path: '/src/a.ts', old_text: 'a\u202e', new_text: `\u001b[2J${'x'.repeat(999)}` });
    expect(asked[0]?.summary).toMatch(/^Replace 'a\\u202e' by '\\u001b\[2Jx+…' in/);
    expect(asked[0]?.summary.length).toBeLessThan(400);
  });

  it.each<[string, Approve | undefined]>([
    ['nobody to ask', undefined],
    ['false', () => false],
    ['a truthy text', () => 'yes' as never],
    ['a truthy number', async () => 1 as never],
    ['an object', () => ({ approved: true }) as never],
    ['nothing', () => undefined as never],
    [
      'an error',
      () => {
        throw new Error('x');
      },
    ],
    ['a rejection', () => Promise.reject(new Error('x'))],
    ['no answer in time', () => new Promise(() => {})],
  ])('is not given by %s, and nothing happens', async (_, approve) => {
    const { tools, fileSystem } = setUp({ approve, approvalTimeoutMs: 20 });
    const before = JSON.stringify(fileSystem);
    for (const [name, input] of [
      ['write_file', { path: '/src/a.ts', content: 'x' }],
      ['edit_file', { path: '/src/a.ts', old_text: 'a', new_text: 'b' }],
      ['delete_file', { path: '/src/a.ts' }],
      ['move_file', { from: '/src/a.ts', to: '/x' }],
    ] as const) {
      const { text, isError } = await tools.call(name, input);
      expect(isError).toBe(true);
      expect(text).toMatch(/^Not done: /);
      expect(text).toContain('Do not try it again unchanged');
    }
    expect(JSON.stringify(fileSystem)).toBe(before);
  });

  it('that comes after the deadline has no effect, and its signal has been aborted', async () => {
    let late: AbortSignal | undefined;
    const { tools, fileSystem } = setUp({
      approvalTimeoutMs: 20,
      approve: (_, { signal }) =>
        new Promise((resolve) => {
          late = signal;
          signal.addEventListener('abort', () => resolve(true));
        }),
    });
    expect((await tools.call('write_file', { path: '/x', content: '' })).text).toContain(
      'nobody has approved it in time',
    );
    expect(late?.aborted).toBe(true);
    expect(fileSystem.existsSync('/x')).toBe(false);
  });

  it('is not requested for an action that the sandbox refuses', async () => {
    const asked: string[] = [];
    const sandbox = named(memory(FILES), { src: { root: '/src' } });
    const { call } = createFileTools(sandbox, { approve: ({ tool }) => asked.push(tool) > 0 });
    for (const [name, input] of [
      ['write_file', { path: 'src/a.ts', content: '' }],
      ['delete_file', { path: 'src/a.ts' }],
      ['move_file', { from: 'src/a.ts', to: 'src/b.ts' }],
      ['write_file', { path: '/other/x', content: '' }],
    ] as const) {
      expect((await call(name, input)).isError).toBe(true);
    }
    expect(asked).toEqual([]);
  });

  it('holds for the target that was shown: nothing happens if the link changes before the action', async () => {
    const fileSystem = memory(FILES);
    const { call } = createFileTools(whole(fileSystem), {
      approve: () => {
        fileSystem.unlinkSync('/src/link.ts');
        fileSystem.symlinkSync('/private/c.ts', '/src/link.ts');
        return true;
      },
    });
    const { text } = await call('write_file', { path: '/src/link.ts', content: 'x' });
    expect(text).toContain('while it was approved, the path began to lead elsewhere');
    expect(fileSystem.readTextSync('/private/c.ts')).toBe('c');
  });

  it('is requested for reads, searches included, if a directory requires it', async () => {
    const asked: string[] = [];
    const paths = { src: { root: '/src', mode: 'rw' }, private: { root: '/private', readApproval: true } } as const;
    const sandbox = named(memory(FILES), paths);
    const { call } = createFileTools(sandbox, { approve: ({ summary }) => asked.push(summary) > 0 });
    await call('read_file', { path: 'src/a.ts' });
    await call('grep', { pattern: 'x', path: 'src' });
    expect(asked).toEqual([]);
    await call('read_file', { path: 'private/c.ts' });
    await call('grep', { pattern: 'x' });
    await call('grep', { pattern: 'x', path: 'private' });
    await call('checkpoint', { name: 'c' });
    await call('diff', { from: 'c' });
    expect(asked).toEqual([
      "Read 'private/c.ts'",
      "Search the contents of '.' for 'x'",
      "Search the contents of 'private' for 'x'",
      "Show what has changed since the checkpoint 'c'",
    ]);
  });
});

describe('tool rules', () => {
  it('switch off tools, one by one or all of a kind', async () => {
    const { tools } = setUp({ rules: { 'sandbox.write': { allowed: false }, grep: { allowed: false } } });
    expect(tools.tools.map(({ name }) => name)).toEqual([
      'read_file',
      'read_media',
      'list_files',
      'file_info',
      'search_files',
      'checkpoint',
      'diff',
    ]);
    expect((await tools.call('write_file', { path: '/x', content: '' })).text).toContain(
      'There is no tool of that name',
    );
    expect((await tools.call('sandbox_write_text', { path: '/x', content: '' })).isError).toBe(true);
  });

  it('add to the approvals that the sandbox requires, and never remove one', async () => {
    const { tools, asked } = setUp({
      rules: { read_file: { approvalRequired: true }, 'sandbox.write': { approvalRequired: false } },
    });
    await tools.call('read_file', { path: '/src/a.ts' });
    await tools.call('sandbox_read_text', { path: '/src/a.ts' });
    await tools.call('write_file', { path: '/x', content: '' });
    expect(asked.map(({ tool }) => tool)).toEqual(['read_file', 'read_file', 'write_file']);
  });

  it('apply to the legacy names too', async () => {
    const { tools } = setUp({ rules: { sandbox_read_text: { allowed: false } } });
    expect(tools.tools.some(({ name }) => name === 'read_file')).toBe(false);
    expect((await tools.call('read_file', { path: '/src/a.ts' })).isError).toBe(true);
  });

  it('may have fields that are undefined, which counts as left out', () => {
    const { tools } = setUp({ rules: { grep: { allowed: undefined, approvalRequired: undefined } } });
    expect(tools.tools.some(({ name }) => name === 'grep')).toBe(true);
  });

  it('are parsed from snake_case data; unknown names and wrong types are refused', () => {
    const rules = JSON.parse('{"sandbox.read":{"allowed":true,"approval_required":true}}');
    expect(setUp({ rules }).tools.tools.length).toBe(14);
    for (const [bad, text] of [
      [{ shell: {} }, "tool_rules knows no 'shell'"],
      [{ grep: { allow: true } }, "tool_rules.grep has no field 'allow'"],
      [{ grep: { allowed: 'false' } }, 'tool_rules.grep.allowed must be true or false'],
      [{ grep: { approvalRequired: true, approval_required: false } }, 'tool_rules.grep has approvalRequired twice'],
      [{ grep: true }, 'tool_rules.grep must be an object'],
      [[], 'tool_rules must be an object'],
    ] as const) {
      expect(() => setUp({ rules: bad as never })).toThrow(text);
    }
  });

  it('ignore prototypes', () => {
    const prototype = Object.prototype as unknown as Record<string, unknown>;
    prototype['allowed'] = false;
    prototype['grep'] = { allowed: false };
    try {
      expect(setUp({ rules: { read_file: {} } }).tools.tools.length).toBe(14);
    } finally {
      delete prototype['allowed'];
      delete prototype['grep'];
    }
  });
});

describe('askFor()', () => {
  it('leaves no listener and no timer behind', async () => {
    const { call } = createFileTools(whole(memory(FILES)), { approve: yes });
    const stop = new AbortController();
    const listeners = { added: 0, removed: 0 };
    const { signal } = stop;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners.added += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners.removed += 1;
      remove(...args);
    };
    await call('write_file', { path: '/x', content: '' }, { signal });
    expect(listeners.added).toBeGreaterThan(0);
    expect(listeners.removed).toBe(listeners.added);
  });
});
