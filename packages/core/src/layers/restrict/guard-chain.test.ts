import { describe, expect, it } from 'vitest';
import type { AccessRequest, Guard } from '../../engine/guard.js';
import { sample } from '../../testing/sample-file-system.js';
import { restrict } from '../restrict.js';
import { GuardChain } from './guard-chain.js';

/** Returns a guard that sees and allows the given paths, and records the questions. */
function guard({
  sees = () => true,
  allows = () => true,
  covers = () => true,
}: {
  sees?: (path: string) => boolean;
  allows?: (request: AccessRequest) => boolean;
  covers?: (path: string) => boolean;
} = {}): Guard & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    check: (request) => {
      asked.push(`${request.access} ${request.path}`);
      if (!allows(request)) throw new Error(`not ${request.access}`);
    },
    isVisible: sees,
    coversTree: covers,
  };
}

const aim = { access: 'write', syscall: 'open', given: 'as it was written' } as const;

describe('guards', () => {
  it('cost nothing if everything is visible, writable and removable', () => {
    const readers = guard({ allows: ({ access }) => access !== 'write' });
    const keepers = guard({ allows: ({ access }) => access !== 'remove' });
    const blind = guard({ sees: (path) => path === '/' });
    expect(new GuardChain([]).isFree()).toBe(true);
    expect(new GuardChain([guard(), guard()]).isFree()).toBe(true);
    for (const one of [readers, keepers, guard({ covers: () => false })])
      expect(new GuardChain([guard(), one]).isFree()).toBe(false);
    expect([new GuardChain([blind]).hides, new GuardChain([guard({ sees: () => false })]).hides]).toEqual([
      false,
      true,
    ]);
    expect(new GuardChain([{ check: () => {}, isVisible: () => true }]).hides).toBe(true);
  });

  it('that hide nothing are not asked if a path ends too early', () => {
    const open = guard();
    const guards = new GuardChain([open]);
    guards.stuck('/a', ['b'], aim);
    guards.pass('/a', ['b'], aim);
    expect(open.asked).toEqual([]);
  });

  it.each([
    [['f'], ['write /secret/f']],
    [['f', '.', '', 'd'], ['write /secret/d/f']],
    [['f', '..', 'd'], ['look /secret/d']],
    [[], ['write /secret']],
  ])('that hide something are asked about the target of the path (%j, last first)', (rest, asked) => {
    const hiding = guard({ sees: (path) => !path.startsWith('/secret'), covers: () => false });
    new GuardChain([hiding]).pass('/secret', rest, aim);
    new GuardChain([hiding]).pass('/open', rest, aim);
    expect(hiding.asked).toEqual(asked);
  });

  it('are asked in order, those that hide a path first', () => {
    const order: string[] = [];
    const telling = (name: string, sees: boolean): Guard => ({
      check: () => order.push(name),
      isVisible: () => sees,
    });
    new GuardChain([telling('beneath', true), telling('hides', false), telling('above', true)]).ask({
      path: '/a',
      access: 'read',
      kind: 'file',
      size: 0,
      syscall: 'read',
      given: '/a',
    });
    expect(order).toEqual(['hides', 'beneath', 'above']);
  });

  it('are not asked about each entry of a tree that they cover, and about each entry otherwise', () => {
    for (const [covered, asked] of [
      [true, ['remove /d']],
      [false, ['remove /d', 'remove /d/a', 'remove /d/e', 'remove /d/e/b']],
    ] as const) {
      const base = sample({ '/d/a': '1', '/d/e/b': '2' });
      const one = guard({ covers: (path) => covered || path === '/' });
      restrict(base, one).rmSync('/d', { recursive: true });
      expect([...new Set(one.asked.filter((line) => line.startsWith('remove')))]).toEqual(asked);
      expect(base.existsSync('/d')).toBe(false);
    }
  });
});
