import type { FileSystem, FsError, WatchEvent, WatchOptions } from '@scratchfs/core';
import { equal, ok, rejects } from './assert.js';
import { type Add, type Context, plant } from './context.js';

/** Returns the next `count` events as short texts: `create /a`, `rename /b < /a`. */
async function take(events: AsyncIterator<WatchEvent>, count: number): Promise<string[]> {
  const taken: string[] = [];
  while (taken.length < count) {
    const { done, value } = await events.next();
    if (done === true) break;
    taken.push(`${value.type} ${value.path}${value.from === undefined ? '' : ` < ${value.from}`}`);
  }
  return taken;
}

/** Returns the filesystem that watches the changes of a case. Default: the same client. */
export type Beside = (context: Context) => FileSystem | Promise<FileSystem>;

export function watchCases(add: Add, beside: Beside = ({ fs }) => fs): void {
  /** Starts a watch. If another client watches, one read by it makes sure that the watch has begun. */
  const watching = async (context: Context, path: string, options?: WatchOptions) => {
    const watcher = await beside(context);
    const events = watcher.watch(path, options);
    if (watcher !== context.fs) await watcher.stat('/');
    return { watcher, events };
  };

  add('watch reports entries of a directory that are created, modified, renamed or removed', async (context) => {
    const { fs } = context;
    await plant(fs, { '/d/old': 'x', '/d/sub/deep': '', '/other': '' });
    const { events } = await watching(context, '/d');
    await fs.writeFile('/d/new', 'x');
    await fs.writeFile('/other', 'unseen');
    await fs.writeFile('/d/sub/deep', 'unseen: not recursive');
    await fs.appendFile('/d/new', 'y');
    await fs.rename('/d/old', '/d/older');
    await fs.unlink('/d/new');
    equal(await take(events, 4), ['create /d/new', 'modify /d/new', 'rename /d/older < /d/old', 'remove /d/new']);
    await events.return?.();
  });

  add('with recursive it reports everything under the directory', async (context) => {
    const { fs } = context;
    await plant(fs, { '/d/a/b/c': 'x', '/e': 'y' });
    const { events } = await watching(context, '/', { recursive: true });
    await fs.writeFile('/d/a/b/c', 'z');
    await fs.chmod('/e', 0o600);
    await fs.rm('/e');
    equal(await take(events, 3), ['modify /d/a/b/c', 'modify /e', 'remove /e']);
    await events.return?.();
  });

  add('a move into or out of the watched directory is a create or a remove', async (context) => {
    const { fs } = context;
    await plant(fs, { '/in/a': '1', '/out/b': '2' });
    const { events } = await watching(context, '/in');
    await fs.rename('/in/a', '/out/a');
    await fs.rename('/out/b', '/in/b');
    equal(await take(events, 2), ['remove /in/a', 'create /in/b']);
    await events.return?.();
  });

  add('a watch of a missing path fails with ENOENT', async (context) => {
    const { fs } = context;
    await plant(fs, { '/d/a': '1' });
    for (const path of ['/missing', '/d/missing', '/missing/deeper', '/d/a/b']) {
      const { events } = await watching(context, path);
      const error = (await rejects(() => events.next(), 'ENOENT')) as FsError;
      equal([error.syscall, error.path], ['watch', path]);
      equal((await events.next()).done, true, 'the iterator has ended');
    }
  });

  add('a refused operation is not an event', async (context) => {
    const { fs, fails } = context;
    await plant(fs, { '/d/a': '1' });
    const { events } = await watching(context, '/d');
    await fails(() => fs.mkdir('/d/a'), 'EEXIST');
    await fails(() => fs.writeFile('/d/x/y', ''), 'ENOENT');
    await fs.writeFile('/d/b', '');
    equal(await take(events, 1), ['create /d/b']);
    await events.return?.();
  });

  add(
    'an iterator that waits is woken, and ends when its signal aborts',
    async (context) => {
      const { fs } = context;
      const controller = new AbortController();
      const { events } = await watching(context, '/', { signal: controller.signal });
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

  add('a consumer that is too slow gets one overflow event for the dropped ones', async (context) => {
    const { fs } = context;
    const { watcher, events } = await watching(context, '/', { maxQueue: 3 });
    for (let i = 0; i < 10; i++) await fs.writeFile(`/f${i}`, '');
    // After its own change, a client has seen the events of all changes before it.
    await watcher.writeFile('/own', '');
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
