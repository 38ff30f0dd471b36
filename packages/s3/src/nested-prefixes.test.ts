import type { ObjectStore, StoredHead } from '@scratchfs/core/object-tree';
import { expect, it } from 'vitest';
import { openTree as open } from './testing/open-tree.js';

/** A bucket with stores under several prefixes. */
class Bucket {
  readonly #keys = new Map<string, { readonly tag: string; readonly bytes: Uint8Array }>();
  #tags = 0;

  keys(): string[] {
    return [...this.#keys.keys()];
  }

  at(prefix: string): ObjectStore {
    const head = `${prefix}head`;
    return {
      get: async (name, offset, length) => this.#keys.get(prefix + name)?.bytes.slice(offset, offset + length),
      put: async (name, bytes) => void this.#put(prefix + name, bytes),
      delete: async (names) => {
        for (const name of names) this.#keys.delete(prefix + name);
      },
      list: async (beneath) => {
        const names = this.keys().filter((key) => key.startsWith(prefix + beneath));
        return { names: names.map((key) => key.slice(prefix.length)), cursor: undefined };
      },
      readHead: async (): Promise<StoredHead | undefined> => this.#keys.get(head),
      swapHead: async (bytes, expected) =>
        this.#keys.get(head)?.tag === expected ? this.#put(head, bytes) : undefined,
    };
  }

  #put(key: string, bytes: Uint8Array): string {
    this.#tags += 1;
    this.#keys.set(key, { tag: `${this.#tags}`, bytes: bytes.slice() });
    return `${this.#tags}`;
  }
}

it.each(['objects', 'forks', 'trash', `forks/${'f'.repeat(20)}`, `trash/${'t'.repeat(20)}`, 'objects/1-1-1-a'])(
  'A collection does not touch another filesystem stored under its prefix %s',
  async (prefix) => {
    const bucket = new Bucket();
    const outer = await open(bucket.at(''));
    const inner = await open(bucket.at(`${prefix}/`));
    await inner.fs.writeFile('/inner', 'x'.repeat(1_000));
    const checkpoint = await inner.fs.checkpoint();
    for (const text of ['y', 'z']) await inner.fs.writeFile('/inner', text);
    await inner.backend.collectGarbage({ olderThanMs: 1_000 });
    const before = bucket.keys().filter((key) => key.startsWith(`${prefix}/`));
    for (const text of ['a', 'b']) await outer.fs.writeFile('/outer', text);
    const live = [];
    for (const options of [{ olderThanMs: 1_000 }, {}]) live.push((await outer.backend.collectGarbage(options)).live);
    expect(bucket.keys()).toEqual(expect.arrayContaining(before));
    expect(live).toEqual([1, 1]);
    const { fs } = await open(bucket.at(`${prefix}/`));
    expect(await fs.readText('/inner')).toBe('z');
    await fs.rollback(checkpoint);
    expect(await fs.readText('/inner')).toBe('x'.repeat(1_000));
  },
);
