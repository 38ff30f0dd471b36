import { FsError } from '@scratchfs/core';
import {
  bytesOf,
  checkData,
  checkedPartsOf,
  checkView,
  checkViews,
  type Parts,
  partsOf,
  plainPosition,
  type Range,
  readRange,
  writeRange,
} from '../arguments/buffers.js';
import { checkFd, checkInteger, checkObject } from '../arguments/values.js';
import { invalidValue, outOfRange } from '../errors/argument-errors.js';
import { awaited, type Eventual, type FsProcedure } from '../fs-driver.js';
import { type Facade, type Moves, type NodeFunction, nodeFunction } from '../node-function.js';

/** Size of the buffer if the caller gives none. */
const DEFAULT_READ_BYTES = 16_384;

interface Transfer extends Range {
  readonly fd: number;
}

const READ: Moves<Transfer> = { count: 'bytesRead', subject: 'buffer', of: ({ buffer }) => buffer };
const WRITE: Moves<Written> = { count: 'bytesWritten', subject: 'buffer', of: ({ buffer }) => buffer };

function moving<P>(moves: Moves<P>, made: NodeFunction<P, number>): NodeFunction<P, number> {
  return { ...made, moves };
}

function runRead({ descriptors }: Facade, { fd, bytes, position }: Transfer): Eventual<number> {
  // Zero bytes requested: not even the descriptor is checked.
  return bytes.byteLength === 0 ? 0 : descriptors.get(fd, 'read').read(bytes, position);
}

/** `readSync`: (fd, buffer, offset, length, position) or (fd, buffer, options). */
export const readSync: NodeFunction<Transfer, number> = nodeFunction(
  5,
  (_, ...given) => {
    const [fd, buffer, offset, length, position] = given;
    const file = checkFd(fd);
    const view = checkView(buffer);
    const parts =
      given.length <= 3 || typeof offset === 'object' ? checkedPartsOf(offset, view) : { offset, length, position };
    // `readSync` refuses `{ offset: null }`; the other forms of read take it as 0.
    if (parts.offset === null) checkInteger(null, 'offset');
    return { fd: file, ...readRange(view, parts) };
  },
  runRead,
);

/** `read` with a callback: also (fd, options) and (fd) alone. */
export const read: NodeFunction<Transfer, number> = moving(
  READ,
  nodeFunction(
    5,
    ({ platform }, ...given) => {
      const [fd, second, offset, length, position] = given;
      const file = checkFd(fd);
      if (given.length > 3) return { fd: file, ...readRange(checkView(second), { offset, length, position }) };
      // The last of three arguments must be options.
      if (given.length === 3 && offset !== null) checkObject(offset, 'options');
      const options = given.length === 3 ? offset : ArrayBuffer.isView(second) ? undefined : second;
      const buffer = given.length === 3 || ArrayBuffer.isView(second) ? second : bufferAmong(options);
      const view = buffer === undefined ? platform.bytes(new Uint8Array(DEFAULT_READ_BYTES)) : checkView(buffer);
      return { fd: file, ...readRange(view, checkedPartsOf(options, view)) };
    },
    runRead,
  ),
);

/**
 * `read` of a FileHandle: (fd, buffer, offset, length, position), (fd, buffer, options) or (fd, options). An invalid
 * position counts as none.
 */
export const handleRead: NodeFunction<Transfer, number> = moving(
  READ,
  nodeFunction(
    5,
    ({ platform }, fd, second, ...given) => {
      const file = checkFd(fd);
      const isBuffer = ArrayBuffer.isView(second);
      const buffer = isBuffer ? second : bufferAmong(second);
      const view = buffer === undefined ? platform.bytes(new Uint8Array(DEFAULT_READ_BYTES)) : checkView(buffer);
      return {
        fd: file,
        ...handleRange(view, isBuffer ? handleParts(view, given) : checkedPartsOf(second ?? {}, view)),
      };
    },
    runRead,
  ),
);

function handleParts(view: ArrayBufferView, [offset, length, position]: readonly unknown[]): Parts {
  return typeof offset === 'object' && offset !== null ? checkedPartsOf(offset, view) : { offset, length, position };
}

function handleRange(view: ArrayBufferView, { offset, length, position }: Parts): Range {
  const start = offset === undefined || offset === null ? 0 : checkInteger(offset, 'offset', 0);
  const whole = length ?? view.byteLength - start;
  if (whole !== 0 && view.byteLength > 0 && (whole as number) < 0) throw outOfRange('length', '>= 0', whole);
  return readRange(view, { offset: start, length: whole, position: plainPosition(position) });
}

function bufferAmong(options: unknown): unknown {
  return (options as { buffer?: unknown } | null | undefined)?.buffer;
}

interface Written extends Omit<Transfer, 'buffer'> {
  readonly buffer: string | ArrayBufferView;
}

/** `write`: (fd, buffer, offset, length, position), (fd, buffer, options) or (fd, text, position, encoding). */
export const write: NodeFunction<Written, number> = moving(
  WRITE,
  nodeFunction(
    5,
    ({ platform }, fd, data, offset, length, position): Written => {
      const file = checkFd(fd);
      const buffer = checkData(data, 'buffer');
      if (typeof buffer !== 'string') {
        const parts = typeof offset === 'object' ? partsOf(offset, buffer) : { offset, length, position };
        return { fd: file, ...writeRange(buffer, parts) };
      }
      const encoding = platform.isEncoding(length) ? (length as string) : 'utf8';
      if (encoding === 'hex' && buffer.length % 2 !== 0) {
        throw invalidValue('encoding', length, `is invalid for data of length ${buffer.length}`);
      }
      return { fd: file, buffer, bytes: platform.encode(buffer, encoding), position: plainPosition(offset) };
    },
    ({ descriptors }, { fd, bytes, position }) => descriptors.get(fd, 'write').write(bytes, position),
  ),
);

/** `write` of a FileHandle: with an empty buffer the arguments after it are not checked. */
export const handleWrite: NodeFunction<Written, number> = {
  ...write,
  prepare(facade, fd, data, ...given) {
    return write.prepare(facade, fd, data, ...(isEmpty(data) ? [] : given));
  },
  run: (facade, written) => (isEmpty(written.buffer) ? 0 : write.run(facade, written)),
};

function isEmpty(data: unknown): boolean {
  return (data as { byteLength?: unknown } | null | undefined)?.byteLength === 0;
}

interface ManyTransfer {
  readonly fd: number;
  readonly buffers: readonly ArrayBufferView[];
  readonly position: number | null;
}

function manyOf(
  count: 'bytesRead' | 'bytesWritten',
  run: (facade: Facade, many: ManyTransfer) => FsProcedure<number>,
): NodeFunction<ManyTransfer, number> {
  const many = nodeFunction(
    3,
    (_, fd, buffers, position) => ({
      fd: checkFd(fd),
      buffers: checkViews(buffers),
      position: plainPosition(position),
    }),
    (facade: Facade, call: ManyTransfer) => facade.driver.run(run(facade, call)),
  );
  return moving({ count, subject: 'buffers', of: ({ buffers }) => buffers }, many);
}

export const readv = manyOf('bytesRead', function* ({ descriptors }, { fd, buffers, position }) {
  // An empty list of buffers is refused before the file is checked.
  if (buffers.length === 0) throw new FsError('EINVAL', { syscall: 'read' });
  const file = descriptors.get(fd, 'read');
  let total = 0;
  for (const buffer of buffers) {
    const count = yield* awaited(file.read(bytesOf(buffer), position === null ? null : position + total));
    total += count;
    if (count < buffer.byteLength) break;
  }
  return total;
});

export const writev = manyOf('bytesWritten', function* ({ descriptors }, { fd, buffers, position }) {
  if (buffers.length === 0) return 0;
  const file = descriptors.get(fd, 'write');
  let total = 0;
  for (const buffer of buffers) {
    total += yield* awaited(file.write(bytesOf(buffer), position === null ? null : position + total));
  }
  return total;
});
