import { hash } from 'node:crypto';

/** Number of names in a generation of the cache. The current generation and the one before it are kept. */
const NAMES_PER_GENERATION = 5_000;

let young = new Map<string, number>();
let old = new Map<string, number>();

/**
 * Returns the first 32 bits of a name's SHA-1, which select its bucket in a directory. The client sends the hashes and
 * caches those of recent names, so that scripts compute fewer of them.
 */
export function hashOfName(name: string): number {
  const known = young.get(name) ?? old.get(name);
  if (known !== undefined) return known;
  if (young.size >= NAMES_PER_GENERATION) [old, young] = [young, new Map()];
  const computed = Number.parseInt(hash('sha1', name).slice(0, 8), 16);
  young.set(copyText(name), computed);
  return computed;
}

/**
 * Copies a string. A name is a slice of a path, which may be a slice of a longer text that the slice would keep alive.
 */
function copyText(text: string): string {
  return Buffer.from(text).toString();
}
