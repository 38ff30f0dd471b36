import type { Metadata, NodeId } from '../backend.js';
import { checkNow } from './arguments.js';

export const systemClock = (): number => Date.now();

/** Numbers drawn in advance: one call of the platform for all of them takes little longer than for one. */
const drawn = new Uint32Array(512);
let used = drawn.length;

/** Returns a whole number from 0 to `below` - 1, from the platform's random numbers. */
export function systemRandom(below: number): number {
  if (used === drawn.length) {
    crypto.getRandomValues(drawn);
    used = 0;
  }
  return Math.floor(((drawn[used++] as number) / 2 ** 32) * below);
}

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';

/** Returns 20 random characters: 103 bits, so that ids drawn by different clients do not collide in practice. */
export function randomId(random: (below: number) => number): NodeId & string {
  let id = '';
  for (let i = 0; i < 20; i++) id += ALPHABET[random(36)];
  return id;
}

/** Returns the metadata of a new root. @throws TypeError for a time that a Date cannot hold */
export function rootMeta(now: number): Metadata {
  checkNow(now);
  return { mode: 0o755, uid: 0, gid: 0, atime: now, mtime: now, ctime: now, birthtime: now };
}
