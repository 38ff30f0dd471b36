import { describe, expect, it } from 'vitest';
import { isNode20 } from '../testing/node-version.js';
import { onBoth, onBothLater } from '../testing/twin.js';

type Bad = readonly [call: string, ...given: unknown[]];

const paths: Bad[] = [
  ['stat'],
  ['stat', undefined],
  ['stat', null],
  ['stat', 5],
  ['stat', -0],
  ['stat', Number.NaN],
  ['stat', true],
  ['stat', 10n],
  ['stat', Symbol('s')],
  ['stat', () => {}],
  ['stat', function named() {}],
  ['stat', {}],
  ['stat', []],
  ['stat', new Map()],
  ['stat', Object.create(null)],
  ['stat', new URL('http://x/y')],
  ['stat', new URL('file://host/y')],
  ['stat', new URL('file:///a%2Fb')],
  ['stat', 'a\0b'],
  ['stat', Buffer.from('a\0b')],
  ['stat', `${'long'.repeat(60)}\0`],
  ['stat', "it's\0"],
  ['lstat', 5],
  ['readdir', 5],
  ['readlink', 5],
  ['rename', 5, '/a'],
  ['rename', '/a', 5],
  ['rename', '/a', '/b\0'],
  ['link', 5, '/a'],
  ['link', '/a', 5],
  ['symlink', 5, '/a'],
  ['symlink', '/a', 5],
  ['copyFile', 5, '/a'],
  ['copyFile', '/a', 5],
  ['unlink', 5],
  ['rmdir', 5],
  ['rm', 5],
  ['mkdir', 5],
  ['mkdtemp', 5],
  ['chmod', 5, 0o644],
  ['chown', 5, 0, 0],
  ['utimes', 5, 0, 0],
  ['truncate', {}],
  ['readFile', {}],
  ['writeFile', {}, 'x'],
  ['appendFile', {}, 'x'],
  ['open', 5],
  ['opendir', 5],
  ['access', 5],
  ['cp', 5, '/a'],
  ['cp', '/a', 5],
  ['statfs', 5],
];

const options: Bad[] = [
  ['readFile', '/a', 5],
  ['readFile', '/a', 'nothing'],
  ['readFile', '/a', { encoding: 'nothing' }],
  ['readFile', '/a', { encoding: 5 }],
  ['readFile', '/a', { flag: 'q' }],
  ['readFile', '/a', { signal: 5 }],
  ['readdir', '/', 5],
  ['readdir', '/', 'nothing'],
  ['readlink', '/a', 'nothing'],
  ['mkdtemp', '/a', 'nothing'],
  ['writeFile', '/a', 'x', { mode: '9' }],
  ['writeFile', '/a', 'x', { mode: -1 }],
  ['writeFile', '/a', 'x', { mode: 2 ** 40 }],
  ['writeFile', '/a', 'x', { mode: 1.5 }],
  ['writeFile', '/a', 'x', { flush: 1 }],
  ['writeFile', '/a', 'x', { flag: 'q' }],
  ['writeFile', '/a', 5],
  ['writeFile', '/a', undefined],
  ['writeFile', '/a', {}],
  ['writeFile', '/a', null],
  ['appendFile', '/a', 5],
  ['mkdir', '/a', { recursive: 1 }],
  ['mkdir', '/a', { mode: 'x' }],
  ['mkdir', '/a', 'x'],
  ['rm', '/a', 5],
  ['rm', '/a', null],
  ['rm', '/a', { recursive: 1 }],
  ['rm', '/a', { force: 'yes' }],
  ['rm', '/a', { maxRetries: -1 }],
  ['rm', '/a', { retryDelay: 1.5 }],
  ['rmdir', '/a', 5],
  ['cp', '/a', '/b', 5],
  ['cp', '/a', '/b', { recursive: 1 }],
  ['cp', '/a', '/b', { filter: 1 }],
  ['cp', '/a', '/b', { mode: 99 }],
  ['cp', '/a', '/b', { dereference: true, verbatimSymlinks: true }],
  ['symlink', '/a', '/b', 'kind'],
];

const numbers: Bad[] = [
  ['chmod', '/a', undefined],
  ['chmod', '/a', 'x'],
  ['chmod', '/a', 1.5],
  ['chmod', '/a', 2 ** 33],
  ['chown', '/a', 'x', 0],
  ['chown', '/a', 0, 'x'],
  ['chown', '/a', -2, 0],
  ['chown', '/a', 2 ** 33, 0],
  ['chown', '/a', 1.5, 0],
  ['lchown', '/a', 0, -2],
  ['access', '/', 9],
  ['access', '/', 'x'],
  ['copyFile', '/a', '/b', 99],
  ['copyFile', '/a', '/b', 'x'],
  ['utimes', '/a', {}, 0],
  ['utimes', '/a', 0, 'x'],
  ['utimes', '/a', null, 0],
  ['utimes', '/a', Number.POSITIVE_INFINITY, 0],
  ['lutimes', '/a', 0, Number.NaN],
  ['open', '/a', 'q'],
  ['open', '/a', {}],
  ['open', '/a', 1.5],
  ['open', '/a', 2 ** 40],
  ['open', '/a', 'r', 'x'],
  ['open', '/a', 'r', -1],
];

const descriptors: Bad[] = [
  ['close'],
  ['close', 'x'],
  ['close', -1],
  ['close', 1.5],
  ['close', 2 ** 31],
  ['fstat', 'x'],
  ['fsync', {}],
  ['fdatasync', -1],
  ['fchmod', 'x', 0o644],
  ['fchmod', 5, 'x'],
  ['fchown', 5, 'x', 0],
  ['fchown', 'x', 0, 0],
  ['ftruncate', 'x'],
  ['ftruncate', 5, 'x'],
  ['futimes', 5, {}, 0],
  ['futimes', 'x', 0, 0],
  ['read', 'x', new Uint8Array(1), 0, 1, 0],
  ['read', 9999, 'x', 0, 1, 0],
  ['read', 9999, new Uint8Array(1), -1, 1, 0],
  ['read', 9999, new Uint8Array(1), 'x', 1, 0],
  ['read', 9999, new Uint8Array(1), 0, -1, 0],
  ['read', 9999, new Uint8Array(1), 0, 2, 0],
  ['read', 9999, new Uint8Array(1), 1, 1, 0],
  ['read', 9999, new Uint8Array(0), 0, 1, 0],
  ['read', 9999, new Uint8Array(1), 0, 1, 'x'],
  ['read', 9999, new Uint8Array(1), 0, 1, -2],
  ['read', 9999, new Uint8Array(1), 0, 1, 1.5],
  ['read', 9999, new Uint8Array(1), 0, 1, 2n ** 64n],
  ['read', 9999, new Uint8Array(1), { offset: 9 }],
  ['read', 9999, new Uint8Array(1), 5],
  ['readv', 5, 'x'],
  ['readv', 5, [1]],
  ['write', 'x', new Uint8Array(1)],
  ['write', 5, 5],
  ['write', 5, {}],
  ['write', 9999, new Uint8Array(1), 2],
  ['write', 9999, new Uint8Array(1), 'x'],
  ['write', 9999, new Uint8Array(1), 0, 2],
  ['write', 9999, new Uint8Array(1), 0, -1],
  ['write', 5, 'abc', null, 'hex'],
  ['writev', 5, {}],
  ['writev', 5, [1]],
];

/** Calls whose messages are different in later versions of Node. */
const ONLY_NODE_20 = [
  'stat(URL)',
  'readlink(5)',
  'mkdir(/a, Object)',
  'symlink(/a, /b, kind)',
  'read(9999, Uint8Array, 0, 1, 18446744073709551616)',
];

const titleOf = ([name, ...given]: Bad): string => `${name}(${show(given)})`;
const isCompared = (bad: Bad): boolean => isNode20 || !ONLY_NODE_20.includes(titleOf(bad));

const everywhere = [...paths, ...options, ...numbers].filter(isCompared);

function show(given: readonly unknown[]): string {
  return given
    .map((one) => (typeof one === 'object' && one !== null ? (one.constructor?.name ?? 'null') : String(one)))
    .join(', ')
    .replaceAll('\0', '\\0');
}

const titled = (list: readonly Bad[]) => list.map((bad) => [titleOf(bad), bad[0], bad.slice(1)] as const);

type Call = (...given: readonly unknown[]) => unknown;
const call = (holder: unknown, name: string, given: readonly unknown[]): unknown =>
  (holder as Record<string, Call>)[name]?.(...given);

const FULL: Readonly<Record<string, unknown[]>> = {
  rename: ['/a', '/b'],
  read: [9999, new Uint8Array(1), 0, 1, 0],
  exists: ['/a'],
  open: ['/a', 'r', 0o644],
};

describe('bad arguments fail with the messages of node:fs', () => {
  it.each(titled([...everywhere, ...descriptors.filter(isCompared)]))(
    'thrown by the synchronous %s',
    (_, name, given) => {
      const { host, own } = onBoth((fs) => call(fs, `${name}Sync`, given));
      expect(own).toEqual(host);
      expect(own).toHaveProperty('error.code');
    },
  );

  it.each(titled([...everywhere, ...descriptors.filter(isCompared)]))(
    'thrown to the caller of the callback form %s',
    (_, name, given) => {
      // The filesystem's own errors go to the callback; an invalid argument throws, before Node would call the kernel.
      const { host, own } = onBoth((fs) => {
        let heard: unknown;
        call(fs, name, [...(given.length === 0 ? [undefined] : given), (error: unknown) => (heard = error)]);
        return heard;
      });
      expect(own).toEqual(host);
    },
  );

  it.each(titled(everywhere))('thrown by the callback form %s', async (_, name, given) => {
    const { host, own } = await onBothLater(async (fs) => call(fs.promises, name, given));
    expect(own).toEqual(host);
    expect(own).toHaveProperty('error.code');
  });

  it.each(['x', 1.5, null])('by truncate to a length of %j', (length) => {
    const { host, own } = onBoth((fs, at) => {
      fs.writeFileSync(at('/a'), '');
      fs.truncateSync(at('/a'), length as never);
    });
    expect(own).toEqual(host);
    expect(own).toHaveProperty('error.code');
  });

  // Node 20 throws this asynchronously, after it has opened the directory, so that no caller can catch it.
  it.each([0, 'x'])('by opendirSync for %j entries at a time', (bufferSize) => {
    const { host, own } = onBoth((fs, at) => fs.opendirSync(at('/'), { bufferSize } as never));
    expect(own).toEqual(host);
  });

  it.each(['stat', 'readFile', 'mkdir', 'rename', 'read', 'exists', 'open', 'glob'])(
    'for an invalid callback of %s',
    (name) => {
      const given = FULL[name] ?? ['/a', undefined];
      for (const callback of [undefined, 'x', {}]) {
        const { host, own } = onBoth((fs) => call(fs, name, [...given, callback]));
        if (name !== 'glob') expect(own).toEqual(host);
        expect(own).toMatchObject({ error: { code: 'ERR_INVALID_ARG_TYPE' } });
      }
    },
  );
});
