import { expect, it, vi } from 'vitest';
import { FORMAT_VERSION } from './format.js';
import type { Connection } from './postgres-client.js';
import { PostgresObjectStore } from './postgres-object-store.js';

it('a watch that ends while LISTEN is pending stops listening and reports nothing', async () => {
  let listens = (_: () => void): void => {};
  const promise = new Promise<() => void>((resolve) => {
    listens = resolve;
  });
  const stop = vi.fn();
  const listen = vi.fn((..._: Parameters<NonNullable<Connection['listen']>>) => promise);
  const connection: Connection = {
    query: async () => [{ format: 'scratchfs_format', version: FORMAT_VERSION }],
    listen,
    close: async () => undefined,
  };
  const store = new PostgresObjectStore(async () => connection, 'main');
  const [changed, fail] = [vi.fn(), vi.fn()];
  const end = store.watch(changed, fail);
  await vi.waitFor(() => expect(listen).toHaveBeenCalled());
  end();
  // The server may notify before its reply to LISTEN arrives.
  listen.mock.calls[0]?.[1](undefined);
  listens(stop);
  await vi.waitFor(() => expect(stop).toHaveBeenCalledTimes(1));
  expect([changed.mock.calls, fail.mock.calls]).toEqual([[], []]);
  await store.close();
});
