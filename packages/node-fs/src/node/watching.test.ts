import { once } from 'node:events';
import type { BigIntStats, Stats } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { outcomeOf } from '../testing/same.js';
import { type HostFs, onBothLater } from '../testing/twin.js';
import { createNodeFs } from './create-node-fs.js';

/** Waits for the first event, and then until no more have arrived for a while, because the kernel may report late. */
async function untilSilent(events: readonly unknown[]): Promise<void> {
  for (let silent = 0, waited = 0; silent < 3 && waited < 1500; waited++) {
    const before = events.length;
    await pause(20);
    silent = before > 0 && events.length === before ? silent + 1 : 0;
  }
}

async function until(isSo: () => boolean): Promise<void> {
  for (let waited = 0; !isSo() && waited < 3000; waited++) await pause(10);
}

/** Returns a watcher's events until it has been silent for a while. */
async function heard(fs: HostFs, path: string, options: object, work: () => void): Promise<string[]> {
  const events: string[] = [];
  const watcher = fs.watch(path, options as never, (type: string, name: unknown) =>
    events.push(`${type} ${String(name)}`),
  );
  work();
  await untilSilent(events);
  watcher.close();
  await once(watcher, 'close');
  return events;
}

/** Removes repeated events: how often the kernel reports one depends on how the file was written. */
const folded = (events: readonly string[]) => events.filter((event, i) => event !== events[i - 1]);

describe('watch', () => {
  it("reports a directory's new, removed and changed names, as inotify does", async () => {
    const { host, own } = await onBothLater(async (fs, at) => {
      fs.mkdirSync(at('/d/e'), { recursive: true });
      fs.writeFileSync(at('/d/old'), 'x');
      const events = await heard(fs, at('/d'), {}, () => {
        fs.writeFileSync(at('/d/new'), 'x');
        fs.appendFileSync(at('/d/old'), 'y');
        fs.renameSync(at('/d/new'), at('/d/newer'));
        fs.writeFileSync(at('/d/e/beneath'), 'x');
        fs.unlinkSync(at('/d/newer'));
      });
      return folded(events);
    });
    expect(own).toEqual(host);
    expect(own).toEqual({
      value: ['rename new', 'change new', 'change old', 'rename new', 'rename newer'],
    });
  });

  it('reports changes of a file by its own name', async () => {
    const { host, own } = await onBothLater(async (fs, at) => {
      fs.writeFileSync(at('/f'), 'x');
      return folded(await heard(fs, at('/f'), {}, () => fs.writeFileSync(at('/f'), 'y')));
    });
    expect(own).toEqual(host);
    expect(own).toEqual({ value: ['change f'] });
  });

  it.each([
    ['a file with something in it', ['rename x', 'change x'], (fs: HostFs, x: string) => fs.writeFileSync(x, 'x')],
    ['a file with nothing in it', ['rename x'], (fs: HostFs, x: string) => fs.writeFileSync(x, '')],
    ['a copy of a file', ['rename x', 'change x'], (fs: HostFs, x: string) => fs.copyFileSync(join(x, '../../f'), x)],
    ['another name of a file', ['rename x'], (fs: HostFs, x: string) => fs.linkSync(join(x, '../../f'), x)],
    ['a file that comes from elsewhere', ['rename x'], (fs: HostFs, x: string) => fs.renameSync(join(x, '../../f'), x)],
    ['a link', ['rename x'], (fs: HostFs, x: string) => fs.symlinkSync('somewhere', x)],
    ['a directory', ['rename x'], (fs: HostFs, x: string) => fs.mkdirSync(x)],
  ] as const)('says what inotify says of %s', async (_, expected, make) => {
    const { host, own } = await onBothLater(async (fs, at) => {
      fs.mkdirSync(at('/d'));
      fs.writeFileSync(at('/f'), 'f');
      return folded(await heard(fs, at('/d'), {}, () => make(fs, at('/d/x'))));
    });
    expect(own).toEqual(host);
    expect(own).toEqual({ value: expected });
  });

  it('reports changes recursively, and encodes names', async () => {
    const fs = createNodeFs();
    fs.mkdirSync('/d/e', { recursive: true });
    expect(await heard(fs, '/d', { recursive: true }, () => fs.writeFileSync('/d/e/f', ''))).toEqual(['rename e/f']);
    expect(await heard(fs, '/d', 'hex' as never, () => fs.writeFileSync('/d/g', ''))).toEqual(['rename 67']);
  });

  it('follows the given link', async () => {
    const fs = createNodeFs();
    fs.mkdirSync('/d');
    fs.symlinkSync('d', '/l');
    expect(await heard(fs, '/l', {}, () => fs.writeFileSync('/d/f', ''))).toEqual(['rename f']);
  });

  it('refuses a missing path as Node does', async () => {
    const { host, own } = await onBothLater(async (fs, at) => outcomeOf(() => fs.watch(at('/missing'))));
    expect(own).toEqual(host);
    expect(own).toMatchObject({ value: { code: 'ENOENT', syscall: 'watch', filename: '/missing' } });
  });

  it('ends with its signal', async () => {
    const fs = createNodeFs();
    const controller = new AbortController();
    const watcher = fs.watch('/', { signal: controller.signal });
    controller.abort();
    await once(watcher, 'close');
    await once(fs.watch('/', { signal: AbortSignal.abort() }), 'close');
  });

  it("throws a listener's exception as uncaught, and emits nothing after closing", async () => {
    const fs = createNodeFs();
    const events: string[] = [];
    const watcher = fs.watch('/', (type) => events.push(type));
    fs.writeFileSync('/f', '');
    watcher.close();
    watcher.close();
    await once(watcher, 'close');
    await pause(10);
    expect(events).toEqual([]);
    expect(watcher.ref()).toBe(watcher);
    expect(watcher.unref()).toBe(watcher);
  });
});

describe('promises.watch', () => {
  it('iterates until its signal aborts', async () => {
    const fs = createNodeFs();
    const controller = new AbortController();
    const events: unknown[] = [];
    const watching = (async () => {
      for await (const event of fs.promises.watch('/', { signal: controller.signal })) {
        events.push(event);
        if (events.length === 2) controller.abort('enough');
      }
    })();
    await pause(5);
    fs.writeFileSync('/f', '');
    fs.writeFileSync('/f', 'x');
    await expect(watching).rejects.toMatchObject({ name: 'AbortError', code: 'ABORT_ERR', cause: 'enough' });
    expect(events).toEqual([
      { eventType: 'rename', filename: 'f' },
      { eventType: 'change', filename: 'f' },
    ]);
  });

  it('refuses paths and options that it cannot watch', async () => {
    const { host, own } = await onBothLater(async (fs, at) => {
      const first = (path: unknown, options?: object) =>
        outcomeOf(() =>
          fs.promises
            .watch(path as string, options)
            [Symbol.asyncIterator]()
            .next(),
        );
      return [
        await first(at('/missing')),
        await first(5),
        await first(at('/'), { persistent: 1 }),
        await first(at('/'), { recursive: 1 }),
        await first(at('/'), { signal: 1 }),
      ];
    });
    expect(own).toEqual(host);
  });
});

describe('watchFile', () => {
  const sizes = (now: Stats | BigIntStats, before: Stats | BigIntStats) => [now.size, before.size, now.nlink];

  it('checks periodically, and reports differences', async () => {
    const fs = createNodeFs();
    fs.writeFileSync('/f', 'one');
    const heardOf: unknown[] = [];
    const watcher = fs.watchFile('/f', { interval: 5 }, (now, before) => heardOf.push(sizes(now, before)));
    await pause(20);
    expect(heardOf).toEqual([]);
    fs.writeFileSync('/f', 'three');
    await until(() => heardOf.length === 1);
    fs.unlinkSync('/f');
    await until(() => heardOf.length === 2);
    fs.unwatchFile('/f');
    fs.writeFileSync('/f', 'x');
    await pause(20);
    expect(heardOf).toEqual([
      [5, 3, 1],
      [0, 5, 0],
    ]);
    expect(watcher.unref()).toBe(watcher);
  });

  it('reports a missing path immediately, and its creation', async () => {
    const { host, own } = await onBothLater(async (fs, at) => {
      const heardOf: unknown[] = [];
      fs.watchFile(at('/f'), { interval: 5, bigint: true }, (now, before) => {
        heardOf.push([now.size, before.size, now.mtimeMs === 0n, typeof now.mode]);
      });
      await until(() => heardOf.length === 1);
      // The file appears complete: another thread checks the disk and would sometimes find it empty.
      fs.writeFileSync(at('/g'), 'abc');
      fs.renameSync(at('/g'), at('/f'));
      await until(() => heardOf.length === 2);
      fs.unwatchFile(at('/f'));
      return heardOf;
    });
    expect(own).toEqual(host);
  });

  it('has one watcher for all listeners of a path', async () => {
    const fs = createNodeFs();
    const [first, second] = [() => {}, () => {}];
    const watcher = fs.watchFile('/f', { interval: 5, persistent: false }, first);
    expect(fs.watchFile('/x/../f', second)).toBe(watcher);
    const stopped = once(watcher, 'stop');
    fs.unwatchFile('/f', first);
    expect(watcher.listenerCount('change')).toBe(1);
    fs.unwatchFile('/f');
    await stopped;
    fs.unwatchFile('/f');
  });

  it('refuses bad arguments as Node does', async () => {
    const { host, own } = await onBothLater(async (fs, at) => [
      await outcomeOf(() => fs.watchFile(at('/f'), {} as never)),
      await outcomeOf(() => fs.watchFile(5 as never, () => {})),
      await outcomeOf(() => fs.watchFile(at('/g'), { interval: 'x' } as never, () => {})),
      await outcomeOf(() => fs.unwatchFile(5 as never)),
    ]);
    expect(own).toEqual(host);
  });
});
