import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../async-storage.js';
import type { Announcement, Backend } from '../backend.js';
import { openFileSystem } from '../create-file-system.js';
import { StorageError } from '../errors.js';
import { changedBackend, sampleBackend } from '../testing/sample-backend.js';
import { ChangeFeed } from './change-feed.js';

type Tell = (changes: readonly Announcement[]) => void;

describe('a change feed with a source', () => {
  it('drops the listener if the source cannot be started, and starts the source for the next one', () => {
    let tell: Tell | undefined;
    let starts = 0;
    const feed = new ChangeFeed(undefined, (heard) => {
      if (++starts === 1) throw new Error('no connection');
      tell = heard;
      return () => {};
    });
    const heard: string[] = [];
    expect(() => feed.listen(() => heard.push('first'))).toThrow('no connection');
    expect(feed.isNeeded).toBe(false);
    feed.listen(() => heard.push('second'));
    tell?.([{ type: 'modify', path: '/a' }]);
    expect([heard, starts]).toEqual([['second'], 2]);
  });

  it('starts the source again even if it could not be stopped', () => {
    let starts = 0;
    const source = () => {
      starts += 1;
      return () => {
        throw new Error('stuck');
      };
    };
    const feed = new ChangeFeed(undefined, source);
    expect(feed.listen(() => {})).toThrow('stuck');
    feed.listen(() => {});
    expect(starts).toBe(2);
  });
});

describe('a change feed whose source fails before it returns', () => {
  it('tells the listener, and starts the source again for the next one', () => {
    let starts = 0;
    const feed = new ChangeFeed(undefined, (_tell, fail) => {
      if (++starts === 1) fail(new Error('no connection'));
      return () => {};
    });
    const failures: unknown[] = [];
    feed.listen(
      () => {},
      (error) => failures.push(error),
    );
    feed.listen(() => {});
    expect([failures, starts, feed.isNeeded]).toEqual([[new Error('no connection')], 2, true]);
  });
});

describe('watch over a backend', () => {
  it('that cannot be started leaves no abort listener behind', async () => {
    const watch = (): never => {
      throw new Error('no connection');
    };
    const sharedWatch = { checkpoints: true, forks: true, sharedWatch: true };
    const backend = changedBackend(sampleBackend(), { capabilities: sharedWatch, watch });
    const fs = await openFileSystem(asyncStorage(backend));
    const stop = new AbortController();
    const listening: string[] = [];
    const add = stop.signal.addEventListener.bind(stop.signal);
    stop.signal.addEventListener = (type: string, ...rest: unknown[]) => {
      listening.push(type);
      add(type, ...(rest as [() => void]));
    };
    expect(() => fs.watch('/', { signal: stop.signal })).toThrow('no connection');
    expect(listening).toEqual([]);
    await fs.close();
  });

  it('ends with the error of a backend that can report no more, after the events before it', async () => {
    const sources: Parameters<NonNullable<Backend['watch']>>[] = [];
    const sharedWatch = { checkpoints: true, forks: true, sharedWatch: true };
    const watch: NonNullable<Backend['watch']> = (...source) => {
      sources.push(source);
      return () => {};
    };
    const fs = await openFileSystem(
      asyncStorage(changedBackend(sampleBackend(), { capabilities: sharedWatch, watch })),
    );
    const [waiting, slow] = [fs.watch('/'), fs.watch('/')];
    await fs.stat('/');
    const next = waiting.next();
    sources[0]?.[0]([{ type: 'create', path: '/f' }]);
    sources[0]?.[1](new StorageError('corrupt', 'damaged'));
    expect((await next).value).toEqual({ type: 'create', path: '/f' });
    await expect(waiting.next()).rejects.toThrow('damaged');
    expect(await slow.next()).toMatchObject({ value: { path: '/f' } });
    await expect(slow.next()).rejects.toThrow('damaged');
    expect(await slow.next()).toEqual({ done: true, value: undefined });
    const later = fs.watch('/').next();
    await fs.stat('/');
    sources[1]?.[0]([{ type: 'create', path: '/g' }]);
    expect(await later).toMatchObject({ value: { path: '/g' } });
  });

  it('subscribes to the backend only if its capabilities say that it reports changes', async () => {
    let starts = 0;
    const watch = () => {
      starts += 1;
      return () => {};
    };
    const fs = await openFileSystem(asyncStorage(changedBackend(sampleBackend(), { watch })));
    const watcher = fs.watch('/');
    const first = watcher.next();
    await fs.writeFile('/own', 'x');
    expect([(await first).value, starts]).toEqual([{ type: 'create', path: '/own', hasContent: true }, 0]);
    await watcher.return?.();
  });
});
