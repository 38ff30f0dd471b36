import type { Keys } from '../connection/keys.js';
import { readBucket } from '../format/stored/bucket.js';
import { isDirectory } from '../format/stored/directory.js';
import { CHECK_BYTES, RECORD_STRIDE, REFERENCE_AT } from '../format/stored/record.js';

/** The letters `B` and `C`. */
const [LARGE_CHUNK_LETTER, CHUNK_LETTER] = [0x42, 0x43];

/** The commands of a client that the check uses. */
export interface Reader {
  hgetallBuffer(key: string): Promise<Record<string, Buffer>>;
  lrange(key: string, start: number, stop: number): Promise<string[]>;
}

/**
 * Counts all references between objects and compares them with the stored counts. A difference means a leak or a future
 * loss. Reads everything, so it is for tests only.
 * @returns a description of each problem
 */
export async function checkLayout(client: Reader, keys: Keys): Promise<string[]> {
  const [head, objects, further, waiting] = await Promise.all([
    client.hgetallBuffer(keys.head),
    client.hgetallBuffer(keys.objects),
    client.hgetallBuffer(keys.references),
    client.lrange(keys.queue, 0, -1),
  ]);
  const counted = new Map<string, number>();
  const wrong: string[] = [];
  const refer = (ref: number): void => {
    if (ref !== 0) counted.set(String(ref), (counted.get(String(ref)) ?? 0) + 1);
  };
  for (const [field, value] of Object.entries(head)) {
    if (field !== 's' && !/^(c\/|b:|p\/|g\/)/.test(field)) continue;
    refer(value.readDoubleBE(0));
    refer(value.readDoubleBE(8));
  }
  const digests = Object.keys(objects).filter((field) => field.startsWith('b'));
  for (const field of digests) {
    const chunk = objects[field.slice(1)];
    if (chunk?.[0] !== LARGE_CHUNK_LETTER || !chunk.subarray(2, 18).equals(objects[field] as Buffer))
      wrong.push(`field ${field} is not the digest of a large chunk`);
    delete objects[field];
  }
  const large = Object.values(objects).filter(([letter]) => letter === LARGE_CHUNK_LETTER);
  if (large.length !== digests.length) wrong.push(`${large.length} large chunks have ${digests.length} digests`);
  for (const [id, value] of Object.entries(objects)) {
    if (value[0] === LARGE_CHUNK_LETTER) continue;
    const isChunk = value[0] === CHUNK_LETTER;
    const refs = referencesOf(value);
    const number = value.readDoubleBE(isChunk ? value.length - 8 : 1);
    if (refs === undefined || number !== Number(id)) wrong.push(`object ${id} is malformed`);
    else for (const ref of refs) refer(ref);
  }
  const dead = new Set(waiting);
  for (const id of Object.keys(objects)) {
    const expected = dead.has(id) ? 0 : 1 + Number(further[id] ?? 0);
    const found = counted.get(id) ?? 0;
    if (found !== expected) wrong.push(`object ${id} has ${found} references, not ${expected}`);
  }
  for (const id of counted.keys()) if (!(id in objects)) wrong.push(`object ${id} is referred to and missing`);
  for (const id of Object.keys(further)) if (!(id in objects)) wrong.push(`${id} has references and is missing`);
  return wrong;
}

function referencesOf(value: Buffer): number[] | undefined {
  const kind = String.fromCharCode(value[0] as number);
  if (kind === 'C') return [];
  if (kind === 'D') return isDirectory(value) ? [value.readDoubleBE(73)] : undefined;
  if (kind === 'A') {
    const refs: number[] = [];
    const end = value.length - CHECK_BYTES;
    for (let at = 11 + 33 * (value[9] as number); at + 8 <= end; at += 9) refs.push(value.readDoubleBE(at));
    return refs;
  }
  const bucket = kind === 'L' ? readBucket(value) : undefined;
  return bucket?.names.map((_, i) => value.readDoubleBE(bucket.recordsAt + i * RECORD_STRIDE + REFERENCE_AT));
}
