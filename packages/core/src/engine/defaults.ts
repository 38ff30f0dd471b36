import type { Metadata, NodeId } from '../backend.js';

/** The one place where time and chance come from when the caller brings none. */
export const systemClock = (): number => Date.now();

/** A whole number from 0 to `below` - 1, from the platform's random numbers. */
export function systemRandom(below: number): number {
  const word = new Uint32Array(1);
  crypto.getRandomValues(word);
  return Math.floor(((word[0] as number) / 2 ** 32) * below);
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
