import { DISK_OPERATIONS, type OperationName } from '@scratchfs/testkit';
import { isIllFormed, lexical } from './virtual-path.js';

/** Name of an operation's argument. `path`, `from` and `to` are paths; `target` is a link's text. */
export type ArgumentName = 'path' | 'from' | 'to' | 'target' | 'mode';

/**
 * Treatment of a matching step:
 * - `normalize`: the disk gets the lexically resolved path instead, or keeps a link's text in an equivalent form, and
 *   must then return the same;
 * - `refuse`: the disk is not asked; the filesystem must fail with `code`, and the trees must stay equal;
 * - `ignore atime`: access times are not compared.
 */
export type Treatment =
  | { readonly kind: 'normalize' }
  | { readonly kind: 'refuse'; readonly code: string }
  | { readonly kind: 'ignore atime' };

/** An intended difference from a disk. A row matches an operation and a feature of one argument, nothing else. */
export interface IntendedDifference {
  readonly name: string;
  readonly why: string;
  readonly operations: readonly OperationName[];
  readonly arguments: readonly ArgumentName[];
  readonly feature: (argument: string) => boolean;
  readonly treatment: Treatment;
}

const PATHS = ['path', 'from', 'to'] as const;

const READS = [
  'readFile',
  'readText',
  'readLines',
  'readdir',
  'entries',
  'readlink',
  'walk',
  'getEntry',
  'editFile',
] as const;

const segments = (path: string) => path.split(/[/\\]/).filter((segment) => segment !== '');

export const INTENDED_DIFFERENCES: readonly IntendedDifference[] = [
  {
    name: 'lexical dots',
    why: '`..` in a path that is given takes one name back, whatever that name is; a final `.` says nothing',
    operations: DISK_OPERATIONS,
    arguments: PATHS,
    feature: (path) => segments(path).includes('..') || segments(path).at(-1) === '.',
    treatment: { kind: 'normalize' },
  },
  {
    name: 'backslash',
    why: '`\\` separates names like `/`, in the text of a link too',
    operations: DISK_OPERATIONS,
    arguments: [...PATHS, 'target'],
    feature: (path) => path.includes('\\'),
    treatment: { kind: 'normalize' },
  },
  {
    name: 'trailing slash',
    why: 'a trailing `/` is ignored',
    operations: DISK_OPERATIONS,
    arguments: PATHS,
    feature: (path) => /[/\\]$/.test(path) && lexical(path) !== '/',
    treatment: { kind: 'normalize' },
  },
  {
    name: 'trailing slash of a link',
    why: 'a trailing `/` is ignored in the text of a link too',
    operations: ['symlink'],
    arguments: ['target'],
    feature: (target) => /[^/]\/+$/.test(target),
    treatment: { kind: 'normalize' },
  },
  {
    name: 'relative path',
    why: 'a relative path starts at the root',
    operations: DISK_OPERATIONS,
    arguments: PATHS,
    feature: (path) => /^[^/\\]/.test(path),
    treatment: { kind: 'normalize' },
  },
  {
    name: 'ill-formed name',
    why: 'text that UTF-8 cannot express is refused',
    operations: DISK_OPERATIONS.filter((operation) => !['exists', 'isFile', 'isDirectory'].includes(operation)),
    arguments: [...PATHS, 'target'],
    feature: isIllFormed,
    treatment: { kind: 'refuse', code: 'EINVAL' },
  },
  {
    name: 'reads leave atime',
    why: 'reading changes nothing, the access time included',
    operations: READS,
    arguments: ['path'],
    feature: () => true,
    treatment: { kind: 'ignore atime' },
  },
];
