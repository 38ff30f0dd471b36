/** A file or link of a tree, as git has it. */
export interface KindEntry {
  /** Beneath the path that it is about: empty for what lies there itself. */
  readonly at: string;
  readonly mode: '100644' | '100755' | '120000';
  readonly content: string;
}

const text = 'a line of text\n';

/** What may lie at a path. The longer file begins as the file does, so that cutting the one gives the other. */
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

/** A path for each kind that becomes each other one, with what lies there before and after. */
export const TURNS = Object.entries(KINDS).flatMap(([from, before]) =>
  Object.entries(KINDS)
    .filter(([to]) => to !== from)
    .map(([to, after]) => ({ path: `${from}-to-${to}`, before, after })),
);
