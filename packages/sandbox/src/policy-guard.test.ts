import type { EntryKind } from '@scratchfs/core';
import type { AccessRequest } from '@scratchfs/core/layers';
import { describe, expect, it } from 'vitest';
import { parseSandboxConfig, type SandboxConfig } from './config.js';
import { ChildPolicy, type Policy, RootPolicy } from './policy.js';
import { PolicyGuard } from './policy-guard.js';
import { sandboxRoots } from './sandbox-root.js';

const roots = (config: SandboxConfig) => sandboxRoots(parseSandboxConfig(config), '/');

const guardOf = (config: SandboxConfig, policy: Policy = new RootPolicy(roots(config))) =>
  new PolicyGuard(roots(config), policy, policy);

const whole = { root: { root: '/' } };
/** Reads `/src`, writes `/src` and `/out`. `/link` is a link on the way to an entry. */
const child = guardOf(
  whole,
  new ChildPolicy(new RootPolicy(roots(whole)), ['/src', '/deep/er'], ['/src', '/out'], ['/link']),
);

type Asked = readonly [access: AccessRequest['access'], path: string, kind?: EntryKind | undefined, size?: number];

/** Returns the error that a guard throws, or undefined. */
function answer(guard: PolicyGuard, [access, path, kind, size]: Asked, syscall = 'stat'): unknown {
  try {
    guard.check({ path, access, kind, size, syscall, given: `as given: ${path}` });
    return undefined;
  } catch (error) {
    return error;
  }
}

const named = (guard: PolicyGuard, asked: Asked, syscall?: string) =>
  (answer(guard, asked, syscall) as Error | undefined)?.name;

describe('the guard of a policy', () => {
  it('protects root directories from removal, and nothing else', () => {
    expect(answer(child, ['remove', '/src', 'directory'], 'rmdir')).toMatchObject({
      code: 'EBUSY',
      syscall: 'rmdir',
      path: 'as given: /src',
      message: expect.stringContaining('A root directory of the sandbox cannot be moved or removed'),
    });
    expect(answer(child, ['remove', '/src/sub', 'directory'])).toBeUndefined();
    expect(answer(child, ['write', '/src', 'directory'])).toBeUndefined();
    // A file or a link of that name is not a root directory.
    for (const kind of ['file', 'symlink'] as const) expect(answer(child, ['remove', '/src', kind])).toBeUndefined();
  });

  it('leaves it to the filesystem to protect `/`', () =>
    expect(answer(guardOf(whole), ['remove', '/', 'directory'])).toBeUndefined());

  it.each([
    ['look', '/deep', 'directory', undefined],
    ['read', '/deep', 'directory', undefined],
    ['look', '/deep', undefined, undefined],
    ['look', '/deep', 'file', 'PathNotInSandboxError'],
    ['read', '/deep', 'file', 'PathNotInSandboxError'],
    ['write', '/deep', 'directory', 'PathNotInSandboxError'],
    ['look', '/other', 'directory', 'PathNotInSandboxError'],
    ['look', '/other', undefined, 'PathNotInSandboxError'],
    ['read', '/other', 'directory', 'PathNotInSandboxError'],
    ['look', '/link', 'symlink', undefined],
    ['read', '/link', 'file', 'PathNotInSandboxError'],
    ['look', '/out/x', 'file', undefined],
    ['write', '/out/x', 'file', undefined],
    ['read', '/out/x', 'file', 'PathNotInSandboxError'],
    ['write', '/deep/er/x', 'file', 'PathNotWritableError'],
    ['remove', '/deep/er/x', 'file', 'PathNotWritableError'],
  ] as const)('check() for access %s to %s, which is %s: %s', (access, path, kind, expected) =>
    expect(named(child, [access, path, kind])).toBe(expected),
  );

  it('allows a rename into a write-only directory, but not out of it', () => {
    expect(named(child, ['write', '/out/x', 'file'], 'rename')).toBeUndefined();
    expect(named(child, ['remove', '/out/x', 'file'], 'rename')).toBe('PathNotInSandboxError');
    expect(named(child, ['remove', '/out/x', 'file'], 'unlink')).toBeUndefined();
    expect(named(child, ['write', '/out/x', 'file'], 'link')).toBe('PathNotInSandboxError');
  });

  it('caps reads of files; the cap itself is allowed', () => {
    const guard = guardOf({ root: { root: '/', maxFileBytes: 10 } });
    expect(named(guard, ['read', '/f', 'file', 10])).toBeUndefined();
    expect(answer(guard, ['read', '/f', 'file', 11])).toMatchObject({ fileBytes: 11, maxFileBytes: 10 });
    for (const asked of [
      ['look', '/f', 'file', 11],
      ['write', '/f', 'file', 11],
      ['read', '/f', 'file'],
      ['read', '/d', 'directory', 4096],
    ] as const)
      expect(named(guard, asked), asked.join(' ')).toBeUndefined();
  });

  it('reports the location before the suffix', () => {
    const guard = guardOf({
      paths: { docs: { root: '/docs', suffixes: ['.md'] }, notes: { root: '/notes', mode: 'rw', suffixes: ['.md'] } },
    });
    expect(named(guard, ['write', '/docs/x.exe', 'file'])).toBe('PathNotWritableError');
    expect(named(guard, ['write', '/docs/x.md', 'file'])).toBe('PathNotWritableError');
    expect(named(guard, ['write', '/notes/x.exe', 'file'])).toBe('SuffixNotAllowedError');
    expect(named(guard, ['write', '/notes/x.exe', 'directory'])).toBeUndefined();
    expect(named(guard, ['look', '/elsewhere/x.exe', 'file'])).toBe('PathNotInSandboxError');
  });
});

describe('an entry visible through a guard', () => {
  it('is on the way to a root, if it is a directory', () => {
    expect(child.isVisible('/deep', 'directory')).toBe(true);
    for (const kind of ['file', 'symlink', undefined] as const) expect(child.isVisible('/deep', kind)).toBe(false);
    expect(child.isVisible('/link', 'symlink')).toBe(true);
    expect(child.isVisible('/other', 'directory')).toBe(false);
  });

  it('is `/` even if it cannot be listed, and no name in it', () => {
    const blind = new ChildPolicy(new RootPolicy(roots(whole)), [], ['/'], []);
    const guard = guardOf(whole, new ChildPolicy(blind, [], ['/box/in'], []));
    expect(guard.isVisible('/', 'directory')).toBe(true);
    expect(guard.isVisible('/box', 'directory')).toBe(false);
  });

  it('is a file that may be read and has one of the suffixes', () => {
    const guard = guardOf({ root: { root: '/docs', suffixes: ['.md'] } });
    expect(guard.isVisible('/docs/a.md', 'file')).toBe(true);
    expect(guard.isVisible('/docs/a.exe', 'file')).toBe(false);
    expect(guard.isVisible('/docs/a.exe', 'directory')).toBe(true);
    expect(guard.isVisible('/a.md', 'file')).toBe(false);
  });
});

describe('access to a whole tree', () => {
  it.each([
    ['/src/sub', whole, true],
    ['/', { root: { root: '/src' } }, false],
    ['/src', { root: { root: '/src' } }, true],
    ['/elsewhere', { root: { root: '/src' } }, true],
    ['/src', { root: { root: '/src', suffixes: ['.md'] } }, false],
    ['/src', { root: { root: '/src', maxFileBytes: 10 } }, false],
    ['/elsewhere', { root: { root: '/src', maxFileBytes: 10 } }, true],
  ])('is decided at %s, with %j: %s', (path, config, expected) =>
    expect(guardOf(config).coversTree(path)).toBe(expected),
  );
});
