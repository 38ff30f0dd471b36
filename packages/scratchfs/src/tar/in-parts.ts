/** Minimal size of a part in bytes, except for the last. */
const MIN_PART_BYTES = 64 * 1024;

/** Returns the same bytes in fewer and larger parts: consumers such as `Response` have a cost per part. */
export function inParts(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        const pieces: Uint8Array[] = [];
        let length = 0;
        let isLast = false;
        while (!isLast && length < MIN_PART_BYTES) {
          const { done, value } = await reader.read();
          isLast = done;
          if (value === undefined) continue;
          pieces.push(value);
          length += value.length;
        }
        if (length > 0) controller.enqueue(join(pieces, length));
        if (isLast) controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

function join(pieces: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const part = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    part.set(piece, at);
    at += piece.length;
  }
  return part;
}
