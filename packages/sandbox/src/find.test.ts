import { FsError, type SyncFileSystem } from '@scratchfs/core';
import { expect, it } from 'vitest';
import { find } from './find.js';
import { runSync } from './steps.js';

it('a path whose links change while they are followed ends after 40 of them', () => {
  let looked = 0;
  const changing = {
    realpathSync: (path: string) => {
      throw new FsError('ENOENT', { path });
    },
    lstatSync: () => ({ kind: 'symlink' }),
    readlinkSync: () => `../link${++looked}/..//./x`,
  };
  expect(() => runSync(changing as unknown as SyncFileSystem, find('/a/b'))).toThrow(
    expect.objectContaining({ code: 'ELOOP' }),
  );
  expect(looked).toBe(40);
});
