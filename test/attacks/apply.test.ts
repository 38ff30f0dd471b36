import { execFile } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { applyChanges, type PathChange, recoverDirectory } from '@scratchfs/host';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { leftovers } from './host-changes.js';
import { interceptSteps } from './host-steps.js';
import { mountSmallDisk, unmountSmallDisk, whyNoDisk } from './small-disk.js';

let top: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'scratchfs-apply-'));
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const file = (data: string) => ({ kind: 'file', data }) as const;
const CHANGES: readonly PathChange[] = [
  { path: '/a/x', before: file('x'), after: file('X') },
  { path: '/a/y', before: file('y') },
  { path: '/b/new', after: file('new') },
  { path: '/c', before: file('c'), after: file('C') },
];

function makeRoot(name: string): string {
  const root = join(top, name);
  mkdirSync(join(root, 'a'), { recursive: true });
  for (const [path, content] of [
    ['a/x', 'x'],
    ['a/y', 'y'],
    ['c', 'c'],
    ['a/other', 'other'],
  ] as const)
    writeFileSync(join(root, path), content);
  return root;
}

function replace(path: string, content: string): void {
  writeFileSync(`${path}.saved`, content);
  renameSync(`${path}.saved`, path);
}

/** Edits of another process, each with the path in which the edit has to be found afterwards. */
const EDITS: readonly (readonly [string, (root: string) => void, string])[] = [
  ['replaces a file that changes', (root) => replace(join(root, 'a/x'), 'EDIT'), '/a/x'],
  [
    'writes into a file that changes',
    (root) => {
      if (existsSync(join(root, 'c'))) appendFileSync(join(root, 'c'), 'EDIT');
      else writeFileSync(join(root, 'c'), 'EDIT');
    },
    '/c',
  ],
  ['replaces a file that is removed', (root) => replace(join(root, 'a/y'), 'EDIT'), '/a/y'],
  [
    'creates a file that is created',
    (root) => {
      mkdirSync(join(root, 'b'), { recursive: true });
      replace(join(root, 'b/new'), 'EDIT');
    },
    '/b/new',
  ],
];

describe('applyChanges() beside another process', () => {
  it.each(EDITS)('loses no edit of a process that %s, at whatever step', async (_, edit, path) => {
    let conflicts = 0;
    let isReached = true;
    for (let at = 0; isReached; at++) {
      const root = makeRoot(`${at}`);
      isReached = false;
      const takeBack = await interceptSteps(({ index, run }) => {
        if (index === at) {
          isReached = true;
          edit(root);
        }
        return run();
      });
      const result = await applyChanges(CHANGES, root).finally(takeBack);
      const where = `step ${at}`;
      const text = (name: string) =>
        existsSync(join(root, name)) ? readFileSync(join(root, name), 'utf8') : undefined;
      const kept = result.kept.find((entry) => entry.path === path);
      if (isReached) expect(`${text(path)} ${kept && text(kept.keptAt)}`, where).toContain('EDIT');
      // Everything else is as before or as after.
      const others = CHANGES.filter((change) => change.path !== path);
      const isNew = others.map(({ path: other, after }) => text(other) === after?.data);
      expect(isNew, where).toEqual(others.map(() => result.success));
      if (!result.success) conflicts += 1;
      expect(leftovers(root), where).toEqual([]);
      expect(await recoverDirectory(root)).toEqual({ outcome: 'nothing', kept: [] });
    }
    expect(conflicts).toBeGreaterThan(5);
  });

  it('loses no write through a handle that another process holds, as long as changes are being made', async () => {
    let isReached = true;
    let lost = 0;
    for (let at = 0; isReached; at++) {
      const root = makeRoot(`${at}`);
      const held = openSync(join(root, 'a/x'), 'a');
      isReached = false;
      let isLate = false;
      const takeBack = await interceptSteps(({ index, run }) => {
        if (index === at) {
          isReached = true;
          isLate = existsSync(join(root, 'c')) && readFileSync(join(root, 'c'), 'utf8') === 'C';
          writeSync(held, 'EDIT');
        }
        return run();
      });
      const { success } = await applyChanges(CHANGES, root).finally(takeBack);
      closeSync(held);
      const text = readFileSync(join(root, 'a/x'), 'utf8');
      if (isReached && !text.includes('EDIT')) lost += isLate ? 0 : 1;
      if (!success) expect(text).toBe('xEDIT');
    }
    expect(lost).toBe(0);
  });

  it('follows no link that replaces a directory, at whatever step', async () => {
    const outside = join(top, 'outside');
    mkdirSync(outside);
    for (const name of ['x', 'y']) writeFileSync(join(outside, name), name);
    let isReached = true;
    for (let at = 0; isReached; at++) {
      const root = makeRoot(`${at}`);
      isReached = false;
      const takeBack = await interceptSteps(({ index, run }) => {
        if (index === at) {
          isReached = true;
          renameSync(join(root, 'a'), join(root, 'moved'));
          symlinkSync(outside, join(root, 'a'));
        }
        return run();
      });
      await applyChanges(CHANGES, root).finally(takeBack);
      expect(
        readdirSync(outside).map((name) => readFileSync(join(outside, name), 'utf8')),
        `step ${at}`,
      ).toEqual(['x', 'y']);
      if (isReached) expect(readFileSync(join(root, 'moved/other'), 'utf8')).toBe('other');
    }
  });
});

describe('applyChanges() of several processes', () => {
  it('makes the changes of one of them, if they exclude each other', async () => {
    const program = join(top, 'program.mjs');
    const contents = `import { applyChanges } from '@scratchfs/host';
      const file = (data) => ({ kind: 'file', data });
      const [root, name] = process.argv.slice(2);
      const changes = [{ path: '/' + name, after: file('') }, { path: '/last', after: file(name) }];
      console.log((await applyChanges(changes, root)).success);`;
    await build({
      stdin: { contents, resolveDir: import.meta.dirname },
      outfile: program,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      conditions: ['@scratchfs/source'],
      logLevel: 'error',
    });
    const root = makeRoot('shared');
    const names = ['n1', 'n2', 'n3'];
    const run = promisify(execFile);
    const told = await Promise.all(names.map((name) => run(process.execPath, [program, root, name])));
    expect(told.map(({ stdout }) => stdout.trim()).sort()).toEqual(['false', 'false', 'true']);
    expect(readdirSync(root).filter((name) => name.startsWith('n'))).toEqual([
      readFileSync(join(root, 'last'), 'utf8'),
    ]);
    expect(leftovers(root)).toEqual([]);
  });
});

const reason = whyNoDisk();
describe.skipIf(reason !== undefined)(`applyChanges() on a small disk (${reason ?? 'mounted by root'})`, () => {
  it('changes nothing if the disk is full, and refuses a disk that is mounted inside', async () => {
    const root = makeRoot('disk');
    const inner = join(root, 'a');
    mountSmallDisk(inner);
    try {
      await expect(applyChanges([{ path: '/a/x', after: file('X') }], root)).rejects.toMatchObject({ code: 'EXDEV' });
      writeFileSync(join(inner, 'x'), 'x');
      const changes: PathChange[] = [
        { path: '/x', before: file('x'), after: file('X') },
        { path: '/large', after: file('l'.repeat(2_000_000)) },
      ];
      await expect(applyChanges(changes, inner)).rejects.toMatchObject({ code: 'ENOSPC' });
      expect(readdirSync(inner)).toEqual(['x']);
      expect(readFileSync(join(inner, 'x'), 'utf8')).toBe('x');
      expect(await applyChanges(changes.slice(0, 1), inner)).toMatchObject({ success: true });
    } finally {
      unmountSmallDisk(inner);
    }
  });
});
