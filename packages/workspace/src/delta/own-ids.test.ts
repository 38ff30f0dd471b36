import { expect, it } from 'vitest';
import type { DeltaEntry, DeltaNode, Head } from './delta-node.js';
import { ShownIds, shownId } from './own-ids.js';

const COUNT = 500;

function headWith(names: ReadonlyMap<string, DeltaEntry>): Head {
  return { root: { id: 'root', kind: 'directory', version: '', names }, inodes: new Map() };
}

it('an id shows with a suffix exactly while a changed node has it, however many heads came before', () => {
  const shown = new ShownIds();
  const names = new Map<string, DeltaEntry>();
  const wrong: string[] = [];
  for (let i = 0; i < 2 * COUNT; i++) {
    // One node more in each of the first heads, one less in each of the others.
    const name = `${i % COUNT}`;
    const node: DeltaNode = { id: `id-${name}`, kind: 'file', version: '' };
    if (i < COUNT) names.set(name, { node });
    else names.delete(name);
    const head = headWith(new Map(names));
    shown.follow(head);
    for (let k = 0; k < COUNT; k++) {
      const expected = names.has(`${k}`) ? `id-${k}~` : `id-${k}`;
      if (shownId(head, `id-${k}`) !== expected) wrong.push(`id-${k} in head ${i}`);
    }
  }
  expect(wrong).toEqual([]);
});

it('heads made from one head keep their own ids, and so does that head', () => {
  const shown = new ShownIds();
  const before = new Map<string, DeltaEntry>();
  for (let i = 0; i < 70; i++) before.set(`${i}`, { node: { id: `id-${i}`, kind: 'file', version: '' } });
  const base = headWith(before);
  shown.follow(base);
  const branches = ['a', 'b'].map((name) => {
    const names = new Map(before);
    names.delete('0');
    const removed = headWith(names);
    const added = headWith(new Map(names).set(name, { node: { id: name, kind: 'file', version: '' } }));
    const empty = headWith(new Map());
    for (const head of [removed, added, base, empty, base]) shown.follow(head);
    return [removed, added, empty];
  });
  const idsIn = (head: Head): string => ['id-0', 'id-1', 'a', 'b'].map((id) => shownId(head, id)).join(' ');
  expect(idsIn(base)).toBe('id-0~ id-1~ a b');
  expect(branches.map((heads) => heads.map(idsIn))).toEqual([
    ['id-0 id-1~ a b', 'id-0 id-1~ a~ b', 'id-0 id-1 a b'],
    ['id-0 id-1~ a b', 'id-0 id-1~ a b~', 'id-0 id-1 a b'],
  ]);
});
