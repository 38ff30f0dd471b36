import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openFileSystem } from '../create-file-system.js';
import { diff, diffSync, formatDiff, formatDiffSync } from '../diff.js';
import { rootMeta } from '../engine/defaults.js';
import { MemoryExecutor } from '../engine/memory/memory-executor.js';
import { ExecutorSyncStorage } from '../executor-storage.js';
import type { SyncFileSystem } from '../file-system.js';
import { restrict } from '../layers.js';

let now = 0;
function open(files: Record<string, string> = {}): SyncFileSystem {
  const clock = () => ++now;
  return openFileSystem(new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), clock), { files, clock });
}

const FILES = { '/a/one': '1\n', '/a/two': '2\n', '/b/c/three': '3\n', '/top': 'top\n' };

/** The paths of a diff, by how they changed. */
function paths(fs: SyncFileSystem, from: string | undefined, to?: string) {
  const { added, removed, changed } = diffSync(fs, from, to);
  return { added: added.map((e) => e.path), removed: removed.map((e) => e.path), changed: changed.map((e) => e.path) };
}

/** Returns the least CPU time of five runs, because other processes can only slow a run. */
function leastCpu(work: () => void): number {
  const runs = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return Math.min(...runs);
}

describe('diff', () => {
  test('says what was added, removed and changed', () => {
    const fs = open(FILES);
    fs.checkpointSync('before');
    fs.writeFileSync('/a/one', 'one\n');
    fs.rmSync('/b', { recursive: true });
    fs.mkdirSync('/new/deep', { recursive: true });
    fs.writeFileSync('/new/deep/file', 'x', { mode: 0o600 });
    fs.chmodSync('/top', 0o755);
    expect(diffSync(fs, 'before')).toEqual({
      added: [
        { path: '/new', kind: 'directory', size: 0, mode: 0o755, uid: 0, gid: 0 },
        { path: '/new/deep', kind: 'directory', size: 0, mode: 0o755, uid: 0, gid: 0 },
        { path: '/new/deep/file', kind: 'file', size: 1, mode: 0o600, uid: 0, gid: 0 },
      ],
      removed: [
        { path: '/b', kind: 'directory', size: 0, mode: 0o755, uid: 0, gid: 0 },
        { path: '/b/c', kind: 'directory', size: 0, mode: 0o755, uid: 0, gid: 0 },
        { path: '/b/c/three', kind: 'file', size: 2, mode: 0o644, uid: 0, gid: 0 },
      ],
      changed: [
        {
          path: '/a/one',
          before: { kind: 'file', size: 2, mode: 0o644, uid: 0, gid: 0 },
          after: { kind: 'file', size: 4, mode: 0o644, uid: 0, gid: 0 },
          content: true,
        },
        {
          path: '/top',
          before: { kind: 'file', size: 4, mode: 0o644, uid: 0, gid: 0 },
          after: { kind: 'file', size: 4, mode: 0o755, uid: 0, gid: 0 },
          content: false,
        },
      ],
    });
  });

  test('includes contents if asked for, of files that a policy lets the caller read', async () => {
    const fs = open(FILES);
    fs.checkpointSync('before');
    fs.writeFileSync('/a/one', 'one\n');
    fs.unlinkSync('/b/c/three');
    fs.chmodSync('/top', 0o755);
    fs.symlinkSync('top', '/link');
    const { added, removed, changed } = diffSync(fs, 'before', undefined, { contents: true });
    const text = (data: Uint8Array | undefined) => data && new TextDecoder().decode(data);
    expect(added.map(({ path, data }) => [path, data])).toEqual([['/link', undefined]]);
    expect(removed.map(({ path, data }) => [path, text(data)])).toEqual([['/b/c/three', '3\n']]);
    expect(changed.map(({ path, before, after }) => [path, text(before.data), text(after.data)])).toEqual([
      ['/a/one', '1\n', 'one\n'],
      ['/top', 'top\n', 'top\n'],
    ]);
    expect(await diff(fs, 'before', undefined, { contents: true })).toEqual({ added, removed, changed });
    changed[0]?.after.data?.fill(0);
    expect(fs.readTextSync('/a/one')).toBe('one\n');
    const guarded = restrict(fs, {
      check: ({ path, access }) => {
        if (path === '/top' && access === 'read') throw new Error('secret');
      },
      isVisible: () => true,
    });
    const seenBefore = guarded.checkpointSync();
    fs.writeFileSync('/top', 'other\n');
    fs.writeFileSync('/a/one', 'two\n');
    const seen = diffSync(guarded, seenBefore, undefined, { contents: true }).changed;
    expect(seen.map(({ path, after }) => [path, text(after.data)])).toEqual([
      ['/a/one', 'two\n'],
      ['/top', undefined],
    ]);
    expect(() => diffSync(fs, 'before', undefined, { contents: 'yes' } as object)).toThrow(TypeError);
  });

  test('compares checkpoints and the current state in both directions', async () => {
    const fs = open(FILES);
    const first = fs.checkpointSync();
    fs.writeFileSync('/x', '1');
    const second = fs.checkpointSync('second');
    fs.rmSync('/top');
    expect(paths(fs, first.id, 'second')).toEqual({ added: ['/x'], removed: [], changed: [] });
    expect(paths(fs, 'second', first.id)).toEqual({ added: [], removed: ['/x'], changed: [] });
    expect(paths(fs, undefined, 'second')).toEqual({ added: ['/top'], removed: [], changed: [] });
    expect(await diff(fs, first, second)).toEqual(diffSync(fs, first, second));
    expect(paths(fs, 'second', 'second')).toEqual({ added: [], removed: [], changed: [] });
  });

  test('content that was changed back, and times, are not a change', () => {
    const fs = open(FILES);
    fs.checkpointSync('before');
    fs.writeFileSync('/a/one', 'other');
    fs.writeFileSync('/a/one', '1\n');
    fs.utimesSync('/top', 5, 5);
    fs.writeFileSync('/b/x', '');
    fs.rmSync('/b/x');
    expect(paths(fs, 'before')).toEqual({ added: [], removed: [], changed: [] });
    expect(formatDiffSync(fs, 'before')).toBe('');
  });

  test('a change of kind is a change; everything that was under the entry is removed, or added', () => {
    const fs = open({ '/x/y': '1' });
    fs.checkpointSync('before');
    fs.rmSync('/x', { recursive: true });
    fs.writeFileSync('/x', 'file');
    expect(paths(fs, 'before')).toEqual({ added: [], removed: ['/x/y'], changed: ['/x'] });
    fs.checkpointSync('file');
    fs.rmSync('/x');
    fs.symlinkSync('target', '/x');
    expect(diffSync(fs, 'file').changed).toMatchObject([
      { before: { kind: 'file' }, after: { kind: 'symlink', target: 'target' } },
    ]);
  });

  test('sees a file with several names under each of them', () => {
    const fs = open({ '/a/x': '1', '/b/keep': '' });
    fs.linkSync('/a/x', '/b/y');
    fs.checkpointSync('before');
    fs.writeFileSync('/b/y', '22');
    expect(paths(fs, 'before').changed).toEqual(['/a/x', '/b/y']);
    fs.rmSync('/a/x');
    expect(paths(fs, 'before')).toEqual({ added: [], removed: ['/a/x'], changed: ['/b/y'] });
  });

  test('equals a comparison of two complete dumps, after any operations', () => {
    const names = fc.constantFrom('a', 'b', 'a/x', 'a/y', 'b/x', 'b/x/z', 'c');
    const operation = fc.tuple(
      fc.constantFrom('write', 'mkdir', 'rm', 'rename', 'chmod', 'link', 'symlink', 'cp'),
      names,
      names,
      fc.nat(3),
    );
    const apply = (fs: SyncFileSystem, [kind, first, second, n]: [string, string, string, number]) => {
      try {
        if (kind === 'write') fs.writeFileSync(first, 'x'.repeat(n));
        else if (kind === 'mkdir') fs.mkdirSync(first);
        else if (kind === 'rm') fs.rmSync(first, { recursive: true });
        else if (kind === 'rename') fs.renameSync(first, second);
        else if (kind === 'chmod') fs.chmodSync(first, 0o700 + n);
        else if (kind === 'link') fs.linkSync(first, second);
        else if (kind === 'symlink') fs.symlinkSync(second, first);
        else fs.cpSync(first, second, { recursive: true });
      } catch {
        // Most sequences contain an operation that is not possible.
      }
    };
    const dump = (fs: SyncFileSystem) =>
      new Map(
        [...fs.walkSync('/')].map((entry) => {
          const content =
            entry.kind === 'file' ? new TextDecoder().decode(fs.getEntrySync(entry.path).content) : entry.target;
          return [entry.path, JSON.stringify([entry.kind, content, entry.mode])];
        }),
      );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 15 }), fc.array(operation, { maxLength: 10 }), (first, second) => {
        const fs = open();
        for (const one of first) apply(fs, one);
        const before = dump(fs);
        fs.checkpointSync('before');
        for (const one of second) apply(fs, one);
        const after = dump(fs);
        const result = paths(fs, 'before');
        expect([...result.added].sort()).toEqual([...after.keys()].filter((path) => !before.has(path)).sort());
        expect([...result.removed].sort()).toEqual([...before.keys()].filter((path) => !after.has(path)).sort());
        const changed = [...before].filter(([path, entry]) => after.has(path) && after.get(path) !== entry);
        expect([...result.changed].sort()).toEqual(changed.map(([path]) => path).sort());
      }),
      { numRuns: 500 },
    );
  });

  test('costs time for what changed, not for what exists', () => {
    const files = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`/d${i % 200}/e${i % 50}/f${i}`, 'x']));
    const fs = open(files);
    fs.checkpointSync('before');
    fs.writeFileSync('/d7/e7/f7', 'y');
    const whole = fs.checkpointSync('whole');
    for (const name of fs.readdirSync('/')) fs.rmSync(`/${name}`, { recursive: true });
    fs.checkpointSync('nothing');
    fs.rollbackSync(whole);
    const few = leastCpu(() => {
      for (let i = 0; i < 10; i++) expect(paths(fs, 'before').changed).toEqual(['/d7/e7/f7']);
    });
    const all = leastCpu(() => expect(diffSync(fs, 'nothing').added.length).toBeGreaterThan(20_000));
    // One diff of one change is about two hundred times as fast as one of 20,000; a factor of 5 leaves room for noise.
    expect(few / 10).toBeLessThan(all / 5);
  });

  test('refuses a checkpoint that does not exist', async () => {
    const fs = open();
    expect(() => diffSync(fs, 'nothing')).toThrow('ENOENT');
    await expect(diff(fs, open().checkpointSync())).rejects.toThrow('ENOENT');
    await expect(diff(fs, undefined, undefined, { a: 1 } as never)).rejects.toThrow(TypeError);
  });
});

describe('formatDiff', () => {
  test('is a patch that turns one state into the other', async () => {
    const fs = open({ ...FILES, '/x y/é': 'a\nb\nc\n', '/was/file': 'f', '/exe': '#!\n' });
    fs.symlinkSync('one', '/a/link');
    fs.checkpointSync('before');
    fs.writeFileSync('/a/one', '1\n2');
    fs.rmSync('/b', { recursive: true });
    fs.writeFileSync('/new', '');
    fs.writeFileSync('/x y/é', 'a\nB\nc\n');
    fs.rmSync('/was', { recursive: true });
    fs.writeFileSync('/was', 'now a file\n');
    fs.chmodSync('/exe', 0o755);
    fs.rmSync('/a/link');
    fs.symlinkSync('two', '/a/link');
    const patch = await formatDiff(fs, 'before');
    expect(patch).toBe(formatDiffSync(fs, 'before'));

    const folder = mkdtempSync(join(tmpdir(), 'diff-'));
    for (const entry of forkAt(fs, 'before').walkSync('/')) {
      const path = join(folder, entry.path);
      mkdirSync(dirname(path), { recursive: true });
      if (entry.kind === 'symlink') symlinkSync(entry.target as string, path);
      else if (entry.kind === 'file') writeFileSync(path, forkAt(fs, 'before').readFileSync(entry.path));
    }
    execFileSync('git', ['--git-dir=/nonexistent', 'apply', '-'], { cwd: folder, input: patch });
    const files = [...fs.walkSync('/')].filter((entry) => entry.kind === 'file');
    for (const { path } of files)
      expect([path, readFileSync(join(folder, path), 'utf8')]).toEqual([path, fs.readTextSync(path)]);
    expect(execFileSync('readlink', ['a/link'], { cwd: folder }).toString()).toBe('two\n');
    expect(() => readFileSync(join(folder, 'b/c/three'))).toThrow('ENOENT');
    rmSync(folder, { recursive: true });
  });

  test('prints paths as the `path` option says', async () => {
    const fs = open({ '/work/notes/a': 'one\n' });
    fs.checkpointSync('before');
    fs.writeFileSync('/work/notes/a', 'two\n');
    const text = await formatDiff(fs, 'before', undefined, { nameOf: (path) => path.slice('/work/'.length) });
    expect(text).toBe(formatDiffSync(fs, 'before').replaceAll('work/notes/a', 'notes/a'));
    expect(text).toContain('+++ b/notes/a\n');
  });

  test('is cut after a line if it gets too long, and says how much is missing', async () => {
    const fs = open({});
    fs.checkpointSync('before');
    for (const name of ['/a', '/b', '/c', '/d']) fs.writeFileSync(name, `${'x'.repeat(9)}\n`.repeat(100));
    fs.mkdirSync('/directory');
    const all = formatDiffSync(fs, 'before');
    for (const maxLength of [0, 1, 50, 1500, all.length - 1]) {
      const text = await formatDiff(fs, 'before', undefined, { maxLength });
      expect(text).toBe(formatDiffSync(fs, 'before', undefined, { maxLength }));
      const [end = ''] = /\[Cut after .*\]\n$/.exec(text) ?? [];
      expect(all.startsWith(text.slice(0, text.length - end.length))).toBe(true);
      expect(text.length - end.length).toBeLessThanOrEqual(maxLength);
      expect(/\n$|^$/.test(text.slice(0, text.length - end.length))).toBe(true);
    }
    expect(await formatDiff(fs, 'before', undefined, { maxLength: 1500 })).toMatch(
      /\n\[Cut after 1500 characters, and 2 more files have changed\]\n$/,
    );
    expect(await formatDiff(fs, 'before', undefined, { maxLength: all.length })).toBe(all);
    expect(() => formatDiffSync(fs, 'before', undefined, { maxLength: -1 })).toThrow(RangeError);
    expect(() => formatDiffSync(fs, 'before', undefined, { nameOf: 'x' as unknown as () => string })).toThrow(
      TypeError,
    );
  });

  test('prints colours, and refuses unknown options', () => {
    const fs = open({ '/f': 'a\n' });
    fs.checkpointSync('before');
    fs.writeFileSync('/f', 'b\n');
    expect(formatDiffSync(fs, 'before', undefined, { color: true })).toContain('\u001b[32m+b\u001b[m');
    expect(() => formatDiffSync(fs, 'before', undefined, { colour: true } as never)).toThrow(TypeError);
    expect(() => formatDiffSync(fs, 'before', undefined, { context: -1 })).toThrow(RangeError);
  });
});

function forkAt(fs: SyncFileSystem, checkpoint: string): SyncFileSystem {
  const here = fs.checkpointSync();
  fs.rollbackSync(checkpoint);
  const fork = fs.forkSync();
  fs.rollbackSync(here);
  return fork;
}
