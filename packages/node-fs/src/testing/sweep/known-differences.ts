import type { Case, Form, Outcome } from './case.js';

/** What is meant to differ from Node 20: where, and the sentence of the README that says so. */
export interface KnownDifference {
  readonly sentence: string;
  matches(one: Case, form: Form, outcomes: { readonly theirs: Outcome; readonly ours: Outcome }): boolean;
}

const isCalledBack = (form: Form): boolean => form === 'callback' || form === 'promisified';
const textOf = (outcome: Outcome): string =>
  JSON.stringify(outcome.result, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
const labels = ({ given }: Case): string => given.map(({ label }) => label).join(', ');

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    sentence: 'Callbacks are always called later; Node 20 calls some at once, as that of a recursive `readdir`.',
    matches: (_, __, { theirs, ours }) => textOf(theirs).replace('toldAtOnce', 'told') === textOf(ours),
  },
  {
    sentence: 'A recursive `readdir` in another encoding lists all; Node 20 loses what lies deeper.',
    matches: ({ call, given }, _, { theirs }) =>
      call.name === 'readdir' && theirs.code === undefined && /recursive.*hex/.test(given[1]?.label ?? ''),
  },
  {
    sentence:
      '`readFile` by a descriptor and with a callback fails where reading fails; Node 20 answers an empty Buffer, or stumbles.',
    matches: ({ call }, form, { ours }) =>
      call.name === 'readFile' && isCalledBack(form) && (ours.code === 'EBADF' || ours.code === 'EISDIR'),
  },
  {
    sentence: 'Over a far storage `openAsBlob` rejects where no file is; it cannot throw at once.',
    matches: ({ call }, _, { theirs, ours }) =>
      call.name === 'openAsBlob' && textOf(theirs).replace('"thrown"', '"rejected"') === textOf(ours),
  },
  {
    sentence: '`openAsBlob` keeps what the file holds when it is called, and refuses a directory.',
    matches: ({ call }, _, { theirs }) => call.name === 'openAsBlob' && theirs.code === undefined,
  },
  {
    sentence: '`COPYFILE_FICLONE_FORCE` always succeeds: copies share their contents until one changes.',
    matches: ({ call }, _, { theirs }) => ['copyFile', 'cp'].includes(call.name) && theirs.code === 'ENOTSUP',
  },
  {
    sentence: '`copyFile` from a directory is EISDIR, whatever else is wrong.',
    matches: ({ call }, _, { ours }) => call.name === 'copyFile' && ours.code === 'EISDIR',
  },
  {
    sentence: '`cp` takes bytes as a path too.',
    matches: (one) => one.call.name === 'cp' && /(Buffer|Uint8Array) \/f/.test(labels(one)),
  },
  {
    sentence: '`open` for reading only and for writing only at once is EINVAL.',
    matches: ({ call, given }) => call.name === 'open' && ['3', '-1'].includes(given[1]?.label ?? ''),
  },
  {
    sentence: '`realpath` refuses what is no path; Node 20 makes text of it.',
    matches: ({ call }, _, { ours }) => call.name === 'realpath' && ours.code === 'ERR_INVALID_ARG_TYPE',
  },
  {
    sentence: 'The first function among the arguments is the callback, also before or after its place.',
    matches: ({ call }, form, { theirs, ours }) =>
      ['read', 'write'].includes(call.name) &&
      isCalledBack(form) &&
      /"cb\\" argument/.test(textOf(theirs)) &&
      ours.code !== 'ERR_INVALID_ARG_TYPE',
  },
  {
    sentence: 'A promisified `writev` answers `buffers`, as its types say; Node 20 calls them `buffer`.',
    matches: ({ call }, form, { theirs, ours }) =>
      call.name === 'writev' &&
      form === 'promisified' &&
      textOf(ours).replace('"buffers"', '"buffer"') === textOf(theirs),
  },
];

/** What {@link Comparison} lets pass wherever it is. */
export const ACCIDENTS: readonly string[] = [
  'Of several arguments that are wrong any may be named, and so may one that is missing.',
  'What Node 20 stumbles over without a code of its own is ERR_INVALID_ARG_TYPE.',
];
