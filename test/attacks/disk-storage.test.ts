import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileSystem } from '@scratchfs/core';
import { DiskStorage } from '@scratchfs/disk';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mountSmallDisk, unmountSmallDisk, whyNoDisk } from './small-disk.js';

const top = mkdtempSync(join(tmpdir(), 'scratchfs-disk-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const reason = whyNoDisk();

describe.skipIf(reason !== undefined)(
  `DiskStorage on a disk of 1 MB${reason === undefined ? '' : ` (${reason})`}`,
  () => {
    beforeEach(() => mountSmallDisk(top));
    afterEach(() => unmountSmallDisk(top));

    it('reports it, keeps what it has, and goes on with what fits', async () => {
      const storage = new DiskStorage(top, { durability: 'process' });
      const fs = await openFileSystem(storage);
      await fs.writeFile('/kept', 'k'.repeat(200_000));
      const tooMuch = new Uint8Array(900_000).fill(1);
      await expect(fs.writeFile('/large', tooMuch)).rejects.toMatchObject({ kind: 'full', message: /free some space/ });
      expect(await fs.readdir('/')).toEqual(['kept']);
      const other = await openFileSystem(new DiskStorage(top));
      expect(await other.readText('/kept')).toBe('k'.repeat(200_000));
      for (let i = 0; i < 20; i++) await fs.writeFile('/small', `${i}`);
      expect(await other.readText('/small')).toBe('19');
      await Promise.all([fs.close(), other.close()]);
    });

    it('is denied while the disk is mounted read-only, reads on, and goes on when it can be written', async () => {
      const remount = (mode: 'ro' | 'rw') => execFileSync('mount', ['-o', `remount,${mode}`, top]);
      const fs = await openFileSystem(new DiskStorage(top, { durability: 'process' }));
      await fs.writeFile('/f', 'before');
      remount('ro');
      const refused = { kind: 'denied', mayHaveHappened: false, message: /check the owner and the mode/ };
      await expect(fs.writeFile('/f', 'refused')).rejects.toMatchObject(refused);
      const other = await openFileSystem(new DiskStorage(top));
      expect(await Promise.all([fs.readText('/f'), other.readText('/f')])).toEqual(['before', 'before']);
      remount('rw');
      await fs.writeFile('/f', 'after');
      expect(await other.readText('/f')).toBe('after');
      await Promise.all([fs.close(), other.close()]);
    });

    it('keeps a readable state at whatever write the disk becomes full', async () => {
      const fs = await openFileSystem(new DiskStorage(top, { durability: 'process' }));
      let written = 0;
      let failure: unknown;
      while (failure === undefined && written < 2_000) {
        await fs.writeFile(`/f${written}`, 'x'.repeat(3_000)).then(
          () => written++,
          (reason: unknown) => {
            failure = reason;
          },
        );
      }
      expect(failure).toBeDefined();
      const other = await openFileSystem(new DiskStorage(top));
      const names = await other.readdir('/');
      expect(names.length).toBeGreaterThanOrEqual(written);
      expect(names.length).toBeLessThanOrEqual(written + 1);
      for (const name of names) expect(await other.readText(`/${name}`)).toBe('x'.repeat(3_000));
      await Promise.all([fs.close(), other.close()]);
    });
  },
);
