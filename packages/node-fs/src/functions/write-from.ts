import { type Given, toOptions } from '../arguments/options.js';
import type { Descriptor } from '../descriptors.js';
import { coded } from '../errors/argument-errors.js';
import { abortError } from '../errors/node-error.js';
import { received } from '../errors/received.js';
import { awaited, type FsProcedure, runAsync } from '../fs-driver.js';
import { type Facade, type NodeFunction, nodeFunction } from '../node-function.js';
import { toContent, toWrite, type Write, withFile, writeSomething } from './contents.js';

type Source = Iterable<unknown> | AsyncIterable<unknown>;

interface WriteFrom {
  readonly write: Write;
  /** The iterated source, unless the data is content itself. */
  readonly source: Source | undefined;
  readonly options: Given;
}

/** `writeFile` or `appendFile` of promises: also writes the pieces of an iterable, one after another. */
function writeFromOf(fallback: 'w' | 'a'): NodeFunction<WriteFrom, void> {
  return nodeFunction(
    3,
    (facade, file, data, given) => {
      const options = toOptions(given, facade.platform);
      const source = isSource(data) ? data : undefined;
      const content = source === undefined ? toContent(facade, data, options) : '';
      return { write: toWrite(facade, file, content, options, fallback), source, options };
    },
    (facade, { write, source, options }) =>
      source === undefined ? writeSomething(facade, write) : runAsync(writeTo(facade, write, source, options)),
  );
}

export const writeFrom = writeFromOf('w');
export const appendFrom = writeFromOf('a');

function isSource(data: unknown): data is Source {
  if (typeof data !== 'object' || data === null || ArrayBuffer.isView(data)) return false;
  return Symbol.iterator in data || Symbol.asyncIterator in data;
}

function* writeTo(facade: Facade, write: Write, source: Source, options: Given): FsProcedure<void> {
  const { file, flags, mode, signal } = write;
  if (signal?.aborted) throw abortError(signal);
  const use = (opened: Descriptor) => writePieces(facade, opened, source, options, signal);
  if (typeof file === 'number') yield* awaited(use(facade.descriptors.get(file, 'write')));
  else yield* withFile(facade, file, flags, mode, use);
}

/**
 * Writes the pieces. If a write fails, or the signal is found aborted before or after one, the source is closed: a
 * generator's `return` runs, a stream is destroyed.
 */
async function writePieces(
  facade: Facade,
  opened: Descriptor,
  source: Source,
  options: Given,
  signal: AbortSignal | undefined,
): Promise<void> {
  const check = (): void => {
    if (signal?.aborted) throw abortError(signal);
  };
  for await (const piece of source) {
    check();
    await opened.write(toPiece(facade, piece, options), null);
    check();
  }
}

/** Returns a piece as text or bytes. An ArrayBuffer and an array of numbers are accepted too. */
function toPiece(facade: Facade, value: unknown, options: Given): string | Uint8Array {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (Array.isArray(value)) return Uint8Array.from(value as number[]);
  if (typeof value === 'string' || ArrayBuffer.isView(value)) return toContent(facade, value, options);
  const expected = 'of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object';
  const message = `The first argument must be ${expected}. Received ${received(value)}`;
  throw coded(new TypeError(message), 'ERR_INVALID_ARG_TYPE');
}
