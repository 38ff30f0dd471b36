import { nextTurn } from '@scratchfs/core/internal';

const PART = 256 * 1024;
/** Bytes copied at the call, in one go. */
const AT_ONCE = 16 * 2 ** 20;

/** A copy of bytes as a stream of parts, so that reading them leaves the event loop free: of up to 16 MiB as they are now. */
export function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  const source = bytes.length <= AT_ONCE ? new Uint8Array(bytes) : bytes;
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      await nextTurn();
      const part = source.subarray(at, (at += PART));
      if (part.length === 0) controller.close();
      else controller.enqueue(source === bytes ? new Uint8Array(part) : part);
    },
  });
}
