import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const ID = 'ab'.repeat(12);

/** Actions of other processes after locks have been listed, and after the last one has been looked up. */
const others = vi.hoisted(() => ({
  act: undefined as (() => void) | undefined,
  actLater: undefined as (() => void) | undefined,
  hasNoLinks: false,
}));

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const readdirThenOthers = (directory: string): string[] => {
    const names = fs.readdirSync(directory);
    const { act } = others;
    others.act = undefined;
    act?.();
    return names;
  };
  const lstatThenOthers = (path: string): unknown => {
    const { actLater } = others;
    others.actLater = undefined;
    try {
      return fs.lstatSync(path);
    } finally {
      actLater?.();
    }
  };
  const linkIfPossible = (from: string, to: string): void => {
    if (others.hasNoLinks) throw Object.assign(new Error('no links'), { code: 'EPERM' });
    fs.linkSync(from, to);
  };
  return { ...fs, readdirSync: readdirThenOthers, lstatSync: lstatThenOthers, linkSync: linkIfPossible };
});

// Another test file of this process may have loaded the module with the real `node:fs`.
vi.resetModules();
const { acquireProcessLock, ownerNow } = await import('./process-lock.js');

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'claims-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const first = (): string => join(directory, `claim-${ID}.0`);

describe('acquireProcessLock()', () => {
  it('is made once until it is released', async () => {
    expect(await acquireProcessLock(directory, ID)).toBe(`claim-${ID}.0`);
    expect(await acquireProcessLock(directory, ID)).toBeUndefined();
    rmSync(first());
    expect(await acquireProcessLock(directory, ID)).toBe(`claim-${ID}.0`);
  });

  it('follows the lock of a dead process, and files that are not locks', async () => {
    writeFileSync(first(), JSON.stringify({ pid: 4_194_305, started: '7' }));
    expect(await acquireProcessLock(directory, ID)).toBe(`claim-${ID}.1`);
    writeFileSync(join(directory, `claim-${ID}.2`), 'x'.repeat(300));
    expect(await acquireProcessLock(directory, ID)).toBe(`claim-${ID}.3`);
  });

  it('is not made beside the lock of a call that takes a lock released concurrently', async () => {
    writeFileSync(first(), JSON.stringify(ownerNow()));
    let answered: Promise<string | undefined> | undefined;
    others.act = () => {
      rmSync(first());
      // The inner call finds no lock and makes the first; the outer call has listed the one that is gone.
      answered = acquireProcessLock(directory, ID);
    };
    const mine = await acquireProcessLock(directory, ID);
    const locks = [mine, await answered].filter((name) => name !== undefined);
    expect(locks).toEqual([`claim-${ID}.0`]);
    expect(readdirSync(directory).filter((name) => name.startsWith('claim-'))).toEqual([`claim-${ID}.0`]);
  });

  it('is not made after a released lock that another call has made again since it was found', async () => {
    writeFileSync(first(), JSON.stringify(ownerNow()));
    others.act = () => rmSync(first());
    others.actLater = () => writeFileSync(first(), JSON.stringify(ownerNow()));
    expect(await acquireProcessLock(directory, ID)).toBeUndefined();
    expect(readdirSync(directory)).toEqual([`claim-${ID}.0`]);
  });

  it('is made once on a disk without hard links, and counts while it is being written', async () => {
    others.hasNoLinks = true;
    try {
      expect(await acquireProcessLock(directory, ID)).toBe(`claim-${ID}.0`);
      expect(await acquireProcessLock(directory, ID)).toBeUndefined();
      expect(readdirSync(directory)).toEqual([`claim-${ID}.0`]);
      writeFileSync(first(), '');
      expect(await acquireProcessLock(directory, ID)).toBeUndefined();
      utimesSync(first(), 1, 1);
      expect(await acquireProcessLock(directory, ID)).toBe(`claim-${ID}.1`);
    } finally {
      others.hasNoLinks = false;
    }
  });

  it('is valid after its directory is renamed, and not in a copy', async () => {
    await acquireProcessLock(directory, ID);
    const [moved, copy] = [`${directory}-moved`, `${directory}-copy`];
    try {
      renameSync(directory, moved);
      cpSync(moved, copy, { recursive: true, preserveTimestamps: true });
      expect(await acquireProcessLock(moved, ID)).toBeUndefined();
      expect(await acquireProcessLock(copy, ID)).toBe(`claim-${ID}.1`);
    } finally {
      renameSync(moved, directory);
      rmSync(copy, { recursive: true });
    }
  });

  it('counts for some minutes if it was made on another host, whatever number its directory has there', async () => {
    writeFileSync(first(), JSON.stringify({ ...ownerNow(), place: '0'.repeat(16), directory: '1:1' }));
    expect(await acquireProcessLock(directory, ID)).toBeUndefined();
    utimesSync(first(), 1, 1);
    expect(await acquireProcessLock(directory, ID)).toBe(`claim-${ID}.1`);
  });
});
