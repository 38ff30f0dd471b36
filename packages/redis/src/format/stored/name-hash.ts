import { hash } from 'node:crypto';

/** Of a generation: two of them are remembered. */
const GENERATION = 5_000;

let young = new Map<string, number>();
let old = new Map<string, number>();

/**
 * The first 32 bits of a name's SHA-1, which say in what bucket of a directory it is. Scripts work it out where they are not told;
 * what they are told they need not, and here the names that are used are remembered.
 */
export function hashOfName(name: string): number {
  const known = young.get(name) ?? old.get(name);
  if (known !== undefined) return known;
  if (young.size >= GENERATION) [old, young] = [young, new Map()];
  const made = Number.parseInt(hash('sha1', name).slice(0, 8), 16);
  young.set(ownText(name), made);
  return made;
}

/** The same text, pointing into nothing: a name is cut out of a path, which may have been cut out of a text of any length. */
function ownText(text: string): string {
  return Buffer.from(text).toString();
}
