import type { Metadata, NodeId } from '../backend.js';
import { checkNow } from './arguments.js';

/** The only source of time and randomness if the caller gives none. */
export const systemClock = (): number => Date.now();

/** Drawn in advance: the platform needs as long for hundreds as for one. */
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

/** Returns text that no other client draws: 20 characters, 103 bits. */
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
