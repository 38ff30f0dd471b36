import { describe, expect, it } from 'vitest';
import { isStorageError } from '../errors.js';
import { seal, takeApart, withColumns } from '../testing/reseal.js';
import { directory, entriesOf, file, symlink } from '../testing/sample-tree.js';
import { ColumnWriter } from './columns.js';
import { decodeSnapshot } from './decode.js';
import { encodeSnapshot } from './encode.js';
import { HEADER_BYTES } from './format.js';
import { packIndex } from './packed-index.js';
import { xxh32 } from './xxh32.js';

const hard = file('shared', { mtime: 1700000000000.5 });
const SAMPLE = encodeSnapshot(
  entriesOf(
    directory({
      docs: directory({ 'a.text': file('hello'), link: symlink('../src') }),
      src: directory({ 'index.ts': file('export {};\n', { mode: 0o600, uid: 1000, gid: 1000 }), one: hard, two: hard }),
      empty: directory({}),
    }),
  ),
);

function refusal(bytes: Uint8Array<ArrayBuffer>): string {
  try {
    decodeSnapshot(bytes);
  } catch (error) {
    if (isStorageError(error)) return `${error.kind}: ${error.message}`;
    throw error;
  }
  return 'accepted';
}

const text = (value: string) => new TextEncoder().encode(value);
const names = (...values: string[]) => text(values.map((value) => `${value}\0`).join(''));
function numbers(...values: number[]): Uint8Array {
  const column = new ColumnWriter();
  for (const value of values) column.push(value);
  return column.finish();
}
function doubles(...values: number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 8));
  for (const [at, value] of values.entries()) view.setFloat64(at * 8, value, true);
  return new Uint8Array(view.buffer);
}
const FILE = 1 + 0o644;
const DIRECTORY = 1 + 4096 + 0o755;
const SYMLINK = 1 + 8192 + 0o777;

/** Returns a snapshot of a root and two entries, by default empty files called a and b. */
function small(change: Parameters<typeof withColumns>[1] = {}, count = 3, content = ''): Uint8Array<ArrayBuffer> {
  const columns = {
    depths: numbers(1, 1),
    names: names('a', 'b'),
    rights: numbers(DIRECTORY, FILE, FILE),
    links: numbers(),
    owners: numbers(0, 0, 0, 0, 0, 0),
    stamps: numbers(0, 0, 0),
    times: doubles(1),
    sizes: numbers(0, 0),
    targets: text(''),
  };
  return seal(packIndex(count, { ...columns, ...change }), text(content));
}

describe('a damaged snapshot', () => {
  it('is refused whichever byte is changed, and however', () => {
    for (let at = 0; at < SAMPLE.length; at++) {
      for (const flip of [0x01, 0x80, 0xff]) {
        const damaged = SAMPLE.slice();
        damaged[at] = (damaged[at] as number) ^ flip;
        expect(refusal(damaged), `byte ${at} ^ ${flip}`).toMatch(/^(corrupt: The snapshot is damaged: .|version: )/);
      }
    }
  });

  it('is refused wherever it is cut, and with anything after its end', () => {
    for (let length = 0; length < SAMPLE.length; length++) {
      expect(refusal(SAMPLE.slice(0, length)), `cut at ${length}`).toMatch(/^corrupt: /);
    }
    const longer = new Uint8Array(SAMPLE.length + 1);
    longer.set(SAMPLE);
    expect(refusal(longer)).toMatch(/^corrupt: .*should have \d+ bytes and has \d+/);
  });

  it('of which only the version byte was changed counts as damaged, not as newer', () => {
    const damaged = SAMPLE.slice();
    damaged[8] = 2;
    expect(refusal(damaged)).toMatch(/^corrupt: .*checksum of its version/);
  });
});

describe('a snapshot of another version', () => {
  const ofVersion = (version: number, length = 16) => {
    const bytes = new Uint8Array(length);
    bytes.set(SAMPLE.subarray(0, 8));
    const view = new DataView(bytes.buffer);
    view.setUint32(8, version, true);
    view.setUint32(12, xxh32(bytes, 0, 12), true);
    return bytes;
  };

  it('that is newer has its own kind of error', () => {
    expect(refusal(ofVersion(2, 200))).toBe(
      'version: The snapshot has format version 2, written by a newer release; this one reads versions up to 1',
    );
    expect(refusal(ofVersion(2 ** 32 - 1))).toMatch(/^version: /);
  });

  it('that never existed counts as damaged', () => {
    expect(refusal(ofVersion(0))).toMatch(/^corrupt: .*no format version 0/);
  });
});

describe('a hostile snapshot with correct checksums', () => {
  it('is accepted if nothing is wrong with it', () => {
    expect(refusal(small())).toBe('accepted');
    expect(refusal(withColumns(SAMPLE, {}))).toBe('accepted');
  });

  it.each(['', '.', '..', 'a/b', '/', 'a\\b', '..\\x', 'x'.repeat(256), '\u{1f600}'.repeat(64)])(
    'may not contain the name %j',
    (name) => {
      expect(refusal(small({ names: names(name, 'zzz') }))).toMatch(
        /^corrupt: .*entry 1 has a name that is not allowed/,
      );
    },
  );

  it.each([
    ['a duplicate', names('a', 'a')],
    ['names out of order', names('b', 'a')],
    ['names in the order of UTF-16', names('\u{1f600}', '\uffff')],
  ])('may not hold %s', (_, column) => {
    expect(refusal(small({ names: column }))).toMatch(/^corrupt: .*entry 2 is a duplicate or out of order/);
  });

  it('may contain the same name in two directories', () => {
    const change = { depths: numbers(1, 2), names: names('a', 'a'), rights: numbers(DIRECTORY, DIRECTORY, FILE) };
    expect(refusal(small({ ...change, sizes: numbers(0) }))).toBe('accepted');
  });

  it.each([
    ['a file', numbers(DIRECTORY, FILE, FILE), numbers(1, 2)],
    ['a directory two levels up', numbers(DIRECTORY, DIRECTORY, DIRECTORY), numbers(1, 3)],
    ['nothing', numbers(DIRECTORY, DIRECTORY, DIRECTORY), numbers(2, 2)],
    ['no depth', numbers(DIRECTORY, DIRECTORY, DIRECTORY), numbers(0, 1)],
  ])('may not have %s as a parent', (_, rights, depths) => {
    expect(refusal(small({ rights, depths }))).toMatch(/^corrupt: .*(does not lie in a directory|sizes are too many)/);
  });

  it('may not contain a path that is longer or deeper than allowed', () => {
    const chain = (depth: number, name: string) => {
      const directories = new Array<number>(depth + 1).fill(DIRECTORY);
      const levels = Array.from({ length: depth }, (_, i) => i + 1);
      const rest = { owners: new Uint8Array(2 * depth + 2), stamps: new Uint8Array(depth + 1), sizes: numbers() };
      const names_ = names(...new Array<string>(depth).fill(name));
      return refusal(
        small({ depths: numbers(...levels), names: names_, rights: numbers(...directories), ...rest }, depth + 1),
      );
    };
    expect(chain(1000, 'a')).toBe('accepted');
    expect(chain(1001, 'a')).toMatch(/^corrupt: .*entry 1001 has a path that is too long/);
    expect(chain(16, 'x'.repeat(255))).toBe('accepted');
    expect(chain(17, 'x'.repeat(255))).toMatch(/^corrupt: .*entry 17 has a path that is too long/);
    expect(chain(50_000, 'a')).toMatch(/^corrupt: /);
  });

  it('may not have a file, a link or a second name of a file as its root', () => {
    expect(refusal(small({ rights: numbers(FILE, FILE, FILE), sizes: numbers(0, 0, 0) }))).toMatch(
      /root is not a directory/,
    );
    expect(refusal(small({ rights: numbers(SYMLINK, FILE, FILE), targets: names('a') }))).toMatch(
      /root is not a directory/,
    );
    expect(refusal(small({ rights: numbers(0, FILE, FILE), links: numbers(0) }))).toMatch(
      /^corrupt: .*a link does not/,
    );
    expect(refusal(small({}, 0))).toMatch(/no root/);
  });

  it.each([
    ['itself', 2],
    ['what comes later', 3],
    ['a directory', 0],
    ['nothing', 2 ** 52],
  ])('may not have a further name of %s', (_, first) => {
    const change = { rights: numbers(DIRECTORY, FILE, 0), links: numbers(first) };
    const bytes = small({ ...change, owners: numbers(0, 0, 0, 0), stamps: numbers(0, 0), sizes: numbers(0) });
    expect(refusal(bytes)).toMatch(/^corrupt: .*a link does not lead to a file that came before/);
  });

  it('may not have a second name of a second name', () => {
    const change = { depths: numbers(1, 1, 1), names: names('a', 'b', 'c'), rights: numbers(DIRECTORY, FILE, 0, 0) };
    const rest = { owners: numbers(0, 0, 0, 0), stamps: numbers(0, 0), sizes: numbers(0) };
    expect(refusal(small({ ...change, ...rest, links: numbers(1, 1) }, 4))).toBe('accepted');
    expect(refusal(small({ ...change, ...rest, links: numbers(1, 2) }, 4))).toMatch(/^corrupt: .*a link does not/);
  });

  it('may not contain an unknown kind or an owner out of range', () => {
    expect(refusal(small({ rights: numbers(DIRECTORY, FILE, 1 + 3 * 4096) }))).toMatch(/of no known kind/);
    expect(refusal(small({ rights: numbers(DIRECTORY, FILE, 2 ** 53 - 1) }))).toMatch(/of no known kind/);
    expect(refusal(small({ owners: numbers(0, 0, 0, 0, 0, 2 ** 32) }))).toMatch(/an owner is out of range/);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0])(
    'may not contain the time %d',
    (time) => {
      expect(refusal(small({ times: doubles(time) }))).toMatch(/^corrupt: .*a time is not a number/);
    },
  );

  it.each([
    ['twice the same time', { times: doubles(1, 1), stamps: numbers(0, 2, 0) }, /a time is there twice/],
    ['half a time', { times: new Uint8Array(12) }, /the times are cut/],
    ['a time that nothing uses', { times: doubles(1, 2) }, /the times are too many/],
    ['a time that is missing', { stamps: numbers(0, 2, 0) }, /the times are too few/],
    ['times in another order', { times: doubles(1, 2, 3), stamps: numbers(0, 4, 2) }, /not in the order of their use/],
    ['a long form of four equal times', { stamps: numbers(0, 0, 1, 0, 0, 0) }, /a number in a wrong form/],
  ])('may not hold %s', (_, change, message) => {
    expect(refusal(small(change))).toMatch(message);
  });

  it('may not contain an empty link target, nor text that is not UTF-8', () => {
    const rights = numbers(DIRECTORY, FILE, SYMLINK);
    expect(refusal(small({ rights, sizes: numbers(0), targets: names('') }))).toMatch(
      /has a target that is not allowed/,
    );
    const long = names('x'.repeat(4096));
    expect(refusal(small({ rights, sizes: numbers(0), targets: long }))).toMatch(/has a target that is not allowed/);
    expect(refusal(small({ rights, sizes: numbers(0), targets: Uint8Array.of(0xff, 0) }))).toMatch(/are not UTF-8/);
    expect(refusal(small({ names: Uint8Array.of(0xc3, 0, 98, 0) }))).toMatch(/the names are not UTF-8/);
    expect(refusal(small({ names: Uint8Array.of(0xed, 0xa0, 0x80, 0, 98, 0) }))).toMatch(/the names are not UTF-8/);
  });

  it('may not claim more or less content than it has', () => {
    expect(refusal(small({ sizes: numbers(2, 1) }, 3, 'abc'))).toBe('accepted');
    expect(refusal(small({ sizes: numbers(2, 2) }, 3, 'abc'))).toMatch(/content of entry 2 is too short/);
    expect(refusal(small({ sizes: numbers(1, 1) }, 3, 'abc'))).toMatch(/the contents are too many/);
    expect(refusal(small({ sizes: numbers(2 ** 53 - 1, 2 ** 53 - 1) }, 3, 'abc'))).toMatch(/too short/);
  });

  it.each(['depths', 'names', 'rights', 'links', 'owners', 'stamps', 'times', 'sizes', 'targets'] as const)(
    'may not contain too little or too much of %s',
    (column) => {
      const { columns } = takeApart(SAMPLE);
      const unit = column === 'times' ? 8 : 1;
      const more = new Uint8Array(columns[column].length + unit);
      more.set(columns[column]);
      if (column === 'times') more.set(doubles(123456789), columns[column].length);
      expect(refusal(withColumns(SAMPLE, { [column]: more }))).toMatch(/^corrupt: .*are too many/);
      const less = columns[column].slice(0, -unit);
      expect(refusal(withColumns(SAMPLE, { [column]: less }))).toMatch(/^corrupt: .*(too few|fewer than)/);
    },
  );

  it('may not claim a number of entries that it does not have', () => {
    for (const count of [2, 4, 1000, 2 ** 31, 2 ** 32 - 1]) expect(refusal(small({}, count))).toMatch(/^corrupt: /);
  });
});

describe('an index that the encoder would not write', () => {
  const index = takeApart(SAMPLE).index;
  const { content } = takeApart(SAMPLE);
  const bad: [string, number[]][] = [
    ['nothing', []],
    ['nil', [0xc0]],
    ['a map', [0x8a]],
    ['an array that claims 4 billion values', [0xdd, 0xff, 0xff, 0xff, 0xff]],
    ['a fitting array without values', [0x9a]],
    ['a column that claims 4 billion bytes', [0x9a, 3, 0xc6, 0xff, 0xff, 0xff, 0xff]],
    ['a column that claims a byte more than there is', [0x9a, 3, 0xc4, 1]],
    ['a head that is cut', [0x9a, 3, 0xc6, 0xff]],
    ['text for a column', [0x9a, 3, 0xa1, 0x61]],
    ['an extension', [0x9a, 3, 0xd4, 0x72, 0x40]],
    ['a record definition', [0xd4, 0x72, 0x40, 0x91, 0xa1, 0x61]],
    ['a pointer', [0x9a, 3, 0xd6, 0x70, 0, 0, 0, 0]],
    ['an error object', [0x9a, 3, 0xd4, 0x65, 0x93]],
    ['a number in a longer form than it needs', [0x9a, 0xcc, 3, ...index.subarray(2)]],
    ['a negative number of entries', [0x9a, 0xff]],
    ['a fraction for the number of entries', [0x9a, 0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0]],
    ['something after the columns', [...index, 0xc0]],
    ['100,000 nested arrays', new Array(100_000).fill(0x91)],
    ['100,000 nested fitting arrays', new Array(100_000).fill(0x9a)],
  ];
  it.each(bad)('is refused: %s', (_, bytes) => {
    expect(refusal(seal(Uint8Array.from(bytes), content))).toMatch(/^corrupt: /);
  });

  it('allocates no memory for claimed lengths', () => {
    const used = () => {
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return heapUsed + arrayBuffers;
    };
    const header = SAMPLE.slice();
    new DataView(header.buffer).setUint32(28, 2 ** 20, true);
    new DataView(header.buffer).setUint32(36, xxh32(header, 0, 36), true);
    const bombs = [header, ...bad.map(([, bytes]) => seal(Uint8Array.from(bytes), content)), small({}, 2 ** 32 - 1)];
    for (const bomb of bombs) {
      // Memory allocated for the claim would be there in each of the three runs; memory of other work is not, so the
      // smallest growth counts.
      const grown = Array.from({ length: 3 }, () => {
        const before = used();
        expect(refusal(bomb)).toMatch(/^corrupt: /);
        return used() - before;
      });
      expect(Math.min(...grown)).toBeLessThan(32 * 2 ** 20);
    }
  });

  it('that is padded with anything but zeros is refused', () => {
    const padded = SAMPLE.slice();
    const gap = HEADER_BYTES + index.length;
    if (gap % 8 === 0) return expect.unreachable('the sample needs a gap');
    padded[gap] = 1;
    expect(refusal(padded)).toMatch(/the gap after its index is not empty/);
  });
});
