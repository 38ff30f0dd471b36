import { createSnapshot } from '@scratchfs/core/snapshot';
import { expect, it } from 'vitest';
import { createFileSystem } from './index.js';

it('no rename, copy or link creates a path deeper or longer than allowed', async () => {
  const fs = createFileSystem();
  const deep = '/d'.repeat(900);
  fs.mkdirSync(deep, { recursive: true });
  fs.mkdirSync(`/x${'/x'.repeat(200)}`, { recursive: true });
  const before = fs.statsSync();
  for (const work of [
    () => fs.renameSync('/x', `${deep}/x`),
    () => fs.cpSync('/x', `${deep}/x`, { recursive: true }),
  ]) {
    expect(work).toThrow(expect.objectContaining({ code: 'ENAMETOOLONG', limit: 'depth', requested: 1101 }));
  }
  expect(fs.statsSync()).toEqual(before);
  fs.symlinkSync(deep, '/link');
  fs.mkdirSync(`/link/${'y/'.repeat(100)}`, { recursive: true });
  expect(() => fs.mkdirSync(`/link/${'y/'.repeat(100)}z`)).toThrow(expect.objectContaining({ code: 'ENAMETOOLONG' }));
  expect(() => fs.writeFileSync(`/link/${'y/'.repeat(100)}z`, '')).toThrow(
    expect.objectContaining({ code: 'ENAMETOOLONG' }),
  );
  expect((await createSnapshot(fs)).byteLength).toBeGreaterThan(1000);
});

it('an emptied directory may move to a place for which it was too deep before', () => {
  const fs = createFileSystem();
  fs.mkdirSync('/d'.repeat(900), { recursive: true });
  fs.mkdirSync(`/x${'/x'.repeat(200)}`, { recursive: true });
  fs.rmSync('/x/x', { recursive: true });
  fs.renameSync('/x', `${'/d'.repeat(900)}/x`);
  expect(fs.readdirSync('/d'.repeat(900))).toEqual(['x']);
});

it('the length of names counts in bytes', () => {
  const fs = createFileSystem();
  const name = 'é'.repeat(127);
  fs.mkdirSync(`/${[name, name, name, name, name, name, name, name].join('/')}`, { recursive: true });
  const long = `/a${`/${name}`.repeat(10)}`;
  fs.mkdirSync(long, { recursive: true });
  expect(() => fs.renameSync(`/${name}`, `${long}/b`)).toThrow(
    expect.objectContaining({ code: 'ENAMETOOLONG', limit: 'path', allowed: 4096 }),
  );
});

it('an operation whose clock throws changes nothing', () => {
  let broken = false;
  const fs = createFileSystem({ clock: () => (broken ? Number.NaN : 1) });
  fs.writeFileSync('/a', 'x');
  broken = true;
  for (const work of [
    () => fs.rmSync('/a'),
    () => fs.renameSync('/a', '/b'),
    () => fs.linkSync('/a', '/b'),
    () => fs.writeFileSync('/c', ''),
  ]) {
    expect(work).toThrow(TypeError);
  }
  broken = false;
  expect(fs.readdirSync('/')).toEqual(['a']);
});

it('a name that is too long is refused with the limit and its length', () => {
  const fs = createFileSystem();
  const long = `/${'é'.repeat(130)}`;
  const message = /^ENAMETOOLONG: name too long, \w+ .*\. A name has at most 255 bytes, this one has 260$/;
  for (const work of [
    () => fs.writeFileSync(long, ''),
    () => fs.statSync(`${long}/x`),
    () => fs.mkdirSync(`/a${long}`, { recursive: true }),
  ])
    expect(work).toThrow(expect.objectContaining({ code: 'ENAMETOOLONG', message: expect.stringMatching(message) }));
});

it('a fork names the way to a checkpoint of its parent, which works', () => {
  const fs = createFileSystem({ files: { '/a': 'old' } });
  const checkpoint = fs.checkpointSync();
  fs.writeFileSync('/a', 'new');
  expect(() => fs.forkSync().rollbackSync(checkpoint)).toThrow('or belongs to another one, which can fork({ from })');
  expect(fs.forkSync({ from: checkpoint }).readTextSync('/a')).toBe('old');
});
