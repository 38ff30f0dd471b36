import type { WatchEvent } from '@scratchfs/core';
import { equal, ok } from './assert.js';
import { type Add, plant } from './context.js';

/** The next `count` events as short text: `create /a`, `rename /b < /a`. */
async function take(events: AsyncIterator<WatchEvent>, count: number): Promise<string[]> {
  const taken: string[] = [];
  while (taken.length < count) {
    const { done, value } = await events.next();
    if (done === true) break;
    taken.push(`${value.type} ${value.path}${value.from === undefined ? '' : ` < ${value.from}`}`);
  }
  return taken;
}

export function watchCases(add: Add): void {
  add('watch tells of what is created, modified, renamed and removed in a directory', async ({ fs }) => {
    await plant(fs, { '/d/old': 'x', '/d/sub/deep': '', '/other': '' });
    const events = fs.watch('/d');
    await fs.writeFile('/d/new', 'x');
    await fs.writeFile('/other', 'unseen');
    await fs.writeFile('/d/sub/deep', 'unseen: not recursive');
    await fs.appendFile('/d/new', 'y');
    await fs.rename('/d/old', '/d/older');
    await fs.unlink('/d/new');
    equal(await take(events, 4), ['create /d/new', 'modify /d/new', 'rename /d/older < /d/old', 'remove /d/new']);
    await events.return?.();
  });

  add('with recursive it tells of everything beneath', async ({ fs }) => {
    await plant(fs, { '/d/a/b/c': 'x', '/e': 'y' });
    const events = fs.watch('/', { recursive: true });
    await fs.writeFile('/d/a/b/c', 'z');
    await fs.chmod('/e', 0o600);
    await fs.rm('/e');
    equal(await take(events, 3), ['modify /d/a/b/c', 'modify /e', 'remove /e']);
    await events.return?.();
  });

  add('a move across the border of what is watched is a create or a remove', async ({ fs }) => {
    await plant(fs, { '/in/a': '1', '/out/b': '2' });
    const events = fs.watch('/in');
    await fs.rename('/in/a', '/out/a');
    await fs.rename('/out/b', '/in/b');
    equal(await take(events, 2), ['remove /in/a', 'create /in/b']);
    await events.return?.();
  });

  add('a refused operation is no event', async ({ fs, fails }) => {
    await plant(fs, { '/d/a': '1' });
    const events = fs.watch('/d');
    await fails(() => fs.mkdir('/d/a'), 'EEXIST');
    await fails(() => fs.writeFile('/d/x/y', ''), 'ENOENT');
    await fs.writeFile('/d/b', '');
    equal(await take(events, 1), ['create /d/b']);
    await events.return?.();
  });

  add(
    'an iterator that waits is woken, and ends when its signal aborts',
    async ({ fs }) => {
      const controller = new AbortController();
      const events = fs.watch('/', { signal: controller.signal });
      const waiting = take(events, 2);
      await fs.writeFile('/a', '');
      await fs.unlink('/a');
      equal(await waiting, ['create /a', 'remove /a']);
      const last = events.next();
      controller.abort();
      equal((await last).done, true);
      equal((await events.next()).done, true);
    },
    { promiseOnly: true },
  );

  add('a consumer that is too slow gets one overflow for what was dropped', async ({ fs }) => {
    const events = fs.watch('/', { maxQueue: 3 });
    for (let i = 0; i < 10; i++) await fs.writeFile(`/f${i}`, '');
    const controller = new AbortController();
    const taken = await take(events, 3);
    equal(taken.slice(0, 2), ['create /f0', 'create /f1']);
    ok((taken[2] as string).startsWith('overflow '), `the third is ${taken[2]}`);
    await fs.writeFile('/after', '');
    equal(await take(events, 1), ['create /after']);
    controller.abort();
    await events.return?.();
  });

  add('close ends every watcher', async ({ create }) => {
    const other = await create();
    const waiting = other.watch('/').next();
    await other.close();
    equal((await waiting).done, true);
  });
}
