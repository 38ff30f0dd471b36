import { constants } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { FdName, World } from './world.js';

/** An argument: a function that creates it in a world, and its name in a report. */
export interface Value {
  readonly label: string;
  readonly make: (world: World) => unknown;
}

/** The arguments to try at one place; the first is the usual one. */
export type Pool = readonly Value[];

function value(label: string, make: Value['make']): Value {
  return { label, make };
}

/** Returns values that do not depend on the world. Plain objects are copied for each call. */
export function plain(...given: readonly unknown[]): Pool {
  return given.map((one) => value(labelOf(one), () => (isCloneable(one) ? structuredClone(one) : one)));
}

function isCloneable(one: unknown): boolean {
  return (
    typeof one === 'object' &&
    one !== null &&
    Object.getPrototypeOf(one) === Object.prototype &&
    !Object.values(one).some((inner) => ['function', 'symbol', 'object'].includes(typeof inner))
  );
}

function labelOf(one: unknown): string {
  if (typeof one === 'bigint') return `${one}n`;
  if (typeof one === 'symbol') return one.toString();
  if (typeof one === 'function') return 'a function';
  if (typeof one === 'object' && one !== null) {
    const name = one.constructor?.name ?? 'null-prototype';
    const text = JSON.stringify(one, (_, inner: unknown) =>
      typeof inner === 'bigint'
        ? `${inner}n`
        : typeof inner === 'function'
          ? 'a function'
          : typeof inner === 'symbol'
            ? inner.toString()
            : inner === undefined
              ? 'undefined'
              : typeof inner === 'number' && !Number.isFinite(inner)
                ? String(inner)
                : inner,
    );
    return `${name} ${text}`;
  }
  return typeof one === 'string' ? JSON.stringify(one) : String(one);
}

function at(path: string): Value {
  return value(JSON.stringify(path), ({ root }) => root + path);
}

const NAME = 'n'.repeat(256);

/** Values that most arguments refuse. */
export const BAD = plain(
  undefined,
  null,
  true,
  777,
  -1,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  2 ** 31,
  2 ** 32,
  -0,
  5n,
  'x',
  '',
  Symbol('s'),
  {},
  [],
  ['x'],
  () => {},
  new Date(0),
  new Map(),
  Object.create(null),
  new Uint8Array(2),
);

const NO_PATHS: Pool = [
  ...plain(
    undefined,
    null,
    true,
    12_345,
    -1,
    1.5,
    Number.NaN,
    5n,
    Symbol('s'),
    {},
    [],
    ['/f'],
    new Date(0),
    Object.create(null),
  ),
  ...plain(
    'a\0b',
    Buffer.from('/a\0b'),
    new URL('http://host/f'),
    new URL('file://host/f'),
    new URL('file:///a%2fb'),
    new URL('file:///a%00b'),
  ),
  ...plain(new DataView(new ArrayBuffer(2)), new Uint16Array(2), new String('/f'), {
    href: 'file:///f',
    protocol: 'file:',
  }),
];

/** Paths; the usual one is first. */
export function goodPaths(first: string, ...others: readonly string[]): Pool {
  return [...new Set([first, ...others, ...PLACES])].map(at);
}

/** A directory as text and as bytes. */
export const DIRECTORIES: Pool = [at('/d'), value('Buffer /d', ({ root }) => Buffer.from(`${root}/d`))];

const PLACES = [
  '/f',
  '/d',
  '/e',
  '/l',
  '/ld',
  '/dang',
  '/loop',
  '/missing',
  '/missing/x',
  '/f/x',
  '/hard',
  '/ld/a',
  '/loop/x',
  `/${NAME}`,
];

/** Returns the paths of {@link goodPaths}, and values that are refused or unusual as a path. */
export function paths(first: string, ...others: readonly string[]): Pool {
  return [
    ...goodPaths(first, ...others),
    value('Buffer /f', ({ root }) => Buffer.from(`${root}/f`)),
    value('Uint8Array /f', ({ root }) => new TextEncoder().encode(`${root}/f`)),
    value('URL /f', ({ root }) => pathToFileURL(`${root}/f`)),
    ...NO_PATHS,
    ...plain(''),
  ];
}

/** Prefixes of temporary directories. */
export const PREFIXES: Pool = [
  ...['/tmp-', '/d/tmp-', '/ld/tmp-', '/missing/tmp-', '/f/tmp-', '/loop/tmp-', `/${NAME}`].map(at),
  value('Buffer /tmp-', ({ root }) => Buffer.from(`${root}/tmp-`)),
  value('URL /tmp-', ({ root }) => pathToFileURL(`${root}/tmp-`)),
  ...NO_PATHS,
];

function fd(name: FdName): Value {
  return value(`${name} fd`, ({ fds }) => fds[name]);
}

export const FDS: Pool = [
  ...(['both', 'reading', 'writing', 'appending', 'directory', 'closed'] as const).map(fd),
  ...plain(undefined, null, true, -1, 1.5, Number.NaN, 2 ** 31, 2 ** 32, 1e10, 5n, {}, [], Number.POSITIVE_INFINITY),
];

export const READING_FIRST: Pool = [fd('reading'), fd('writing'), fd('directory'), fd('closed')];

export const MODES = plain(
  0o600,
  undefined,
  '600',
  '0o600',
  '9',
  'rw',
  '',
  0o7777,
  0,
  2 ** 32,
  -1,
  1.5,
  Number.NaN,
  null,
  true,
  {},
  [],
  5n,
  new Date(0),
);

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDWR, O_TRUNC, O_WRONLY } = constants;

export const FLAGS = plain(
  'r',
  undefined,
  'r+',
  'rs',
  'sr',
  'rs+',
  'sr+',
  'w',
  'wx',
  'xw',
  'w+',
  'wx+',
  'xw+',
  'a',
  'ax',
  'xa',
  'as',
  'sa',
  'a+',
  'ax+',
  'xa+',
  'as+',
  'sa+',
  0,
  O_WRONLY,
  O_RDWR,
  O_RDWR | O_CREAT,
  O_RDWR | O_CREAT | O_EXCL,
  O_WRONLY | O_TRUNC,
  O_RDWR | O_APPEND,
  O_DIRECTORY,
  O_NOFOLLOW,
  O_TRUNC,
  O_CREAT,
  O_WRONLY | O_RDWR,
  O_DIRECTORY | O_RDWR,
  O_NOFOLLOW | O_DIRECTORY,
  'R',
  '',
  'rw',
  'x',
  -1,
  2 ** 31,
  1.5,
  Number.NaN,
  null,
  true,
  {},
  [],
  5n,
  'wr',
);

export const ENCODINGS = [
  undefined,
  null,
  '',
  'utf8',
  'utf-8',
  'UTF8',
  'latin1',
  'binary',
  'ascii',
  'hex',
  'base64',
  'base64url',
  'ucs2',
  'utf16le',
  'buffer',
  'bogus',
  777,
  {},
  true,
] as const;

/** Encodings in which the root can still be found in a path of the host. */
const READABLE = ENCODINGS.filter(
  (one) => typeof one !== 'string' || !/^(hex|base64|base64url|ucs2|utf16le)$/.test(one),
);

export const READABLE_OPTIONS = plain(
  ...READABLE,
  1.5,
  5n,
  Symbol('s'),
  [],
  ...READABLE.map((encoding) => ({ encoding })),
);

export function encodingOptions(...others: readonly object[]): Pool {
  return plain(
    ...ENCODINGS,
    1.5,
    5n,
    Symbol('s'),
    [],
    ...ENCODINGS.map((encoding) => ({ encoding })),
    ...others,
    { signal: 777 },
    { signal: null },
    { signal: {} },
    { signal: undefined },
    Object.create(null),
  );
}

export const DATA = plain(
  'text',
  '',
  'héllo €',
  new Uint8Array([1, 2, 3]),
  new Uint8Array(0),
  new Uint16Array([1, 2]),
  new DataView(new ArrayBuffer(3)),
  Buffer.from('bytes'),
  undefined,
  null,
  true,
  777,
  5n,
  Symbol('s'),
  {},
  [],
  ['a'],
  [777],
  [null],
  [[1, 2]],
  [new Uint8Array([1, 2]), 'b'],
  () => {},
  new Date(0),
  new ArrayBuffer(2),
  { toString: () => 'own' },
  new String('boxed'),
  Object.create(null),
);

const SOME = Buffer.from('0123456789');

export const BUFFERS: Pool = [
  value('Buffer(4)', () => Buffer.alloc(4)),
  value('Buffer(0)', () => Buffer.alloc(0)),
  value('Uint8Array(3) of 8', () => new Uint8Array(8).subarray(2, 5)),
  value('Uint16Array(2)', () => new Uint16Array(2)),
  value('DataView(4)', () => new DataView(new ArrayBuffer(4))),
  value('digits', () => Buffer.from(SOME)),
  ...plain(
    undefined,
    null,
    5,
    'x',
    '',
    {},
    [],
    new ArrayBuffer(4),
    true,
    Symbol('s'),
    { buffer: 5 },
    { length: 2 },
    { position: 1 },
    { offset: 3 },
  ),
  value('{ buffer }', () => ({ buffer: Buffer.alloc(4) })),
  value('{ buffer, offset, length, position }', () => ({ buffer: Buffer.alloc(4), offset: 1, length: 2, position: 1 })),
];

export const OFFSETS = plain(
  0,
  undefined,
  null,
  1,
  4,
  5,
  100,
  -1,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  2 ** 31,
  2 ** 40,
  5n,
  '1',
  'x',
  true,
  {},
  [],
  Symbol('s'),
  { offset: 1 },
  { offset: 1, length: 1 },
  { length: 2, position: 1 },
  { position: 2n },
  { offset: null, length: null, position: null },
  { offset: 5 },
  { length: 9 },
  { position: 'x' },
  { position: -1 },
);

/** Without the array, which is not an options object but has a length. */
export const OFFSETS_OF_HANDLES = OFFSETS.filter(({ label }) => label !== 'Array []');

export const LENGTHS = plain(
  4,
  undefined,
  null,
  0,
  1,
  3,
  5,
  100,
  -1,
  1.5,
  Number.NaN,
  2 ** 31,
  2 ** 32 + 1,
  5n,
  '1',
  'x',
  true,
  {},
  [],
  'utf8',
  'hex',
  'latin1',
);

export const POSITIONS = plain(
  null,
  undefined,
  0,
  1,
  3,
  100,
  -1,
  -2,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  2 ** 53,
  2 ** 40,
  0n,
  2n,
  -1n,
  2n ** 64n,
  '1',
  'x',
  true,
  {},
  [],
);

export const VECTORS: Pool = [
  value('[4, 2]', () => [Buffer.from('wxyz'), new Uint8Array(2)]),
  value('[0, 3]', () => [new Uint8Array(0), Buffer.from('abc')]),
  value('[DataView, Uint16Array]', () => [new DataView(new ArrayBuffer(2)), new Uint16Array(1)]),
  ...plain(undefined, null, 5, 'x', {}, [], [5], ['x'], [undefined]),
  value('[4, x]', () => [Buffer.alloc(4), 'x']),
];

export const TIMES = plain(
  1,
  0,
  1.5,
  -1,
  '2',
  '1.5',
  '',
  ' ',
  'x',
  new Date(1000),
  new Date(Number.NaN),
  new Date(-5000),
  undefined,
  null,
  true,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  5n,
  {},
  [],
  Symbol('s'),
  '2020-01-01',
  1e20,
);

export const OWNERS = plain(0, 1000, -1, -2, 2 ** 32 - 1, 2 ** 32, 1.5, '0', undefined, null, Number.NaN, {}, 5n, true);

export const SIZES = plain(
  2,
  0,
  undefined,
  null,
  8,
  -1,
  1.5,
  Number.NaN,
  5n,
  '2',
  true,
  {},
  Number.POSITIVE_INFINITY,
  2 ** 53,
);
