import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../../async-storage.js';
import type { Backend, Check } from '../../backend.js';
import { openFileSystem } from '../../create-file-system.js';
import { rootMeta } from '../defaults.js';
import { MemoryExecutor } from '../memory/memory-executor.js';
import { runSteps } from '../scheduling/time-slice.js';
import { TreeBackend } from '../tree-backend/tree-backend.js';
import { dedupe } from './coarse-preconditions.js';
import { MAX_LINEAR_CHECKS, preconditionsOf, preconditionsOfFew } from './preconditions.js';

const needed = (checks: readonly Check[]): readonly Check[] => runSteps(preconditionsOf(runSteps(dedupe(checks))));
const way = (path: string, id = path): Check => ({ kind: 'entry', path, id });
const file = (path: string): Check => ({ kind: 'entry', path, id: path, version: 1 });
const absent = (path: string): Check => ({ kind: 'entry', path, id: null });

describe('preconditions', () => {
  it('leave out the checks of directories on the path to an entry that was found', () => {
    expect(needed([way('/'), way('/a'), way('/a'), way('/a/b'), file('/a/b/c')])).toEqual([file('/a/b/c')]);
  });

  it('keep the check of a directory that was the target, or in which a name is missing', () => {
    expect(needed([way('/'), way('/a')])).toEqual([way('/a')]);
    expect(needed([way('/'), way('/a'), absent('/a/b')])).toEqual([way('/a'), absent('/a/b')]);
    expect(needed([way('/'), absent('/b')])).toEqual([way('/'), absent('/b')]);
  });

  it('keep every check of a version, a listing, a tree or an emptiness', () => {
    const said: Check[] = [
      { kind: 'entry', path: '/a', id: 'a', version: 3 },
      { kind: 'listing', path: '/a', id: 'a', version: 4 },
      { kind: 'tree', path: '/a', id: 'a', version: 5 },
      { kind: 'empty', path: '/a/b', id: 'b' },
    ];
    expect(needed([...said, file('/a/c')])).toEqual([...said, file('/a/c')]);
  });

  it('contain each check once', () => {
    expect(needed([file('/a/b'), file('/a/c'), file('/a/b')])).toEqual([file('/a/b'), file('/a/c')]);
  });
});

describe('preconditionsOfFew()', () => {
  const path = fc.constantFrom('/', '/a', '/a/b', '/a/b/c', '/ab', '/ab/c');
  const id = fc.constantFrom('one', 'another');
  const version = fc.constantFrom(1, 2);
  const check: fc.Arbitrary<Check> = fc.oneof(
    fc.record({ kind: fc.constant('entry'), path, id }),
    fc.record({ kind: fc.constant('entry'), path, id, version }),
    fc.record({ kind: fc.constant('entry'), path, id: fc.constant(null) }),
    fc.record({ kind: fc.constant('listing'), path, id, version }),
    fc.record({ kind: fc.constant('tree'), path, id, version }),
    fc.record({ kind: fc.constant('empty'), path, id }),
  );

  it('returns the same checks as the algorithm for many', () => {
    const few = fc.array(check, { maxLength: MAX_LINEAR_CHECKS });
    fc.assert(
      fc.property(few, (checks) => {
        expect(preconditionsOfFew(checks)).toEqual(needed(checks));
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('a file whose directory was replaced by another', () => {
  it('is read and written at its path', async () => {
    const store = new TreeBackend(MemoryExecutor.create(rootMeta(0)));
    const checked: (readonly string[])[] = [];
    const watched: Backend = {
      capabilities: store.capabilities,
      load: (requests, call) => store.load(requests, call),
      commit: (batch, call) => {
        checked.push(batch.checks.map(({ path }) => path));
        return store.commit(batch, call);
      },
      outcome: (id) => store.outcome(id),
      close: () => store.close(),
    };
    const mine = await openFileSystem(asyncStorage(watched));
    const other = await openFileSystem(asyncStorage(store));
    await mine.mkdir('/d');
    await mine.writeFile('/d/f', 'old');
    checked.length = 0;
    expect(await mine.readText('/d/f')).toBe('old');
    expect(checked).toEqual([['/d/f']]);
    // `/d` becomes another directory, which then holds the same file, and later another one.
    await other.mkdir('/e');
    await other.rename('/d/f', '/e/f');
    await other.rename('/d', '/away');
    await other.rename('/e', '/d');
    await mine.writeFile('/d/f', 'new');
    expect([await mine.readText('/d/f'), await other.readText('/d/f')]).toEqual(['new', 'new']);
    expect([await mine.readdir('/away'), await mine.readdir('/d')]).toEqual([[], ['f']]);
    await other.rm('/d', { recursive: true });
    await expect(mine.readText('/d/f')).rejects.toMatchObject({ code: 'ENOENT' });
    await other.mkdir('/d');
    await other.writeFile('/d/f', 'third');
    expect(await mine.readText('/d/f')).toBe('third');
  });
});
