/** A file or link of a tree in git's terms. */
export interface KindEntry {
  /** Path relative to the one in question; empty for the entry at that path itself. */
  readonly at: string;
  readonly mode: '100644' | '100755' | '120000';
  readonly content: string;
}

const text = 'a line of text\n';

/**
 * Kinds of entries that a path may hold. The longer file begins with the content of the shorter one, so that truncating
 * it gives the other.
 */
const KINDS: Readonly<Record<string, readonly KindEntry[]>> = {
  nothing: [],
  file: [{ at: '', mode: '100644', content: text }],
  longer: [{ at: '', mode: '100644', content: text.repeat(2_000) }],
  program: [{ at: '', mode: '100755', content: text }],
  link: [{ at: '', mode: '120000', content: 'file-to-link' }],
  up: [{ at: '', mode: '120000', content: '.' }],
  directory: [{ at: '/inner', mode: '100644', content: text }],
  deep: [
    { at: '/inner', mode: '100755', content: text },
    { at: '/one/two/up', mode: '120000', content: '..' },
  ],
};

/** A path for each pair of different kinds, with the entries there before and after. */
export const TURNS = Object.entries(KINDS).flatMap(([from, before]) =>
  Object.entries(KINDS)
    .filter(([to]) => to !== from)
    .map(([to, after]) => ({ path: `${from}-to-${to}`, before, after })),
);
