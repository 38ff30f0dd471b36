import { describe, expect, it } from 'vitest';
import { isFsError } from '../errors.js';
import { asyncSample, sample } from '../testing/sample-file-system.js';
import { cp } from './operations/copy.js';
import { makeDirectory } from './operations/names.js';
import type { View } from './view.js';

const FILES = { '/from/a': '12', '/from/b': '34', '/to/c': '' };

describe.each([
  ['memory', async () => sample(FILES)],
  ['asynchronous memory', () => asyncSample(FILES)],
])('a function over a view in %s', (_, open) => {
  it('may catch the error of an operation that fails half-way, which then leaves nothing', async () => {
    const fs = await open();
    await fs.setLimits({ maxTotalSize: 7 });
    const copy = (view: View): unknown => {
      view.find('/more', false, 'write', 'mkdir');
      makeDirectory(view, view.at.parent, view.at.name, 0o755, '/more');
      try {
        return cp(view, '/from', '/to', { recursive: true });
      } catch (error) {
        if (!isFsError(error, 'ENOSPC')) throw error;
        return view.tree.totals();
      }
    };
    const seen: string[] = [];
    const watcher = fs.watch('/');
    expect(await fs.run(copy, [])).toEqual({ size: 4, files: 3, directories: 3, linked: 0 });
    await fs.writeFile('/end', '');
    for await (const { path } of watcher) {
      seen.push(path);
      if (path === '/end') break;
    }
    expect(seen).toEqual(['/more', '/end']);
    expect([await fs.readdir('/'), await fs.readdir('/to')]).toEqual([['end', 'from', 'more', 'to'], ['c']]);
  });
});
