import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { FsError } from '../../errors.js';
import type { Limits } from '../../limits.js';
import { MAX_DEPTH, MAX_PATH_BYTES } from '../../paths.js';
import type { ContentNode } from '../../tree/content.js';
import { DirectoryNode, FileNode } from '../../tree/node.js';
import { SharedStore, Tree } from '../../tree/tree.js';
import type { Context } from '../context.js';
import { rootMeta } from '../defaults.js';
import { OpenFiles } from '../open-files.js';
import { View } from '../view.js';
import { limitError } from './limit-error.js';
import { checkFileSize, checkReach, reserve, usedBytes } from './limits.js';

interface Given {
  readonly limits?: Limits;
  /** Size in bytes of the only file. */
  readonly size?: number;
  readonly openFiles?: OpenFiles;
}

/** Returns a view of one directory and one file of `size` bytes. */
function viewOf({ limits = {}, size = 0, openFiles }: Given): View {
  const tree = Tree.empty(new SharedStore(), rootMeta(0));
  const file = new FileNode('file', rootMeta(0));
  tree.shared.contents.fromBytes(file as ContentNode, new Uint8Array(size));
  tree.insert(tree.rootLocation, 'file', file);
  tree.insert(tree.rootLocation, 'directory', DirectoryNode.empty(tree.owner, 'directory', rootMeta(0)));
  const context: Context = { clock: () => 0, newId: () => 'new', random: () => 0, quota: { limits }, guard: undefined };
  return new View(tree, context, undefined, undefined, undefined, openFiles);
}

function refusal(call: () => void): object | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (!(error instanceof FsError)) throw error;
    const { code, syscall, path, limit, used, requested, allowed } = error;
    return { code, syscall, path, limit, used, requested, allowed };
  }
}

describe('room for bytes', () => {
  const ask = (given: Given, bytes: number) => refusal(() => reserve(viewOf(given), bytes, 0, 'write', '/a'));

  it('is granted up to the limit, and not beyond', () => {
    const given = { limits: { maxTotalSize: 100 }, size: 60 };
    expect(ask(given, 40)).toBeUndefined();
    expect(ask(given, 41)).toEqual({
      code: 'ENOSPC',
      syscall: 'write',
      path: '/a',
      limit: 'maxTotalSize',
      used: 60,
      requested: 101,
      allowed: 100,
    });
  });

  it('is always granted for no bytes or fewer, even above the limit', () => {
    const given = { limits: { maxTotalSize: 10 }, size: 60 };
    expect(ask(given, 0)).toBeUndefined();
    expect(ask(given, -5)).toBeUndefined();
    expect(ask(given, 1)).toMatchObject({ used: 60, requested: 61 });
  });

  it('counts open files that have no name any more', () => {
    const openFiles = new OpenFiles();
    openFiles.detached.size = 30;
    const given = { limits: { maxTotalSize: 100 }, size: 60, openFiles };
    expect(ask(given, 10)).toBeUndefined();
    expect(ask(given, 11)).toMatchObject({ used: 90, requested: 101 });
  });

  it('counts a file with several names once for each name', () => {
    const view = viewOf({ limits: { maxTotalSize: 100 }, size: 60 });
    view.tree.linkedSize = 30;
    expect(refusal(() => reserve(view, 11, 0, 'link', '/a'))).toMatchObject({ used: 90, requested: 101 });
  });

  it('counts files that have lost their name within a transaction only', () => {
    const view = viewOf({ limits: { maxTotalSize: 100 }, size: 60, openFiles: new OpenFiles() });
    view.inner = new OpenFiles();
    const gone = new FileNode('gone', rootMeta(0));
    view.tree.shared.contents.fromBytes(gone as ContentNode, new Uint8Array(30));
    view.inner.setDetached(view.inner.open('gone', '/gone'), gone);
    expect(refusal(() => reserve(view, 11, 0, 'write', '/a'))).toMatchObject({ used: 90, requested: 101 });
    reserve(view, 10, 0, 'write', '/a');
  });

  it("is checked against the storage's current totals before it is refused, and only then", () => {
    const view = viewOf({ limits: { maxTotalSize: 100 }, size: 60 });
    const asked = vi.spyOn(view, 'relyOnTotals');
    reserve(view, 40, 0, 'write', '/a');
    expect(asked).toHaveBeenCalledTimes(0);
    expect(refusal(() => reserve(view, 41, 0, 'write', '/a'))).toBeDefined();
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('is computed without a look at open files while an operation removes and moves nothing', () => {
    const openFiles = new OpenFiles();
    openFiles.open('file', '/file');
    const copy = vi.spyOn(openFiles, 'copy');
    const view = viewOf({ limits: { maxTotalSize: 100 }, size: 60, openFiles });
    view.changes = [];
    for (let made = 0; made < 5; made++) {
      view.changes.push({ type: 'create', path: `/${made}` });
      reserve(view, 1, 0, 'write', '/a');
    }
    expect(copy).toHaveBeenCalledTimes(0);
    view.remove(view.tree.rootLocation, 'file');
    expect(refusal(() => reserve(view, 41, 0, 'write', '/a'))).toMatchObject({ used: 60, requested: 101 });
    view.changes.push({ type: 'create', path: '/more' });
    expect(refusal(() => reserve(view, 41, 0, 'write', '/a'))).toMatchObject({ used: 60, requested: 101 });
    expect(copy).toHaveBeenCalledTimes(1);
  });

  it('keeps no removed node alive after the operation', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const openFiles = new OpenFiles();
    openFiles.open('file', '/file');
    const view = viewOf({ limits: { maxTotalSize: 100 }, size: 60, openFiles });
    const change = (): WeakRef<object> => {
      view.changes = [];
      view.remove(view.tree.rootLocation, 'directory');
      reserve(view, 1, 0, 'write', '/a');
      const removed = new WeakRef(view.changes[0]?.node as object);
      view.changes = undefined;
      return removed;
    };
    const removed = change();
    await setTimeout(1);
    collect();
    expect(removed.deref()).toBeUndefined();
    expect(usedBytes(view)).toBe(60);
  });

  it('has an upper bound even without a limit, so that sums stay exact', () => {
    expect(ask({ size: 5 }, 2 ** 53 - 6)).toBeUndefined();
    expect(ask({ size: 5 }, 2 ** 53 - 5)).toMatchObject({ limit: 'maxTotalSize', used: 5, allowed: 2 ** 53 - 1 });
    expect(ask({ size: 5 }, 2 ** 40)).toBeUndefined();
  });
});

describe('room for names', () => {
  const ask = (given: Given, nodes: number) => refusal(() => reserve(viewOf(given), 0, nodes, 'mkdir', '/a'));

  it('is granted up to the limit, and not beyond; files and directories count', () => {
    const given = { limits: { maxNodeCount: 4 } };
    expect(ask(given, 2)).toBeUndefined();
    expect(ask(given, 3)).toEqual({
      code: 'ENOSPC',
      syscall: 'mkdir',
      path: '/a',
      limit: 'maxNodeCount',
      used: 2,
      requested: 5,
      allowed: 4,
    });
    expect(ask({ limits: { maxNodeCount: 1 } }, 0)).toBeUndefined();
    expect(ask({}, 10 ** 9)).toBeUndefined();
  });

  it('is refused for bytes first', () => {
    const view = viewOf({ limits: { maxNodeCount: 0, maxTotalSize: 0 } });
    expect(refusal(() => reserve(view, 1, 1, 'open', '/a'))).toMatchObject({ limit: 'maxTotalSize' });
  });
});

describe('the size of one file', () => {
  const ask = (limits: Limits, size: number, before: number) =>
    refusal(() => checkFileSize(viewOf({ limits }), size, before, 'ftruncate', '/a'));

  it('is allowed up to the limit; a larger one may shrink, and stay as it is', () => {
    expect(ask({ maxFileSize: 10 }, 10, 0)).toBeUndefined();
    expect(ask({ maxFileSize: 10 }, 11, 3)).toEqual({
      code: 'EFBIG',
      syscall: 'ftruncate',
      path: '/a',
      limit: 'maxFileSize',
      used: 3,
      requested: 11,
      allowed: 10,
    });
    expect(ask({ maxFileSize: 10 }, 15, 20)).toBeUndefined();
    expect(ask({ maxFileSize: 10 }, 20, 20)).toBeUndefined();
    expect(ask({ maxFileSize: 10 }, 21, 20)).toMatchObject({ code: 'EFBIG' });
  });

  it('is 8 TiB at most, with or without a limit', () => {
    expect(ask({}, 2 ** 43, 0)).toBeUndefined();
    expect(ask({}, 2 ** 43 + 1, 0)).toMatchObject({ code: 'EFBIG', allowed: 2 ** 43 });
  });
});

describe('the depth that a directory may have at its target', () => {
  /** Returns a directory that contains a chain of directories with a file at its end. */
  function chain(names: readonly string[]): { view: View; directory: DirectoryNode } {
    const tree = Tree.empty(new SharedStore(), rootMeta(0));
    let location = tree.rootLocation;
    for (const name of ['top', ...names]) {
      const node = DirectoryNode.empty(tree.owner, `id of ${name}`, rootMeta(0));
      tree.insert(location, name, node);
      location = tree.childLocation(location, name, node);
    }
    const context: Context = {
      clock: () => 0,
      newId: () => 'new',
      random: () => 0,
      quota: { limits: {} },
      guard: undefined,
    };
    return { view: new View(tree, context), directory: tree.root.entries.get('top') as DirectoryNode };
  }

  const at = (view: View, directory: DirectoryNode) =>
    view.tree.childLocation(view.tree.rootLocation, 'top', directory);

  const ask = (names: readonly string[], target: string) => {
    const { view, directory } = chain(names);
    return refusal(() => checkReach(view, at(view, directory), target, 'rename', '/top'));
  };

  it('is a thousand names, including its subtree', () => {
    const names = Array.from({ length: 400 }, () => 'a');
    expect(ask(names, '/b'.repeat(MAX_DEPTH - 400))).toBeUndefined();
    expect(ask(names, '/b'.repeat(MAX_DEPTH - 399))).toEqual({
      code: 'ENAMETOOLONG',
      syscall: 'rename',
      path: '/top',
      limit: 'depth',
      used: undefined,
      requested: 1001,
      allowed: 1000,
    });
  });

  it.each([
    ['x', 1],
    ['…', 3],
  ])('is 4,096 bytes of %s, including its subtree', (character, bytes) => {
    const name = character.repeat(255 / bytes);
    const names = Array.from({ length: 10 }, () => name);
    expect(ask(names, `/${name}`.repeat(MAX_PATH_BYTES / 256 - 10))).toBeUndefined();
    expect(ask(names, `${`/${name}`.repeat(MAX_PATH_BYTES / 256 - 10)}/x`)).toEqual({
      code: 'ENAMETOOLONG',
      syscall: 'rename',
      path: '/top',
      limit: 'path',
      used: undefined,
      requested: 4098,
      allowed: 4096,
    });
  });

  it('is computed when it is close to the limit, whatever the directory contained before', () => {
    const { view, directory } = chain(Array.from({ length: 990 }, () => 'a'));
    const { tree } = view;
    expect(refusal(() => checkReach(view, at(view, directory), '/b'.repeat(20), 'rename', '/top'))).toMatchObject({
      limit: 'depth',
    });
    const top = tree.childLocation(tree.rootLocation, 'top', directory);
    tree.detach(top, 'a', directory.entries.get('a') as DirectoryNode);
    const emptied = tree.root.entries.get('top') as DirectoryNode;
    expect(refusal(() => checkReach(view, at(view, emptied), '/b'.repeat(20), 'rename', '/top'))).toBeUndefined();
  });
});

describe('an exceeded limit', () => {
  it.each([
    ['maxNodeCount', 'The limit maxNodeCount is 4 entries; 3 are in use and this would make 9'],
    ['maxTotalSize', 'The limit maxTotalSize is 4 bytes; 3 are in use and this would make 9'],
    ['maxCheckpoints', 'The limit maxCheckpoints is 4 checkpoints; 3 are in use and this would make 9'],
  ])('is reported in its own unit: %s', (limit, hint) => {
    expect(limitError('ENOSPC', limit, 3, 9, 4, 'open', '/a')).toMatchObject({ hint, limit, used: 3, requested: 9 });
  });
});
