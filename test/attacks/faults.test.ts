import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFsError, isStorageError } from '@scratchfs/core';
import { HostHistory, hostFileSystem } from '@scratchfs/host';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { APPLICATIONS, CHANGES, type Changes, fill, leftovers, told } from './host-changes.js';
import { interceptSteps } from './host-steps.js';
import { mountSmallDisk, unmountSmallDisk, whyNoDisk } from './small-disk.js';

let top: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'scratchfs-faults-'));
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const ATTEMPTS = 60;

describe.each(Object.keys(CHANGES))('%s on a disk with faults', (name) => {
  const change = CHANGES[name] as (typeof CHANGES)[string];

  it.each(['EIO', 'ENOSPC'])(
    'happens completely or not at all if a step fails with %s, before or after it was done',
    async (code) => {
      let isReached = true;
      for (let at = 0; isReached && at < ATTEMPTS; at++) {
        for (const isDone of [false, true]) {
          const root = join(top, `${at}-${isDone}`);
          mkdirSync(root);
          fill(root);
          const before = told(root);
          isReached = await failAt(root, change, at, isDone, code);
          const now = told(root);
          const fs = hostFileSystem(root);
          if (now === before) await change(fs, root);
          // The next client of the directory cleans up.
          await fs.writeFile('/next', '');
          await fs.rm('/next');
          await fs.close();
          const after = told(root);
          const whole = join(top, `${at}-${isDone}-whole`);
          mkdirSync(whole);
          fill(whole);
          await using other = hostFileSystem(whole);
          await change(other, whole);
          expect(after, `step ${at}, ${isDone ? 'done' : 'not done'}`).toBe(told(whole));
          expect(leftovers(root)).toEqual([]);
        }
      }
      expect(isReached).toBe(false);
    },
  );
});

describe('applyChanges() on a disk with faults', () => {
  it('makes all changes or none if a step fails with EIO, before or after it was done', async () => {
    const change = APPLICATIONS['a directory that becomes a file, and a file that becomes one'] as Changes[string];
    const make = (name: string): string => {
      const root = join(top, name);
      mkdirSync(root);
      fill(root);
      return root;
    };
    const whole = make('whole');
    const before = told(whole);
    await change(hostFileSystem(whole), whole);
    const after = told(whole);
    let isReached = true;
    let at = 0;
    for (; isReached && at < 200; at++) {
      for (const isDone of [false, true]) {
        const root = make(`${at}-${isDone}`);
        isReached = await failAt(root, change, at, isDone, 'EIO');
        expect([before, after], `step ${at}, ${isDone ? 'done' : 'not done'}`).toContain(told(root));
        await using fs = hostFileSystem(root);
        await fs.writeFile('/next', '');
        expect(leftovers(root).length, `step ${at}`).toBeLessThanOrEqual(1);
      }
    }
    expect(isReached).toBe(false);
    expect(at).toBeGreaterThan(40);
  });
});

/** Makes a change of which one step fails. Returns false if it has no such step. */
async function failAt(
  root: string,
  change: (typeof CHANGES)[string],
  at: number,
  isDone: boolean,
  code: string,
): Promise<boolean> {
  const fs = hostFileSystem(root);
  let isReached = false;
  const takeBack = await interceptSteps(async ({ index, run }) => {
    if (index !== at) return run();
    isReached = true;
    if (isDone) await run();
    throw Object.assign(new Error(`${code}: it fails at ${root}`), { code });
  });
  try {
    await change(fs, root);
  } catch (error) {
    expect(isFsError(error) || isStorageError(error), String(error)).toBe(true);
    expect(`${(error as Error).message} ${JSON.stringify(error)} ${(error as Error).cause}`).not.toContain(top);
  } finally {
    takeBack();
    await fs.close();
  }
  return isReached;
}

const reason = whyNoDisk();

describe.skipIf(reason !== undefined)(`on a disk of 1 MB${reason === undefined ? '' : ` (${reason})`}`, () => {
  beforeEach(() => mountSmallDisk(top));
  afterEach(() => unmountSmallDisk(top));

  it('leaves every file as it was when the disk is full, and goes on', async () => {
    await using fs = hostFileSystem(top);
    await fs.writeFile('/old', 'o'.repeat(300_000));
    await fs.writeFile('/two', 't'.repeat(100_000));
    await fs.link('/two', '/second');
    const before = told(top);
    const large = 'x'.repeat(900_000);
    for (const work of [
      () => fs.writeFile('/new', large),
      () => fs.writeFile('/old', large),
      () => fs.appendFile('/old', large),
      () => fs.appendFile('/two', large),
      () => fs.writeFile('/second', large),
      () => fs.mkdir('/made').then(() => fs.cp('/', '/made/copy', { recursive: true })),
    ]) {
      await expect(work(), String(work)).rejects.toMatchObject({ code: expect.stringMatching(/ENOSPC|EINVAL/) });
    }
    await fs.rm('/made', { recursive: true });
    expect(told(top)).toBe(before);
    await fs.writeFile('/old', 'there is room for this');
    await fs.close();
    expect(leftovers(top)).toEqual([]);
  });

  it('leaves a work tree as it was when a version does not fit on the disk', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'scratchfs-large-'));
    try {
      for (let i = 0; i < 20; i++) writeFileSync(join(folder, `file-${i}`), `${i}`.repeat(50_000));
      await using versions = new HostHistory();
      const version = await versions.onboardRepo(folder);
      mkdirSync(join(top, 'old'));
      writeFileSync(join(top, 'old/file'), 'o'.repeat(300_000));
      const before = told(top);
      await expect(versions.checkoutSnapshot(version, top)).rejects.toMatchObject({ code: 'ENOSPC' });
      expect(told(top)).toBe(before);
      expect(readdirSync(top)).toEqual(['old']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
