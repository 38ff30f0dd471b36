import { describe, expect, it } from 'vitest';
import type { ApprovalRequest } from './approvals.js';
import { type AttachmentPolicy, readAttachments } from './attachments.js';
import { delegate } from './delegate.js';
import { memory, named, whole } from './testing/sandboxes.js';

const FILES = {
  '/src/a.ts': 'aaaa',
  '/src/b.ts': 'bb',
  '/src/c.md': 'c',
  '/src/link.ts': { symlink: 'a.ts' },
  '/src/disguised.ts': { symlink: 'c.md' },
  '/src/dir': null,
  '/secret/key': 'key',
};
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const caller = () => named(memory(FILES), { src: { root: '/src', mode: 'rw' } });

describe('readAttachments', () => {
  it('returns the contents of the caller’s files', async () => {
    const attachments = await readAttachments(caller(), ['src/a.ts', 'src:b.ts']);
    expect(attachments.map(({ path, content }) => [path, text(content)])).toEqual([
      ['src/a.ts', 'aaaa'],
      ['src:b.ts', 'bb'],
    ]);
  });

  it.each<[string, readonly string[], AttachmentPolicy | undefined, string]>([
    [
      'too many',
      ['src/a.ts', 'src/b.ts'],
      { maxAttachments: 1 },
      'There are 2 attachments, and at most 1 may be handed over.',
    ],
    ['more than four by default', Array(5).fill('src/a.ts'), undefined, 'at most 4'],
    ['too many bytes together', ['src/a.ts', 'src/b.ts'], { maxTotalBytes: 5 }, 'more than 5 bytes together'],
    [
      'another suffix',
      ['src/c.md'],
      { allowedSuffixes: ['.ts'] },
      "'src/c.md' has a suffix that may not be handed over. Allowed suffixes: .ts.",
    ],
    ['another suffix behind a link', ['src/disguised.ts'], { allowedSuffixes: ['.ts'] }, 'may not be handed over'],
    ['a suffix that is denied', ['src/c.md'], { deniedSuffixes: ['.md'] }, 'may not be handed over.'],
    ['no suffix at all', ['src/a.ts'], { allowedSuffixes: [] }, 'Allowed suffixes: none.'],
    ['a file twice', ['src/a.ts', 'src/../src/a.ts'], undefined, 'path is outside sandbox'],
    [
      'a file twice by two spellings',
      ['src/a.ts', 'src:./a.ts'],
      undefined,
      "'src/a.ts' and 'src:./a.ts' are the same file",
    ],
    ['a file twice by a link', ['src/a.ts', 'src/link.ts'], undefined, 'are the same file'],
    ['a directory', ['src/dir'], undefined, "'src/dir' is a directory"],
    ['a missing file', ['src/none'], undefined, "ENOENT: no such file or directory, stat 'src/none'"],
    ['a file outside', ['/secret/key'], undefined, "Cannot access '/secret/key': path is outside sandbox."],
  ])('refuses %s', async (_, paths, policy, message) => {
    await expect(readAttachments(caller(), paths, { policy })).rejects.toThrow(message);
  });

  it('refuses an invalid policy', async () => {
    for (const policy of [{ maxAttachments: -1 }, { maxTotalBytes: '5' }, { allowedSuffixes: '.ts' }, { max: 1 }, 5]) {
      await expect(readAttachments(caller(), [], { policy: policy as never })).rejects.toThrow(TypeError);
    }
    const policy = JSON.parse('{"max_attachments":1,"max_total_bytes":9,"allowed_suffixes":[".ts"]}');
    expect(await readAttachments(caller(), ['src/a.ts'], { policy })).toHaveLength(1);
  });

  it('requests approval for each file if a rule or the sandbox requires it, and reads none that is not approved', async () => {
    const asked: ApprovalRequest[] = [];
    const options = {
      rules: { 'sandbox.read': { approvalRequired: true } },
      approve: (request: ApprovalRequest) => asked.push(request) < 2,
    };
    await expect(readAttachments(caller(), ['src/a.ts', 'src/b.ts'], options)).rejects.toThrow(
      'the user has not approved it',
    );
    expect(asked.map(({ summary }) => summary)).toEqual([
      "Hand over the file 'src/a.ts'",
      "Hand over the file 'src/b.ts'",
    ]);
    const guarded = named(memory(FILES), { src: { root: '/src', readApproval: true } });
    await expect(readAttachments(guarded, ['src/a.ts'])).rejects.toThrow('nobody is there to give it');
  });

  it('returns nothing if a path leads elsewhere by the time of approval', async () => {
    const fileSystem = memory({ ...FILES, '/src/link.ts': { symlink: 'a.ts' } });
    const sandbox = named(fileSystem, { src: { root: '/src', readApproval: true } });
    const asked: ApprovalRequest[] = [];
    const approve = (request: ApprovalRequest): boolean => {
      if (asked.push(request) > 1) return true;
      fileSystem.unlinkSync('/src/link.ts');
      fileSystem.symlinkSync('c.md', '/src/link.ts');
      return true;
    };
    await expect(readAttachments(sandbox, ['src/b.ts', 'src/link.ts'], { approve })).rejects.toThrow(
      "'src/link.ts' began to lead elsewhere",
    );
    expect(asked[1]?.paths).toEqual(['src/link.ts', 'src/c.md']);
  });

  it('counts bytes again after reading, so a file that grew is refused', async () => {
    const fileSystem = memory(FILES);
    const sandbox = named(fileSystem, { src: { root: '/src', readApproval: true } });
    const approve = (): boolean => {
      fileSystem.writeFileSync('/src/a.ts', 'x'.repeat(100));
      return true;
    };
    await expect(readAttachments(sandbox, ['src/a.ts'], { approve, policy: { maxTotalBytes: 50 } })).rejects.toThrow(
      'more than 50 bytes',
    );
  });
});

describe('delegate', () => {
  it('derives the callee’s sandbox from the caller’s by the callee’s configuration', async () => {
    const program = whole(memory(FILES));
    const first = await program.derive({ allowRead: '/src', allowWrite: '/src' });
    const { sandbox, attachments } = await delegate(first, {
      worker: 'analyser',
      access: { allowRead: '/src/dir' },
      attachments: ['/src/c.md'],
    });
    expect([sandbox.readableRoots, sandbox.writableRoots]).toEqual([['/src/dir'], []]);
    expect(attachments.map(({ content }) => text(content))).toEqual(['c']);
    expect(await sandbox.canRead('/src/c.md')).toBe(false);
    await expect(delegate(first, { worker: 'x', access: { allowRead: '/secret' } })).rejects.toThrow(
      'outside the parent sandbox',
    );
    expect((await delegate(first, { worker: 'x' })).sandbox.readableRoots).toEqual([]);
  });

  it('returns what was approved even if the caller’s list changes afterwards', async () => {
    const fileSystem = memory(FILES);
    let looks = 0;
    const list = new Proxy(['src/a.ts'], {
      get: (target, key) => (key === '0' && ++looks > 1 ? 'src/b.ts' : Reflect.get(target, key)),
    });
    const asked: ApprovalRequest[] = [];
    const { attachments } = await delegate(named(fileSystem, { src: { root: '/src' } }), {
      worker: 'reader',
      attachments: list,
      rules: { 'worker.call': { approvalRequired: true } },
      approve: (request) => {
        asked.push(request);
        return true;
      },
    });
    expect(asked[0]?.paths).toEqual(['src/a.ts']);
    expect(attachments.map(({ path }) => path)).toEqual(['src/a.ts']);
    const broken = [1] as unknown as string[];
    await expect(delegate(caller(), { worker: 'reader', attachments: broken })).rejects.toThrow(TypeError);
  });

  it('obeys a rule that forbids it or requires approval', async () => {
    const forbidden = { worker: 'x', rules: { 'worker.call': { allowed: false } } };
    await expect(delegate(caller(), forbidden)).rejects.toThrow('allow no calls of other workers');
    const rules = { 'worker.call': { approvalRequired: true } };
    await expect(delegate(caller(), { worker: 'x', rules })).rejects.toThrow('nobody is there');
    const asked: string[] = [];
    const approve = ({ summary }: ApprovalRequest): boolean => asked.push(summary) > 0;
    await delegate(caller(), { worker: 'x\u001b', rules, approve, attachments: ['src/a.ts'] });
    expect(asked).toEqual(["Call the worker 'x\\u001b' with 1 file"]);
  });
});
