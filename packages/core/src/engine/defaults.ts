import type { Metadata, NodeId } from '../backend.js';

/** The one place where time and chance come from when the caller brings none. */
export const systemClock = (): number => Date.now();

/** Drawn ahead: asking the platform costs as much for hundreds as for one. */
const drawn = new Uint32Array(512);
let used = drawn.length;

/** A whole number from 0 to `below` - 1, from the platform's random numbers. */
export function systemRandom(below: number): number {
  if (used === drawn.length) {
    crypto.getRandomValues(drawn);
    used = 0;
  }
  return Math.floor(((drawn[used++] as number) / 2 ** 32) * below);
}

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';

/** Text that no other client draws: 20 characters, 103 bits. */
export function randomId(random: (below: number) => number): NodeId & string {
  let id = '';
  for (let i = 0; i < 20; i++) id += ALPHABET[random(36)];
  return id;
}

/** What a new root has. */
export function rootMeta(now: number): Metadata {
  return { mode: 0o755, uid: 0, gid: 0, atime: now, mtime: now, ctime: now, birthtime: now };
}
