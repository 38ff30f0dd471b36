import { bytesOf, checkData } from '../arguments/buffers.js';
import { toFlags } from '../arguments/flags.js';
import { toMode } from '../arguments/mode.js';
import { type Given, toOptions } from '../arguments/options.js';
import { toPath } from '../arguments/paths.js';
import { checkBoolean, checkFd, isFd } from '../arguments/values.js';
import type { Descriptor } from '../descriptors.js';
import { abortError } from '../errors/node-error.js';
import { awaited, type Eventual, type FsProcedure } from '../fs-driver.js';
import { type Facade, type NodeFunction, nodeFunction } from '../node-function.js';
import { flagName, openFile } from '../open-file.js';

/** Opens a file, calls `use`, and closes the file, also after a failure. */
export function* withFile<R>(
  { driver }: Facade,
  path: string,
  flags: number,
  mode: number,
  use: (file: Descriptor) => Eventual<R>,
): FsProcedure<R> {
  const file = yield* awaited(openFile(driver, path, flags, mode));
  try {
    return yield* awaited(use(file));
  } finally {
    yield* awaited(file.file.close());
  }
}

/** Runs work that ends with an AbortError if the caller's signal aborts it. */
function* abortable<R>(signal: AbortSignal, work: () => Eventual<R>): FsProcedure<R> {
  if (signal.aborted) throw abortError(signal);
  try {
    return yield* awaited(work());
  } catch (error) {
    throw signal.aborted && error === signal.reason ? abortError(signal) : error;
  }
}

/** Mode that the filesystem gives a new file by default. */
const DEFAULT_MODE = 0o644;

interface Read {
  readonly file: string | number;
  readonly flags: number;
  readonly encoding: string | undefined;
  readonly signal: AbortSignal | undefined;
}

function readOf(flagOfNone: 'r' | ''): NodeFunction<Read, string | Uint8Array> {
  return nodeFunction(
    2,
    ({ platform }, file, options) => {
      const { encoding, signal, flag } = toOptions(options, platform);
      return {
        flags: toFlags(flag === '' ? flagOfNone : flag, 'options.flag'),
        file: isFd(file) ? checkFd(file) : toPath(file),
        encoding: (encoding || undefined) as string | undefined,
        signal: signal as AbortSignal | undefined,
      };
    },
    (facade, read) =>
      read.signal === undefined
        ? readAll(facade, read)
        : facade.driver.run(abortable(read.signal, () => readAll(facade, read))),
  );
}

export const readFile = readOf('');
/** `readFile` of promises: an empty flag means the default one. */
export const readFileLater = readOf('r');

function readAll(facade: Facade, read: Read): Eventual<string | Uint8Array> {
  const { driver, platform } = facade;
  const { file, flags, encoding, signal } = read;
  const options = signal === undefined ? undefined : { signal };
  if (typeof file === 'string' && flags === 0 && (encoding === 'utf8' || encoding === 'utf-8')) {
    return options === undefined ? driver.fs.readText(file) : driver.fs.readText(file, options);
  }
  const bytes = readBytes(facade, read, options);
  return encoding === undefined
    ? driver.map<Uint8Array<ArrayBuffer>, Uint8Array>(bytes, platform.bytes)
    : driver.map(bytes, (all) => platform.decode(all, encoding));
}

function readBytes(
  facade: Facade,
  { file, flags }: Read,
  options: { signal: AbortSignal } | undefined,
): Eventual<Uint8Array<ArrayBuffer>> {
  const { driver, descriptors } = facade;
  if (typeof file === 'number') return descriptors.get(file, 'fstat').readFile();
  if (flags !== 0)
    return driver.run(withFile(facade, file, flags, 0o666 & ~facade.umask, (opened) => opened.readFile()));
  return options === undefined ? driver.fs.readFile(file) : driver.fs.readFile(file, options);
}

export interface Write {
  readonly file: string | number;
  readonly data: string | Uint8Array;
  readonly flags: number;
  readonly mode: number;
  readonly signal: AbortSignal | undefined;
}

function writeOf(fallback: 'w' | 'a'): NodeFunction<Write, void> {
  return nodeFunction(
    3,
    (facade, file, data, options) => {
      const given = toOptions(options, facade.platform);
      const write = toWrite(facade, file, toContent(facade, data, given), given, fallback);
      if (typeof file === 'number') checkFd(file);
      return write;
    },
    writeAll,
  );
}

/** The synchronous form. With nothing to write to a descriptor, it does not even check that the file is open. */
function writeSyncOf(fallback: 'w' | 'a'): NodeFunction<Write, void> {
  return nodeFunction(
    3,
    (facade, file, data, options) => {
      const given = toOptions(options, facade.platform);
      return toWrite(facade, file, toContent(facade, data, given), given, fallback);
    },
    writeSomething,
  );
}

/** Writes. Empty data to a descriptor does nothing. */
export function writeSomething(facade: Facade, write: Write): Eventual<void> {
  return typeof write.file === 'number' && write.data.length === 0 ? undefined : writeAll(facade, write);
}

/** Checks the arguments of a write. */
export function toWrite(
  facade: Facade,
  file: unknown,
  data: string | Uint8Array,
  { flush, flag, mode, signal }: Given,
  fallback: 'w' | 'a',
): Write {
  if (flush !== undefined && flush !== null) checkBoolean(flush, 'options.flush');
  return {
    file: isFd(file) ? file : toPath(file),
    data,
    flags: toFlags(flag || fallback),
    mode: toMode(mode, 0o666) & ~facade.umask,
    signal: signal as AbortSignal | undefined,
  };
}

export function toContent({ platform }: Facade, data: unknown, { encoding }: Given): string | Uint8Array {
  const content = checkData(data, 'data');
  if (typeof content !== 'string') return bytesOf(content);
  return !encoding || encoding === 'utf8' || encoding === 'utf-8'
    ? content
    : platform.encode(content, encoding as string);
}

export function writeAll(facade: Facade, write: Write): Eventual<void> {
  const { signal } = write;
  return signal === undefined
    ? writeNow(facade, write)
    : facade.driver.run(abortable(signal, () => writeNow(facade, write)));
}

function writeNow(facade: Facade, { file, data, flags, mode, signal }: Write): Eventual<void> {
  const { driver, descriptors } = facade;
  if (typeof file === 'number') return driver.map(descriptors.get(file, 'write').write(data, null), noAnswer);
  const flag = flagName(flags);
  // The filesystem's defaults are left out, because checking them takes time.
  if (flag === 'w' && mode === DEFAULT_MODE && signal === undefined) return driver.fs.writeFile(file, data);
  switch (flag) {
    case 'w':
    case 'wx':
    case 'r+':
    case 'a':
    case 'ax':
      return driver.fs.writeFile(file, data, signal === undefined ? { flag, mode } : { flag, mode, signal });
    default:
      return driver.map(
        driver.run(withFile(facade, file, flags, mode, (opened) => opened.write(data, null))),
        noAnswer,
      );
  }
}

function noAnswer(): void {}

export const writeFile = writeOf('w');
export const appendFile = writeOf('a');
export const writeFileSync = writeSyncOf('w');
export const appendFileSync = writeSyncOf('a');
