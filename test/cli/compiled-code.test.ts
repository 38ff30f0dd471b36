import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { PROGRAM } from './bundle.js';
import { folder, ok } from './program.js';
import { repository } from './repository.js';

const name = `status-${process.version}-${process.arch}`;
let cwd = '';
let cache = '';
let file = '';

beforeAll(async () => {
  cwd = repository();
  await ok(['fs', 'write', 'new.txt', 'new\n'], { cwd });
  cache = folder('cache');
  file = join(cache, 'scratchfs', 'compiled', name);
});

const status = (): Promise<string> => ok(['status'], { cwd, env: { XDG_CACHE_HOME: cache } });

/** Returns the inode of the kept code, which changes when the code is replaced. */
const kept = (): number => statSync(file).ino;

describe('compiled code', () => {
  it('is kept for the next start, where only the user can write it', async () => {
    const first = await status();
    const before = kept();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
    expect(await status()).toBe(first);
    expect(kept()).toBe(before);
    await expect(ok(['nonsense'], { cwd, env: { XDG_CACHE_HOME: cache } })).rejects.toThrow('nonsense');
    expect(readdirSync(dirname(file))).toEqual([name]);
  });

  it('that is damaged, cut short, a link or another version is replaced', async () => {
    await status();
    const good = readFileSync(file);
    const damaged = Buffer.from(good);
    damaged.writeUInt8(damaged.readUInt8(good.length >> 1) ^ 1, good.length >> 1);
    const elsewhere = join(cache, 'elsewhere');
    writeFileSync(elsewhere, good);
    for (const damage of [
      () => writeFileSync(file, damaged),
      () => writeFileSync(file, good.subarray(0, good.length >> 1)),
      () => writeFileSync(file, ''),
      () => symlinkSync(elsewhere, file),
      () => mkdirSync(file),
    ]) {
      rmSync(file);
      damage();
      const before = kept();
      expect(await status()).toContain('new.txt');
      if (statSync(file).isDirectory()) rmSync(file, { recursive: true });
      else expect(kept()).not.toBe(before);
      if (!existsSync(file)) await status();
    }
    expect(readFileSync(file).length).toBeGreaterThan(good.length / 2);
    expect(readdirSync(dirname(file))).toEqual([name]);
  });

  it('that another user owns or can write is not used, and none is kept in such a directory', async () => {
    await status();
    for (const mode of [0o620, 0o602]) {
      chmodSync(file, mode);
      const before = kept();
      await status();
      expect({ isReplaced: kept() !== before, mode: statSync(file).mode & 0o777 }).toEqual({
        isReplaced: true,
        mode: 0o600,
      });
    }
    if (process.getuid?.() === 0) {
      chownSync(file, 65_534, 65_534);
      const before = kept();
      await status();
      expect({ isReplaced: kept() !== before, owner: statSync(file).uid }).toEqual({ isReplaced: true, owner: 0 });
    }
    rmSync(file);
    chmodSync(dirname(file), 0o777);
    expect(await status()).toContain('new.txt');
    expect(existsSync(file)).toBe(false);
  });

  it('is not needed: a directory that cannot be written changes nothing, nor does NODE_DISABLE_COMPILE_CACHE', async () => {
    const env = { XDG_CACHE_HOME: folder('disabled'), NODE_DISABLE_COMPILE_CACHE: '1' };
    expect(await ok(['status'], { cwd, env })).toContain('new.txt');
    expect(readdirSync(env.XDG_CACHE_HOME)).toEqual([]);
    for (const place of ['/dev/null', join(PROGRAM, 'below')])
      expect(await ok(['status'], { cwd, env: { XDG_CACHE_HOME: place } })).toContain('new.txt');
  });
});
