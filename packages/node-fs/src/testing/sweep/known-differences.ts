import type { Case, Form, Outcome } from './case.js';

/** An intended difference from Node 20: the cases it applies to, and the sentence of the README that states it. */
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
    sentence:
      'Callbacks are always called asynchronously; Node 20 calls some synchronously, such as that of a recursive `readdir`.',
    matches: (_, __, { theirs, ours }) => textOf(theirs).replace('toldAtOnce', 'told') === textOf(ours),
  },
  {
    sentence: 'A recursive `readdir` in another encoding lists everything; Node 20 loses deeper entries.',
    matches: ({ call, given }, _, { theirs }) =>
      call.name === 'readdir' && theirs.code === undefined && /recursive.*hex/.test(given[1]?.label ?? ''),
  },
  {
    sentence:
      '`readFile` with a descriptor and a callback fails if reading fails; Node 20 returns an empty Buffer or throws.',
    matches: ({ call }, form, { ours }) =>
      call.name === 'readFile' && isCalledBack(form) && (ours.code === 'EBADF' || ours.code === 'EISDIR'),
  },
  {
    sentence: 'On a remote storage `openAsBlob` rejects if the file does not exist; it cannot throw synchronously.',
    matches: ({ call }, _, { theirs, ours }) =>
      call.name === 'openAsBlob' && textOf(theirs).replace('"thrown"', '"rejected"') === textOf(ours),
  },
  {
    sentence: '`openAsBlob` keeps the content of the file at the time of the call, and refuses a directory.',
    matches: ({ call }, _, { theirs }) => call.name === 'openAsBlob' && theirs.code === undefined,
  },
  {
    sentence: '`COPYFILE_FICLONE_FORCE` always succeeds: copies share their contents until one changes.',
    matches: ({ call }, _, { theirs }) => ['copyFile', 'cp'].includes(call.name) && theirs.code === 'ENOTSUP',
  },
  {
    sentence: '`copyFile` from a directory is EISDIR, even if other arguments are wrong too.',
    matches: ({ call }, _, { ours }) => call.name === 'copyFile' && ours.code === 'EISDIR',
  },
  {
    sentence: '`cp` also accepts a path as bytes.',
    matches: (one) => one.call.name === 'cp' && /(Buffer|Uint8Array) \/f/.test(labels(one)),
  },
  {
    sentence: '`open` with the flags for reading only and writing only together is EINVAL.',
    matches: ({ call, given }) => call.name === 'open' && ['3', '-1'].includes(given[1]?.label ?? ''),
  },
  {
    sentence: '`realpath` refuses a value that is not a path; Node 20 converts it to a string.',
    matches: ({ call }, _, { ours }) => call.name === 'realpath' && ours.code === 'ERR_INVALID_ARG_TYPE',
  },
  {
    sentence: 'The first function among the arguments is the callback, even in another position.',
    matches: ({ call }, form, { theirs, ours }) =>
      ['read', 'write'].includes(call.name) &&
      isCalledBack(form) &&
      /"cb\\" argument/.test(textOf(theirs)) &&
      ours.code !== 'ERR_INVALID_ARG_TYPE',
  },
  {
    sentence: 'A promisified `writev` resolves to `buffers`, as its types say; Node 20 calls the property `buffer`.',
    matches: ({ call }, form, { theirs, ours }) =>
      call.name === 'writev' &&
      form === 'promisified' &&
      textOf(ours).replace('"buffers"', '"buffer"') === textOf(theirs),
  },
];

/** Differences that {@link Comparison} accepts in every call. */
export const ACCIDENTS: readonly string[] = [
  'If several arguments are wrong or missing, the error may name any of them.',
  'Arguments that make Node 20 fail without an error code are ERR_INVALID_ARG_TYPE.',
];
