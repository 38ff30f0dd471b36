import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { compareNames } from '../paths.js';
import { Entries } from './entries.js';
import { entriesFromSorted } from './entries-build.js';
import { readPage } from './entries-cursor.js';
import { Owner } from './owner.js';

vi.setConfig({ testTimeout: 60_000 });

const sorted = (model: Map<string, number>) => [...model].sort(([a], [b]) => compareNames(a, b));

function expectSame(entries: Entries<number>, model: Map<string, number>): void {
  const pairs: [string, number][] = [];
  entries.forEach((value, name) => {
    pairs.push([name, value]);
  });
  expect(pairs).toEqual(sorted(model));
  expect(entries.size).toBe(model.size);
}

/** Short names, long names with a common prefix, and names beyond U+D7FF on both sides of the surrogates. */
const name = fc.oneof(
  fc.nat(3000).map((i) => `f${i}`),
  fc.nat(3000).map((i) => `a-rather-long-common-beginning-${i}.test.ts`),
  fc.nat(50).map((i) => `\uffee${i}`),
  fc.nat(50).map((i) => `😀${i}`),
  fc.constantFrom('__proto__', 'constructor', 'a', 'é', '\ud7ff', '\ue000', '💥', 'a-rather-long-common-beginning-'),
);

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('set' as const), name, value: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('delete' as const), name }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('run' as const), from: fc.nat(3000), count: fc.nat(400) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('drop' as const), from: fc.nat(3000), count: fc.nat(600) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fork' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('map' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('read' as const), name }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('aim' as const), name, between: fc.nat(3) }) },
);

function* runNames(from: number, count: number): Generator<string> {
  for (let i = from; i < from + count; i++) yield i % 2 ? `f${i}` : `a-rather-long-common-beginning-${i}.test.ts`;
}

describe('Entries', () => {
  test('any operations give the entries of a sorted Map, in every fork', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.infiniteStream(fc.nat()), (steps, choices) => {
        const trees = [{ entries: Entries.empty<number>(), model: new Map<string, number>(), owner: new Owner() }];
        for (const action of steps) {
          const tree = trees[choices.next().value % trees.length]!;
          const { entries, model, owner } = tree;
          if (action.kind === 'set') {
            entries.set(owner, action.name, action.value);
            model.set(action.name, action.value);
          } else if (action.kind === 'delete') {
            expect(entries.delete(owner, action.name)).toBe(model.delete(action.name));
          } else if (action.kind === 'run') {
            for (const each of runNames(action.from, action.count)) {
              entries.set(owner, each, action.from);
              model.set(each, action.from);
            }
          } else if (action.kind === 'drop') {
            for (const each of runNames(action.from, action.count)) {
              expect(entries.delete(owner, each)).toBe(model.delete(each));
            }
          } else if (action.kind === 'fork') {
            tree.owner = new Owner();
            trees.push({ entries: entries.clone(), model: new Map(model), owner: new Owner() });
          } else if (action.kind === 'map') {
            // The owner stays the same: later changes through it must not be visible in the copy.
            const other = new Owner();
            const mapped = entries.map(other, (value) => value + 1);
            const changed = new Map([...model].map(([each, value]) => [each, value + 1]));
            trees.push({ entries: mapped, model: changed, owner: other });
          } else if (action.kind === 'aim') {
            expect(entries.getToSet(action.name)).toBe(model.get(action.name));
            // `getToSet` remembers the position of the name. Changes between it and `set`, in front of the name and
            // behind it, must not make `set` use a stale one.
            for (const each of ['', `${action.name}-`, 'a-'].slice(0, action.between)) {
              if (model.delete(each)) entries.delete(owner, each);
              else {
                entries.set(owner, each, 7);
                model.set(each, 7);
              }
            }
            entries.set(owner, action.name, 8);
            model.set(action.name, 8);
          } else {
            for (let i = 0; i < 50; i++) expect(entries.get(action.name)).toBe(model.get(action.name));
          }
        }
        for (const { entries, model } of trees) {
          expectSame(entries, model);
          for (const [each, value] of model) expect(entries.get(each)).toBe(value);
          for (const each of runNames(0, 200)) expect(entries.get(each)).toBe(model.get(each));
          expect(entries.names()).toEqual(sorted(model).map(([each]) => each));
          expect(entries.values()).toEqual(sorted(model).map(([, value]) => value));
        }
      }),
      { numRuns: 60 },
    );
  });

  test('order is that of UTF-8 bytes, with astral names after U+FFFF', () => {
    const names = ['\uffee', '😀', '\ue000', 'z', '\ud7ff', 'é', 'a', 'aa', ''];
    const entries = Entries.empty<number>();
    for (const each of names) entries.set(new Owner(), each, 1);
    const bytes = (text: string) => Buffer.from(text);
    expect(entries.names()).toEqual(names.toSorted((a, b) => Buffer.compare(bytes(a), bytes(b))));
  });

  test('a large directory is found, paged and walked completely, in whatever order it was filled', () => {
    for (const stride of [1, 7919, 9999]) {
      const owner = new Owner();
      const entries = Entries.empty<number>();
      const model = new Map<string, number>();
      for (let i = 0; i < 10_000; i++) {
        const each = `component-item-${String((i * stride) % 10_000).padStart(8, '0')}.tsx`;
        entries.set(owner, each, i);
        model.set(each, i);
      }
      expectSame(entries, model);
      for (const [each, value] of model) {
        if (entries.get(each) !== value) expect(each).toBe('found');
        if (entries.get(`${each}x`) !== undefined) expect(each).toBe('absent');
      }
      const paged: string[] = [];
      for (let after: string | undefined; ; after = paged.at(-1)) {
        const page = readPage(entries.cursor(after), 999);
        paged.push(...page.names);
        expect(page.values).toEqual(page.names.map((each) => model.get(each)));
        if (page.complete) break;
        expect(page.names.length).toBe(999);
      }
      expect(paged).toEqual(entries.names());
    }
  });

  test('a cursor starts after a name, present or not', () => {
    const owner = new Owner();
    const entries = Entries.empty<number>();
    for (let i = 0; i < 1000; i++) entries.set(owner, `n${String(i).padStart(4, '0')}`, i);
    for (const [after, first] of [
      ['n0499', 500],
      ['n0499x', 500],
      ['', 0],
      ['n0127', 128],
    ] as const) {
      const cursor = entries.cursor(after);
      expect(cursor.next()).toBe(true);
      expect([cursor.name, cursor.value]).toEqual([`n${String(first).padStart(4, '0')}`, first]);
    }
    expect(entries.cursor('n0999').next()).toBe(false);
    expect(Entries.empty().cursor().next()).toBe(false);
    expect(readPage(entries.cursor('n0998'), 1)).toEqual({ names: ['n0999'], values: [999], complete: true });
    expect(readPage(entries.cursor(), 0)).toEqual({ names: [], values: [], complete: false });
  });

  test('fromSorted contains the given entries, at every size around the bounds of leaves and inner nodes', () => {
    for (const count of [0, 1, 127, 128, 129, 256, 257, 8192, 8193, 8321]) {
      const names = Array.from({ length: count }, (_, i) => `name-with-a-tail-${String(i).padStart(6, '0')}`);
      const entries = entriesFromSorted(new Owner(), names, names);
      expect(entries.names()).toEqual(names);
      expect(entries.size).toBe(count);
      for (const each of names) if (entries.get(each) !== each) expect(each).toBe('found');
      entries.set(new Owner(), 'name', 'first');
      expect(entries.names()).toEqual(['name', ...names]);
      if (names[0]) expect(entries.get(names[0])).toBe(names[0]);
    }
  });

  test('names() and values() are fresh arrays', () => {
    const entries = Entries.empty<number>();
    entries.set(new Owner(), 'a', 1);
    entries.names().push('b');
    entries.values()[0] = 2;
    expect(entries.names()).toEqual(['a']);
    expect(entries.get('a')).toBe(1);
  });

  test('a directory reduced to one name in forty is still complete, and can grow again', () => {
    const owner = new Owner();
    const entries = Entries.empty<number>();
    const model = new Map<string, number>();
    const at = (i: number) => `n${String(i).padStart(6, '0')}`;
    const put = (i: number) => {
      entries.set(owner, at(i), i);
      model.set(at(i), i);
    };
    const every = () => {
      expectSame(entries, model);
      for (let i = 0; i < 40_000; i++) if (entries.get(at(i)) !== model.get(at(i))) expect(at(i)).toBe('found');
    };
    for (let i = 0; i < 40_000; i++) put((i * 7919) % 40_000);
    // First whole leaves, so that a name may be added in front of its parent's first child.
    for (let start = 0; start < 40_000; start += 1000) {
      for (let i = start; i < start + 700; i++) {
        entries.delete(owner, at(i));
        model.delete(at(i));
      }
      for (let i = start; i < start + 700; i += 40) put(i);
    }
    for (let i = 0; i < 40_000; i++) {
      if (i % 40 && entries.delete(owner, at(i)) !== model.delete(at(i))) expect(at(i)).toBe('deleted');
    }
    every();
    for (let i = 0; i < 40_000; i += 3) put(i);
    every();
  });

  test('filling and emptying over and over leaves an empty directory that still works', () => {
    const owner = new Owner();
    const entries = Entries.empty<number>();
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 2000; i++) entries.set(owner, `n${(i * 37) % 2000}`, i);
      for (let i = 0; i < 2000; i++) expect(entries.delete(owner, `n${(i * 101) % 2000}`)).toBe(true);
      expect(entries.size).toBe(0);
      expect(entries.names()).toEqual([]);
      expect(entries.get('n1')).toBeUndefined();
    }
  });
});
