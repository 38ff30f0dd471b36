import type { Redis } from 'ioredis';

const PAGE = 1_000;

/** Returns the keys of a namespace, which all contain its name as the hash tag. */
export async function keysOf(client: Redis, namespace: string): Promise<string[]> {
  const keys: string[] = [];
  for (let cursor = '0', isFirst = true; isFirst || cursor !== '0'; isFirst = false) {
    const [next, page] = await client.scan(cursor, 'MATCH', `*{${namespace}}*`, 'COUNT', PAGE);
    keys.push(...page);
    cursor = next;
  }
  return keys;
}

export async function dropNamespace(client: Redis, namespace: string): Promise<void> {
  const keys = await keysOf(client, namespace);
  for (let at = 0; at < keys.length; at += PAGE) await client.unlink(keys.slice(at, at + PAGE));
}

/** Keys of a namespace with their values as `DUMP` returns them. */
export type Copy = readonly (readonly [key: string, value: Buffer])[];

export async function copyNamespace(client: Redis, namespace: string): Promise<Copy> {
  const keys = await keysOf(client, namespace);
  const values = await Promise.all(keys.map((key) => client.dumpBuffer(key)));
  return keys.map((key, index) => [key, values[index] as Buffer]);
}
export async function putNamespace(client: Redis, copy: Copy, from: string, to: string): Promise<void> {
  await Promise.all(copy.map(([key, value]) => client.restore(key.replace(`{${from}}`, `{${to}}`), 0, value)));
}
