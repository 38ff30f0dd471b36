import { expect, it } from 'vitest';
import { rootMeta } from '../engine/defaults.js';
import { runSteps } from '../engine/scheduling/time-slice.js';
import { Entries } from '../tree/entries.js';
import { Inner } from '../tree/entries-node.js';
import { DirectoryNode, type TreeNode } from '../tree/node.js';
import { Owner } from '../tree/owner.js';
import { LoadPlanner } from './load-planner.js';
import { RangeCache } from './range-cache.js';
import { Pages } from './stored-page.js';

/** A directory of 40,000 names whose top page is loaded, and the five pages under that are not. */
function largeDirectory(pages: Pages): DirectoryNode {
  const owner = new Owner();
  const keys = ['', 'b', 'c', 'd', 'e'];
  const children = keys.map((_, i) =>
    pages.at({ object: `objects/1-${i + 1}-100-${i}`, offset: 0, length: 100, hash: 0 }),
  );
  const directory = DirectoryNode.empty(owner, 1, rootMeta(0));
  directory.entries = Entries.fromParts({ root: new Inner<TreeNode>(owner, keys, children), height: 2, count: 40_000 });
  return directory;
}

it.each([
  ['a whole listing', Number.MAX_SAFE_INTEGER, 5],
  ['a page of a listing', 1_000, 1],
])('names() requests the pages of %s together', (_, limit, expected) => {
  const pages = new Pages(new RangeCache(1_000), new WeakMap());
  const planner = new LoadPlanner(pages, () => undefined);
  planner.names(largeDirectory(pages), undefined, limit);
  expect(planner.refs.length).toBe(expected);
});

it('tree() requests all pages of a listing together', () => {
  const pages = new Pages(new RangeCache(1_000), new WeakMap());
  const planner = new LoadPlanner(pages, () => undefined);
  runSteps(planner.tree(largeDirectory(pages), 1_000, false));
  expect(planner.refs.length).toBe(5);
});
