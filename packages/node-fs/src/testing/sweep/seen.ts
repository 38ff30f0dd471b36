import type { World } from './world.js';

/**
 * Returns the visible parts of a value as plain data, without the root and the file numbers of the world in any text.
 */
export function seen(value: unknown, world: World): unknown {
  switch (typeof value) {
    case 'string':
      return within(value, world).replace(LONG_NAME, 'a long name').replace(DRAWN, 'tmp-drawn');
    case 'function':
      return 'a function';
    case 'object':
      return value === null ? null : seenObject(value, world);
    default:
      return value;
  }
}

/**
 * Matches a name of 256 letters, with or without the random suffix of mkdtemp, and the shortened form that our messages
 * have of it.
 */
const LONG_NAME = /n{256}(\w{6})?|n{100,255}…?/g;
const DRAWN = /tmp-\w{6}/g;

function within(text: string, { root, fds }: World): string {
  // An empty path leads to the current directory, which is the root in ours.
  if (text === process.cwd()) return '/';
  const number = /type number \((\d+)\)/.exec(text)?.[1];
  const name = Object.entries(fds).find(([, fd]) => number === String(fd))?.[0];
  if (name !== undefined) return text.replace(`(${number})`, `(${name})`);
  return root === '' ? text : text.replaceAll(`${root}/`, '/').replaceAll(root, '/');
}

const KINDS = [
  'isFile',
  'isDirectory',
  'isSymbolicLink',
  'isFIFO',
  'isSocket',
  'isBlockDevice',
  'isCharacterDevice',
] as const;
/** Fields in which two filesystems may differ. */
const OWN_FIGURES = new Set([
  'dev',
  'ino',
  'blksize',
  'blocks',
  'atimeMs',
  'mtimeMs',
  'ctimeMs',
  'birthtimeMs',
  'atimeNs',
  'mtimeNs',
  'ctimeNs',
  'birthtimeNs',
]);

function seenObject(value: object, world: World): unknown {
  const name = value.constructor?.name;
  if (value instanceof Error) return seenError(value, world);
  if (ArrayBuffer.isView(value)) {
    return `${name} ${seen(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1'), world)}`;
  }
  if (Array.isArray(value)) return value.map((one) => seen(one, world));
  if (value instanceof Date) return 'Date';
  if (name === 'Stats' || name === 'BigIntStats') return seenStats(value, world);
  if (name === 'StatFs') return { class: name, kinds: entriesOf(value, (inner) => typeof inner) };
  if (name === 'Dirent') {
    const { name: entry, parentPath, path } = value as Record<string, unknown>;
    return {
      class: name,
      name: seen(entry, world),
      parentPath: seen(parentPath, world),
      path: seen(path, world),
      kinds: kindsOf(value),
    };
  }
  if (name === 'Dir') return { class: name, path: seen((value as { path: unknown }).path, world) };
  if (name === 'FileHandle') return { class: name, fd: typeof (value as { fd: unknown }).fd };
  if (value instanceof Blob) return { class: name, size: value.size, type: value.type };
  const prototype = Object.getPrototypeOf(value) === null ? 'null' : name;
  return { class: prototype, entries: entriesOf(value, (inner) => seen(inner, world)) };
}

/** Returns the entries in property order, which printing shows. */
function entriesOf(value: object, see: (inner: unknown) => unknown): [string, unknown][] {
  return Object.entries(value).map(([key, inner]) => [key, see(inner)]);
}

function kindsOf(value: object): unknown[] {
  const methods = value as Record<string, () => boolean>;
  return KINDS.filter((kind) => methods[kind]?.());
}

const DATES = ['atime', 'mtime', 'ctime', 'birthtime'];

function seenStats(value: object, world: World): unknown {
  const isDirectory = (value as { isDirectory(): boolean }).isDirectory();
  const own = entriesOf(value, (inner) => inner).filter(([key]) => !DATES.includes(key));
  const entries = own.map(([key, inner]) =>
    OWN_FIGURES.has(key) || (isDirectory && (key === 'size' || key === 'nlink'))
      ? [key, typeof inner]
      : [key, seen(inner, world)],
  );
  return {
    class: value.constructor.name,
    entries,
    kinds: kindsOf(value),
    dates: DATES.map((date) => seen((value as Record<string, unknown>)[date], world)),
  };
}

function seenError(error: Error, world: World): unknown {
  const { name, message } = error;
  const kind = error instanceof TypeError ? 'TypeError' : error instanceof RangeError ? 'RangeError' : 'Error';
  return {
    kind,
    name,
    message: seen(message, world),
    entries: Object.entries(error)
      .map(([key, inner]) => [key, seen(inner, world)])
      .sort(),
  };
}
