import type { Call } from './case.js';
import {
  BAD,
  BUFFERS,
  DATA,
  DIRECTORIES,
  encodingOptions,
  FDS,
  FLAGS,
  goodPaths,
  LENGTHS,
  MODES,
  OFFSETS,
  OFFSETS_OF_HANDLES,
  OWNERS,
  POSITIONS,
  type Pool,
  PREFIXES,
  paths,
  plain,
  READABLE_OPTIONS,
  READING_FIRST,
  SIZES,
  TIMES,
  VECTORS,
} from './values.js';

const FILE_AND_FDS: Pool = [...paths('/f'), ...FDS];
const STAT_OPTIONS: Pool = [
  ...plain(
    undefined,
    { bigint: true },
    { bigint: 1 },
    { throwIfNoEntry: false },
    { throwIfNoEntry: false, bigint: true },
    { throwIfNoEntry: true },
  ),
  ...BAD,
];
const FLAG_OPTIONS = ['r', 'r+', 'w', 'wx', 'a', 'ax+', 'R', '', null, 777, {}, 2].map((flag) => ({ flag }));
const WRITE_OPTIONS = [
  ...FLAG_OPTIONS,
  ...[0o600, '600', 'rw', -1, {}, null, 2 ** 32].map((mode) => ({ mode })),
  ...[true, 1, null, 'x'].map((flush) => ({ flush })),
];
const FLAGS_OF_COPY = [
  'dereference',
  'errorOnExist',
  'force',
  'preserveTimestamps',
  'recursive',
  'verbatimSymlinks',
].flatMap((name) =>
  [true, false, 1, null, undefined].map((given) => ({
    [name]: given,
    ...(name === 'recursive' ? {} : { recursive: true }),
  })),
);
const COPY_OPTIONS: Pool = [
  ...plain({ recursive: true }, undefined),
  ...plain(...FLAGS_OF_COPY),
  ...plain(
    { dereference: true, verbatimSymlinks: true },
    { force: false, errorOnExist: true, recursive: true },
    { force: false, errorOnExist: true },
    ...[0, 1, 2, 7, 8, -1, 1.5, 'x', null].map((mode) => ({ mode, recursive: true })),
    ...[777, null, 'x'].map((filter) => ({ filter })),
    { filter: () => false },
    { filter: (from: string) => !from.endsWith('a'), recursive: true },
    { filter: () => Promise.resolve(true) },
  ),
  ...BAD,
];
const REMOVAL_OPTIONS: Pool = [
  ...plain(undefined, { recursive: true }, { force: true }, { recursive: true, force: true }),
  ...plain(...['recursive', 'force'].flatMap((name) => [1, null, 'x', undefined].map((given) => ({ [name]: given })))),
  ...plain(
    ...['maxRetries', 'retryDelay'].flatMap((name) =>
      [1, -1, 1.5, 'x', null, 2 ** 32].map((given) => ({ [name]: given })),
    ),
  ),
  ...BAD,
];
const MKDIR_OPTIONS: Pool = [
  ...plain(
    undefined,
    { recursive: true },
    { recursive: true, mode: 0o700 },
    { mode: '700' },
    { mode: 0o7777 },
    { mode: 'rw' },
    { mode: -1 },
    { mode: null },
    { recursive: 1 },
    { recursive: null },
    { recursive: undefined },
  ),
  ...MODES,
];

const PATH_CALLS: readonly Call[] = [
  {
    name: 'access',
    places: [
      paths('/f'),
      plain(undefined, 0, 1, 2, 4, 7, 8, -1, 1.5, Number.NaN, 'x', null, true, {}, 5n, 2 ** 31, 2 ** 32),
    ],
  },
  { name: 'appendFile', places: [FILE_AND_FDS, DATA, encodingOptions(...WRITE_OPTIONS)], touches: true },
  { name: 'chmod', places: [paths('/f'), MODES] },
  { name: 'chown', places: [paths('/f'), OWNERS, OWNERS] },
  {
    name: 'copyFile',
    places: [
      paths('/f', '/w'),
      paths('/new', '/w', '/d/a'),
      plain(undefined, 0, 1, 2, 3, 4, 8, -1, 1.5, 'x', null, {}, 5n),
    ],
  },
  { name: 'cp', places: [paths('/d', '/w'), paths('/new', '/d/b', '/d/b/new', '/new/deep', '/w'), COPY_OPTIONS] },
  { name: 'cp', places: [paths('/f', '/w', '/l'), paths('/w', '/new', '/d/a'), COPY_OPTIONS] },
  { name: 'copyFile', places: [goodPaths('/d', '/e'), goodPaths('/missing/x', '/f', '/d/new')] },
  { name: 'exists', places: [paths('/f')] },
  { name: 'lchown', places: [paths('/l'), OWNERS, OWNERS] },
  { name: 'link', places: [paths('/f', '/w'), paths('/new', '/d/new')] },
  { name: 'lstat', places: [paths('/l'), STAT_OPTIONS] },
  { name: 'lutimes', places: [paths('/l'), TIMES, TIMES] },
  { name: 'mkdir', places: [paths('/new', '/new/deep', '/d/b/deep/er'), MKDIR_OPTIONS] },
  { name: 'mkdtemp', places: [PREFIXES, READABLE_OPTIONS] },
  { name: 'open', places: [paths('/f', '/new'), FLAGS, MODES], touches: true },
  { name: 'open', places: [paths('/new', '/f'), plain('w', 'wx', 'a+', 'r'), MODES], touches: true },
  {
    name: 'openAsBlob',
    places: [
      paths('/f'),
      plain(
        undefined,
        { type: 'text/plain' },
        { type: 777 },
        { type: null },
        { type: '' },
        { type: {} },
        null,
        777,
        'x',
        [],
        () => {},
      ),
    ],
  },
  {
    name: 'opendir',
    places: [
      paths('/d'),
      encodingOptions(
        { bufferSize: 1 },
        ...[0, 1.5, 'x', null].map((bufferSize) => ({ bufferSize })),
        { recursive: true },
        { recursive: 1 },
      ),
    ],
    touches: true,
    uncatchable: /bufferSize":[^1]|bufferSize":1\./,
  },
  {
    name: 'readdir',
    places: [
      paths('/d'),
      encodingOptions(
        { withFileTypes: true },
        { withFileTypes: 1 },
        { recursive: true },
        { recursive: 1 },
        { recursive: null },
        { recursive: true, withFileTypes: true },
        { withFileTypes: true, encoding: 'buffer' },
        { recursive: true, encoding: 'hex' },
      ),
    ],
  },
  {
    name: 'readdir',
    places: [DIRECTORIES, plain({ withFileTypes: true }, { withFileTypes: true, encoding: 'buffer' })],
  },
  {
    name: 'opendir',
    places: [DIRECTORIES],
    touches: true,
  },
  {
    name: 'readFile',
    places: [FILE_AND_FDS, encodingOptions(...FLAG_OPTIONS)],
    touches: true,
    uncatchable: /^-1$/,
  },
  { name: 'readlink', places: [paths('/l'), encodingOptions()] },
  { name: 'realpath', places: [[...goodPaths('/l'), ...plain('', Buffer.alloc(0))], READABLE_OPTIONS] },
  { name: 'realpath.native', places: [paths('/l'), READABLE_OPTIONS] },
  { name: 'rename', places: [paths('/f', '/w'), paths('/new', '/d/new', '/w')] },
  { name: 'rename', places: [paths('/d', '/e'), paths('/e', '/new', '/d/b', '/d/b/x')] },
  { name: 'rm', places: [paths('/f'), REMOVAL_OPTIONS] },
  { name: 'rm', places: [paths('/d'), REMOVAL_OPTIONS] },
  { name: 'rmdir', places: [paths('/e'), REMOVAL_OPTIONS] },
  { name: 'stat', places: [paths('/f'), STAT_OPTIONS] },
  { name: 'statfs', places: [paths('/'), plain(undefined, { bigint: true }, { bigint: 1 }, null, 777, 'x')] },
  {
    name: 'symlink',
    places: [
      [...plain('target', 'a'.repeat(300), '/absolute'), ...paths('/f')],
      paths('/new', '/d/new'),
      plain(undefined, null, 'file', 'dir', 'junction', 'x', '', 777, {}, true),
    ],
  },
  { name: 'truncate', places: [FILE_AND_FDS, SIZES], touches: true },
  { name: 'unlink', places: [paths('/f')] },
  { name: 'utimes', places: [paths('/f'), TIMES, TIMES] },
  { name: 'writeFile', places: [FILE_AND_FDS, DATA, encodingOptions(...WRITE_OPTIONS)], touches: true },
];

const FD_CALLS: readonly Call[] = [
  { name: 'close', places: [FDS], method: 'close' },
  { name: 'fchmod', places: [FDS, MODES], method: 'chmod' },
  { name: 'fchown', places: [FDS, OWNERS, OWNERS], method: 'chown' },
  { name: 'fdatasync', places: [FDS], method: 'datasync' },
  { name: 'fstat', places: [FDS, STAT_OPTIONS], method: 'stat' },
  { name: 'fsync', places: [FDS], method: 'sync' },
  { name: 'ftruncate', places: [FDS, SIZES], method: 'truncate' },
  { name: 'futimes', places: [FDS, TIMES, TIMES], method: 'utimes' },
  { name: 'read', places: [FDS, BUFFERS, OFFSETS, LENGTHS, POSITIONS] },
  { name: 'read', places: [FDS, BUFFERS, OFFSETS] },
  { name: 'read', places: [FDS, BUFFERS] },
  { name: 'readv', places: [FDS, VECTORS, POSITIONS], method: 'readv' },
  { name: 'write', places: [FDS, [...BUFFERS, ...DATA], OFFSETS, LENGTHS, POSITIONS], method: 'write' },
  {
    name: 'write',
    places: [FDS, DATA, POSITIONS, plain('utf8', undefined, 'hex', 'latin1', 'bogus', null, 5, 'base64')],
    method: 'write',
  },
  { name: 'writev', places: [FDS, VECTORS, POSITIONS], method: 'writev' },
];

const CONTENT_CALLS: readonly Call[] = [
  { name: 'writeFile', forms: ['sync', 'callback'], places: [READING_FIRST, DATA] },
  { name: 'appendFile', forms: ['sync', 'callback'], places: [READING_FIRST, DATA] },
];

export const CALLS: readonly Call[] = [
  ...PATH_CALLS,
  ...[...CONTENT_CALLS, ...FD_CALLS].map((call) => ({ ...call, touches: true })),
];

/** Functions that only a FileHandle has in this form. */
export const HANDLE_CALLS: readonly Call[] = [
  // Some other lengths crash Node 20.
  {
    name: 'read',
    places: [FDS, BUFFERS, OFFSETS_OF_HANDLES, plain(4, undefined, null, 0, 1, 3, 5, 100, -1), POSITIONS],
    method: 'read',
  },
  { name: 'read', places: [FDS, BUFFERS, OFFSETS_OF_HANDLES], method: 'read' },
  { name: 'read', places: [FDS, BUFFERS], method: 'read' },
  { name: 'readFile', places: [FDS, encodingOptions()], method: 'readFile' },
  { name: 'writeFile', places: [FDS, DATA, encodingOptions()], method: 'writeFile' },
  { name: 'appendFile', places: [FDS, DATA, encodingOptions()], method: 'appendFile' },
];
