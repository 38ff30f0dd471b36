import { archiveError } from './archive-error.js';

/** The first bytes of gzip. A tar archive begins with a name, and these bytes are not UTF-8. */
const MAGIC = [0x1f, 0x8b];

/** Returns the stream without its gzip compression, if it has one. Reads nothing before the result is read. */
export function unzipped(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const source = stream.getReader();
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let isZipped = false;
  const begin = async (): Promise<ReadableStreamDefaultReader<Uint8Array>> => {
    const head: Uint8Array[] = [];
    const first: number[] = [];
    while (first.length < MAGIC.length) {
      const { done, value } = await source.read();
      if (done) break;
      head.push(value);
      if (value instanceof Uint8Array) first.push(...value.subarray(0, MAGIC.length));
      else break;
    }
    const whole = joined(head, source);
    isZipped = MAGIC.every((byte, i) => first[i] === byte);
    return (isZipped ? whole.pipeThrough<Uint8Array>(new DecompressionStream('gzip')) : whole).getReader();
  };
  return new ReadableStream(
    {
      async pull(controller) {
        reader ??= await begin();
        const { done, value } = await reader.read().catch((cause: unknown) => {
          throw isZipped ? archiveError(undefined, 'Its gzip compression is damaged', cause) : cause;
        });
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => (reader ?? source).cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Returns parts that were already read, and then the rest of a stream. */
function joined(
  parts: readonly Uint8Array[],
  rest: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const read = parts.values();
  return new ReadableStream({
    async pull(controller) {
      const next = read.next();
      const { done, value } = next.done === true ? await rest.read() : next;
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
    cancel: (reason) => rest.cancel(reason),
  });
}
