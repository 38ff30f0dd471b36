import fc from 'fast-check';

/** A text and two versions of it. */
export interface Triple {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

interface Edit {
  readonly at: number;
  readonly remove: number;
  readonly insert: readonly string[];
}

/** Few different lines, as in code, so that two texts can be aligned in many ways. */
const line = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('', '}', '  }', '{', '  return;', 'end') },
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 12 }).map((n) => `line ${n}`) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 1_000 }).map((n) => `  call(${n});`) },
);

const edits = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    remove: fc.integer({ min: 0, max: 4 }),
    insert: fc.array(line, { maxLength: 4 }),
  }),
  { maxLength: 4 },
);

function edited(lines: readonly string[], changes: readonly Edit[]): string[] {
  const result = [...lines];
  for (const { at, remove, insert } of changes) result.splice(Math.floor(at * (result.length + 1)), remove, ...insert);
  return result;
}

/** Base texts of up to 60 lines with a few edits on each side; some without a final line end, some with CR LF. */
export const triples: fc.Arbitrary<Triple> = fc
  .record({
    lines: fc.array(line, { maxLength: 60 }),
    common: edits,
    ours: edits,
    theirs: edits,
    end: fc.constantFrom('\n', '\n', '\n', '\r\n'),
    open: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
    openAtAll: fc.nat(5).map((n) => n === 0),
  })
  .map(({ lines, common, ours, theirs, end, open, openAtAll }) => {
    const versions = [lines, edited(edited(lines, common), ours), edited(edited(lines, common), theirs)];
    const [base = '', a = '', b = ''] = versions.map((version, i) => {
      const text = version.map((part) => part + end).join('');
      return openAtAll && open[i] === true && text.endsWith(end) ? text.slice(0, -end.length) : text;
    });
    return { base, ours: a, theirs: b };
  });
