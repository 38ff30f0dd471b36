import { checkInteger, checkMode, checkOneOf, checkOptions } from './engine/arguments.js';
import { internalsOf } from './engine/internals.js';
import type { FileHandle } from './file-handle.js';
import type { Content, FileSystem, ReadStreamOptions, WriteStreamOptions } from './file-system.js';
import { checkHandle } from './handle.js';
import { type Path, pathOf } from './paths.js';

const DEFAULT_CHUNK_BYTES = 65_536;
/** Bytes per read from a remote storage if the chunks are smaller, so that several chunks need one request. */
const REMOTE_READ_BYTES = 2 ** 20;
/** Maximum bytes of a chunk: space for a whole chunk is allocated before it is known how much there is to read. */
const MAX_CHUNK_BYTES = 2 ** 24;
const WRITE_FLAGS = ['w', 'wx', 'r+', 'a', 'ax'] as const;

/**
 * Streams a file, or a range of it. The file is opened at the first read and closed at the end, on an error, and by
 * `cancel`.
 */
export function readStream(
  fileSystem: FileSystem,
  from: Path,
  options?: ReadStreamOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const path = pathOf(from);
  const given = checkOptions(options, ['start', 'end', 'highWaterMark'], 'createReadStream');
  let position = given.start === undefined ? 0 : checkInteger(given.start, 'start');
  const last = given.end === undefined ? Number.POSITIVE_INFINITY : checkInteger(given.end, 'end');
  const size = Math.min(
    given.highWaterMark === undefined ? DEFAULT_CHUNK_BYTES : checkInteger(given.highWaterMark, 'highWaterMark', 1),
    MAX_CHUNK_BYTES,
  );
  if (last < position - 1) throw new RangeError(`end must not be below start, which is ${position}`);
  const call = { signal: given.signal };
  const atOnce = mayReadAhead(fileSystem) ? Math.max(size, REMOTE_READ_BYTES) : size;
  let piece = new Uint8Array(0);
  let handle: FileHandle | undefined;
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          // Bytes that were read ahead are not returned after an abort, or through a handle that is no longer valid.
          given.signal?.throwIfAborted();
          handle ??= await fileSystem.open(path, 'r', call);
          checkHandle(handle);
          if (piece.byteLength === 0) {
            const room = new Uint8Array(Math.min(atOnce, last - position + 1));
            const count = room.byteLength === 0 ? 0 : await handle.read(room, position, call);
            position += count;
            piece = room.subarray(0, count);
          }
          const isWhole = piece.byteLength <= size && piece.byteLength === piece.buffer.byteLength;
          const chunk = isWhole ? piece : piece.slice(0, size);
          piece = piece.subarray(chunk.byteLength);
          if (chunk.byteLength > 0) controller.enqueue(chunk);
          if (chunk.byteLength === 0 || (position > last && piece.byteLength === 0)) {
            await handle.close();
            controller.close();
          }
        } catch (error) {
          await handle?.close();
          throw error;
        }
      },
      async cancel() {
        await handle?.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/**
 * Streams into a file. The file is opened immediately. Each chunk is written when it arrives, so after a failure the
 * earlier chunks are in the file.
 */
export function writeStream(fileSystem: FileSystem, to: Path, options?: WriteStreamOptions): WritableStream<Content> {
  const path = pathOf(to);
  const given = checkOptions(options, ['flags', 'mode', 'start'], 'createWriteStream');
  const flags = given.flags === undefined ? 'w' : checkOneOf(given.flags, WRITE_FLAGS, 'flags');
  const mode = given.mode === undefined ? undefined : checkMode(given.mode, 0);
  let position = given.start === undefined ? 0 : checkInteger(given.start, 'start');
  const call = { signal: given.signal };
  let handle: FileHandle | undefined;
  return new WritableStream<Content>({
    async start() {
      handle = await fileSystem.open(path, flags, mode === undefined ? call : { ...call, mode });
    },
    async write(chunk) {
      try {
        position += (await handle?.write(chunk, position, call)) ?? 0;
      } catch (error) {
        await handle?.close();
        throw error;
      }
    },
    async close() {
      await handle?.close();
    },
    async abort() {
      await handle?.close();
    },
  });
}

/** Reports whether reading ahead is useful and allowed: requests cost something, and no guard checks each read. */
function mayReadAhead(fileSystem: FileSystem): boolean {
  const inside = internalsOf(fileSystem);
  return fileSystem.kind === 'async' && inside !== undefined && inside.context.guard === undefined;
}
