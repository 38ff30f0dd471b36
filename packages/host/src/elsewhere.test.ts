import fs, {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hostGuarantees as guaranteesHere, hostFileSystem as hostHere } from './host-file-system.js';

const top = mkdtempSync(join(tmpdir(), 'scratchfs-elsewhere-'));
const root = join(top, 'root');
const real = Object.getOwnPropertyDescriptor(process, 'platform') as PropertyDescriptor;
afterAll(() => rmSync(top, { recursive: true, force: true }));

beforeAll(() => {
  mkdirSync(join(root, 'd/e'), { recursive: true });
  writeFileSync(join(root, 'd/f'), 'inside');
  writeFileSync(join(top, 'secret'), 'secret');
  symlinkSync('../secret', join(root, 'out'));
  symlinkSync('d/f', join(root, 'in'));
});

describe('without names under open descriptors', () => {
  let elsewhere: typeof import('./host-file-system.js');
  let held: typeof import('./directory-handle.js');

  beforeAll(async () => {
    vi.resetModules();
    Object.defineProperty(process, 'platform', { ...real, value: 'darwin' });
    try {
      elsewhere = await import('./host-file-system.js');
      held = await import('./directory-handle.js');
    } finally {
      Object.defineProperty(process, 'platform', real);
      vi.resetModules();
    }
  });

  it('the guarantees say what is weaker, and strict refuses', () => {
    const { confinement, raceFree, weaker } = elsewhere.hostGuarantees();
    expect([confinement, raceFree, weaker.length > 0]).toEqual(['paths', false, true]);
    expect(weaker.join(' ')).toMatch(/swaps a directory for a link.* ignores case/);
    expect(() => elsewhere.hostFileSystem(root, { strict: true })).toThrow('cannot confine a directory against races');
  });

  it('files are read, written, moved, copied and removed, and links out are not followed', async () => {
    await using fs = elsewhere.hostFileSystem(root);
    expect(await fs.readText('/in')).toBe('inside');
    await expect(fs.readText('/out')).rejects.toMatchObject({ code: 'EACCES' });
    await expect(fs.readText('/d/f/x')).rejects.toMatchObject({ code: 'ENOTDIR' });
    await fs.writeFile('/d/new', 'new');
    await fs.appendFile('/d/new', '!');
    await fs.cp('/d', '/copy', { recursive: true });
    await fs.rename('/copy/new', '/copy/moved');
    await fs.rm('/d/e', { recursive: true });
    expect(await fs.readdir('/copy')).toEqual(['e', 'f', 'moved']);
    expect(readFileSync(join(root, 'copy/moved'), 'utf8')).toBe('new!');
    expect(readFileSync(join(top, 'secret'), 'utf8')).toBe('secret');
  });

  it('a directory that another process removes concurrently fails with an error of the filesystem', async () => {
    const { opendirSync, readdirSync } = fs;
    let calls = 0;
    for (let at = 0; at <= calls; at++) {
      const gone = join(root, 'gone');
      mkdirSync(gone);
      calls = 0;
      const away =
        (list: (...args: never[]) => unknown) =>
        (...args: unknown[]): unknown => {
          if (calls++ === at) rmdirSync(gone);
          return Reflect.apply(list, fs, args);
        };
      // Which one lists a directory depends on the size that the disk reports.
      Object.assign(fs, { opendirSync: away(opendirSync), readdirSync: away(readdirSync) });
      syncBuiltinESMExports();
      try {
        await using there = elsewhere.hostFileSystem(root);
        const outcome = await there.rmdir('/gone').catch((error: unknown) => error);
        if (outcome !== undefined) expect(outcome).toMatchObject({ name: 'FsError', code: 'ENOENT', path: '/gone' });
        expect(existsSync(gone)).toBe(false);
      } finally {
        Object.assign(fs, { opendirSync, readdirSync });
        syncBuiltinESMExports();
      }
    }
    expect(calls).toBeGreaterThan(1);
  });

  it('a directory is held by its path', () => {
    using directory = held.DirectoryHandle.at(root);
    expect([directory.path, directory.descriptor]).toEqual([root, undefined]);
    expect(directory.read('in')).toBeUndefined();
  });

  it('a directory that its owner may not enter is opened to the owner, and a link stays one', () => {
    mkdirSync(join(root, 'closed/inner'), { recursive: true });
    chmodSync(join(root, 'closed'), 0o2055);
    using directory = held.DirectoryHandle.at(root);
    directory.enterAsOwner('closed')[Symbol.dispose]();
    expect(lstatSync(join(root, 'closed')).mode & 0o7777).toBe(0o2755);
    expect(() => directory.enterAsOwner('in')).toThrow(/ENOTDIR|ELOOP/);
    directory.remove('closed');
    expect(directory.stat('closed')).toBeUndefined();
  });
});

describe.runIf(process.platform === 'linux')('on Linux', () => {
  it('no guarantee is weaker, and strict opens', async () => {
    expect(guaranteesHere()).toEqual({ confinement: 'descriptors', raceFree: true, weaker: [] });
    expect(Object.isFrozen(guaranteesHere())).toBe(true);
    await using fs = hostHere(root, { strict: true });
    expect(await fs.readText('/in')).toBe('inside');
  });
});
