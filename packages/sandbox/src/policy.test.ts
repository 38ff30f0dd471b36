import { describe, expect, it } from 'vitest';
import { parseSandboxConfig } from './config.js';
import { ChildPolicy, canLook, type Policy, RootPolicy } from './policy.js';
import { sandboxRoots } from './sandbox-root.js';

const base = new RootPolicy(
  sandboxRoots(
    parseSandboxConfig({
      paths: {
        src: { root: '/p' },
        out: { root: '/p/out', mode: 'rw' },
        keys: { root: '/p/out/keys' },
        far: { root: '/x/y', mode: 'rw' },
      },
    }),
    '/',
  ),
);

const rights = (policy: Policy, path: string): string =>
  [
    policy.canRead(path) && 'r',
    policy.canWrite(path) && 'w',
    canLook(policy, path) && 'l',
    policy.isUniform(path) && 'u',
  ]
    .filter(Boolean)
    .join('');

describe('the policy of a configuration', () => {
  it.each([
    ['/', 'l'],
    ['/p', 'rl'],
    ['/p/a', 'rlu'],
    ['/pp', 'u'],
    ['/p/out', 'rwl'],
    ['/p/outer', 'rlu'],
    ['/p/out/a', 'rwlu'],
    ['/p/out/keys/k', 'rlu'],
    ['/x', 'l'],
    ['/x/y', 'rwlu'],
    ['/x/yy', 'u'],
  ])('%s: %s, by the innermost root', (path, expected) => expect(rights(base, path)).toBe(expected));

  it('lists its roots in order', () => {
    expect(base.readableRoots).toEqual(['/p', '/p/out', '/p/out/keys', '/x/y']);
    expect(base.writableRoots).toEqual(['/p/out', '/x/y']);
  });
});

describe('the policy of a child', () => {
  it('allows what both its lists and its parent allow', () => {
    const child = new ChildPolicy(base, ['/p'], ['/p/out/sub', '/x'], []);
    expect(child.readableRoots).toEqual(['/p', '/p/out', '/p/out/keys']);
    expect(child.writableRoots).toEqual(['/p/out/sub', '/x/y']);
    expect(rights(child, '/p/a')).toBe('rlu');
    expect(rights(child, '/p/out/a')).toBe('rlu');
    expect(rights(child, '/p/out')).toBe('rl');
    expect(rights(child, '/p/out/sub/a')).toBe('rwlu');
    expect(rights(child, '/x')).toBe('l');
    expect(rights(child, '/x/y/z')).toBe('wlu');
    expect(rights(child, '/x/z')).toBe('u');
  });

  it("lists the parent's roots within its prefixes, and no prefix twice", () => {
    expect(new ChildPolicy(base, ['/p', '/p/a', '/p/a'], [], []).readableRoots).toEqual([
      '/p',
      '/p/out',
      '/p/out/keys',
    ]);
    expect(new ChildPolicy(base, ['/p/a/b', '/p/a'], [], []).readableRoots).toEqual(['/p/a']);
    expect(new ChildPolicy(base, ['/p/out/keys/x'], [], []).readableRoots).toEqual(['/p/out/keys/x']);
  });

  it('matches whole names, not prefixes of names', () => {
    const child = new ChildPolicy(base, ['/p/a'], [], []);
    expect(rights(child, '/p/a')).toBe('rlu');
    expect(rights(child, '/p/ab')).toBe('u');
    expect(rights(child, '/p/a_evil/x')).toBe('u');
  });

  it('lists what its parent lists, except on the way to roots in a write-only directory', () => {
    const writer = new ChildPolicy(base, [], ['/p/out', '/x'], []);
    const inner = new ChildPolicy(writer, [], ['/p/out/a/b'], []);
    const lists = (policy: Policy): string[] =>
      ['/', '/p', '/p/out', '/p/out/a', '/p/out/a/b', '/x', '/x/y', '/q'].filter((path) => policy.canList(path));
    expect(lists(base)).toEqual(['/', '/p', '/p/out', '/p/out/a', '/p/out/a/b', '/x', '/x/y']);
    expect(lists(writer)).toEqual(['/', '/p', '/x']);
    expect(lists(inner)).toEqual(['/', '/p']);
    expect(inner.isOnTheWay('/p/out/a')).toBe(true);
    expect(lists(new ChildPolicy(base, ['/p/out/a'], [], []))).toEqual(['/', '/p', '/p/out', '/p/out/a', '/p/out/a/b']);
  });

  it('without lists equals its parent', () => {
    const child = new ChildPolicy(base, undefined, undefined, []);
    for (const path of ['/', '/p', '/p/out', '/p/out/keys/k', '/x/y/z'])
      expect(rights(child, path)).toBe(rights(base, path));
    expect(child.readableRoots).toEqual(base.readableRoots);
  });

  it('with empty lists allows nothing', () => {
    const child = new ChildPolicy(base, [], [], []);
    for (const path of ['/', '/p', '/p/out/a']) expect(rights(child, path).replace('u', '')).toBe('');
    expect([...child.readableRoots, ...child.writableRoots]).toEqual([]);
  });

  it('shows the links on the way to its entries if its parent shows them', () => {
    const child = new ChildPolicy(base, ['/p/real'], [], ['/p/links/a', '/outside/b']);
    expect([child.isEntry('/p/links/a'), child.isOnTheWay('/p/links')]).toEqual([true, true]);
    expect([child.isEntry('/outside/b'), child.isOnTheWay('/outside')]).toEqual([false, false]);
    expect(child.canRead('/p/links/a')).toBe(false);
    expect(new ChildPolicy(child, ['/p/real/x'], [], []).isEntry('/p/links/a')).toBe(false);
  });
});
