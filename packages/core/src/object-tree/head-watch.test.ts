import { expect, it, vi } from 'vitest';
import { HeadWatch } from './head-watch.js';
import type { Heads } from './heads.js';

it('starts a watcher of the store again after the store has failed to start one', () => {
  const heads = { known: undefined, refresh: () => new Promise(() => {}) } as unknown as Heads;
  const start = vi.fn(() => () => {});
  start.mockImplementationOnce(() => {
    throw new Error('no watches left');
  });
  const watch = new HeadWatch(
    heads,
    start,
    () => false,
    async () => {},
  );
  const listen = () =>
    watch.watch(
      () => {},
      () => {},
    );
  expect(listen).toThrow('no watches left');
  listen();
  expect(start).toHaveBeenCalledTimes(2);
});
