import { chmodSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { pathDiffs } from '../diff/path-diffs.js';
import { Directories, fill } from '../testing/directories.js';
import { changesBetween, MemoryContents, statesOf } from '../testing/two-states.js';
import { patchOf } from './patch.js';
import { selectChanges } from './select.js';

const directories = new Directories();
afterAll(() => directories.remove());

const ODD = ['tab\there', 'quote"and\\slash', 'line\nend', 'with space', 'ümläut', '-dash', 'back`tick'];
const LONG = Array.from({ length: 40 }, (_, i) => `line ${i}\n`).join('');

describe('patchOf()', () => {
  it.each(['sha1', 'sha256'] as const)(
    'returns what `git apply` turns into the attempt, in a %s repository',
    async (format) => {
      const repository = directories.repository(
        {
          'text.txt': LONG,
          'crlf.txt': 'a\r\nb\r\n',
          'latin.txt': Buffer.from('caf\xe9\n', 'latin1'),
          'image.png': Buffer.from([0, 1, 2, 3, 250]),
          'old.txt': LONG,
          'same.txt': 'same\n',
          'empty.txt': '',
          'no-end.txt': 'no end',
          run: '#!/bin/sh\n',
          link: '-> text.txt',
          becomes: 'a link\n',
          gone: 'gone\n',
          'gone.png': Buffer.from([0, 9]),
          ...Object.fromEntries(ODD.map((name) => [name, `${name}\n`])),
        },
        `--object-format=${format}`,
      );
      const copy = directories.copy(repository);
      fill(copy, {
        'text.txt': LONG.replace('line 9', 'nine'),
        'crlf.txt': 'a\r\nB\r\n',
        'latin.txt': Buffer.from('th\xe9\n', 'latin1'),
        'image.png': Buffer.from(Array.from({ length: 3_000 }, (_, i) => (i * i) % 251)),
        'no-end.txt': 'no end at all',
        'added.txt': 'added',
        'added.png': Buffer.from([0, 7]),
        'new/deep/dir.txt': 'x\n',
        'also-empty': '',
        ...Object.fromEntries(ODD.map((name) => [name, `changed ${name}\n`])),
        ...Object.fromEntries(ODD.map((name) => [`new ${name}`, 'new'])),
      });
      for (const name of ['link', 'becomes', 'gone', 'gone.png', 'empty.txt']) rmSync(join(copy, name));
      fill(copy, { link: '-> run', becomes: '-> link' });
      chmodSync(join(copy, 'run'), 0o755);
      renameSync(join(copy, 'old.txt'), join(copy, 'new/renamed.txt'));
      fill(copy, { 'new/renamed.txt': LONG.replace('line 30', 'thirty') });
      renameSync(join(copy, 'same.txt'), join(copy, 'sämë 2.txt'));
      const contents = new MemoryContents();
      const moves = { '/new/renamed.txt': '/old.txt', '/sämë 2.txt': '/same.txt' };
      const changes = await changesBetween(repository, copy, contents, moves);
      const patch = await patchOf(await selectChanges(changes, {}, contents), contents, { format });
      expect(patch.toString()).toContain('rename from old.txt');
      directories.gitWith(repository, ['apply', '--check', '-'], patch);
      directories.gitWith(repository, ['apply', '--index', '-'], patch);
      expect(await statesOf(repository, contents)).toEqual(await statesOf(copy, contents));
      directories.gitWith(repository, ['apply', '--index', '-R', '-'], patch);
      expect(directories.git(repository, 'status', '--porcelain')).toBe('');
    },
  );

  it('of some hunks applies to a work tree with other changes', async () => {
    const repository = directories.repository({ 'a.txt': LONG });
    const copy = directories.copy(repository);
    fill(copy, {
      'a.txt': LONG.replace('line 2\n', 'two\n').replace('line 20\n', 'twenty\n').replace('line 38\n', ''),
    });
    const contents = new MemoryContents();
    const changes = await changesBetween(repository, copy, contents);
    const [diff] = await pathDiffs(changes, contents, { hunks: true });
    const hunks = [0, 2].map((i) => diff?.hunks[i]?.id as string);
    const patch = await patchOf(await selectChanges(changes, { hunks }, contents), contents);
    fill(repository, { 'a.txt': LONG.replace('line 10\n', 'ten\n'), 'other.txt': 'other' });
    directories.gitWith(repository, ['apply', '-'], patch);
    const expected = LONG.replace('line 10\n', 'ten\n').replace('line 2\n', 'two\n').replace('line 38\n', '');
    expect((await statesOf(repository, contents)).get('/a.txt')?.hash).toBe(
      await contents.write(Buffer.from(expected)),
    );
  });

  it('is empty for directories alone', async () => {
    const repository = directories.repository({ 'a.txt': 'a' });
    const copy = directories.copy(repository);
    fill(copy, { empty: '/' });
    const contents = new MemoryContents();
    const selected = await selectChanges(await changesBetween(repository, copy, contents), {}, contents);
    expect((await patchOf(selected, contents)).length).toBe(0);
  });
});
