import { nextTurn } from '@scratchfs/core/internal';

const PART_BYTES = 256 * 1024;
/** Bytes copied synchronously at the call. */
const MAX_IMMEDIATE_COPY_BYTES = 16 * 2 ** 20;

/**
 * Returns a copy of bytes as a stream of parts, so that reading them keeps the event loop free. Up to 16 MiB are copied
 * at the call; a larger array is copied part by part, as the parts are read.
 */
export function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  const source = bytes.length <= MAX_IMMEDIATE_COPY_BYTES ? new Uint8Array(bytes) : bytes;
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      await nextTurn();
      const part = source.subarray(at, (at += PART_BYTES));
      if (part.length === 0) controller.close();
      else controller.enqueue(source === bytes ? new Uint8Array(part) : part);
    },
  });
}
