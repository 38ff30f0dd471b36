import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import { HistoryError, type Primitives } from '@scratchfs/history';

const deflated = promisify(deflate);
const inflated = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(inflate);

/** Hashing and zlib by Node's own code: `new History({ primitives: nodePrimitives })`. `HostHistory` uses them. */
export const nodePrimitives: Primitives = {
  hasher(format) {
    const hash = createHash(format);
    return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest() };
  },
  deflate: (bytes) => deflated(bytes),
  async inflate(bytes, limit) {
    try {
      return await inflated(bytes, { maxOutputLength: Math.max(1, limit) });
    } catch (cause) {
      if ((cause as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE')
        throw new HistoryError('too-large', `An object unpacks to more than ${limit} bytes`);
      throw new HistoryError('corrupt', 'A compressed object is damaged or cut off', { cause });
    }
  },
};
