import type { Batch, Write } from '@scratchfs/core';
import { type BatchContext, PathTable, writeBatch, writeChecks } from './batch.js';
import { ChunkArguments } from './chunk-arguments.js';
import { type RequestBody, Writer } from './writer.js';

/** Approximate bytes of an encoded path component. */
const APPROX_PATH_BYTES = 64;
/** Least capacity of a request's buffer, in bytes. */
const MIN_CAPACITY = 256;

/** An encoded request: the paths that its batches name, the batches, and the contents as separate arguments. */
export interface CommitRequest extends RequestBody {
  /**
   * True if each batch only has checks, or writes the content of one file and at most touches a directory before it.
   */
  readonly fitsFastPath: boolean;
  readonly chunks: readonly Buffer[];
}

/** Encodes batches into one request. */
export class CommitRequestWriter implements CommitRequest {
  readonly #paths = new PathTable();
  readonly #contents = new ChunkArguments();
  readonly #body: Writer;
  #count = 0;
  #isSmall = true;

  /** @param capacity expected size in bytes, without contents */
  constructor(capacity = MIN_CAPACITY) {
    this.#body = new Writer(capacity);
  }

  /** The capacity for another request of the same size. */
  get suggestedCapacity(): number {
    return this.#body.length + MIN_CAPACITY;
  }

  /** Number of path components that the request names. */
  get pathCount(): number {
    return this.#paths.size;
  }

  get bytes(): number {
    return this.#body.length + this.#contents.bytes;
  }

  /** Adds a batch. @throws TypeError, RangeError if it cannot be encoded; the request then does not contain it */
  add(batch: Batch, sent: BatchContext): void {
    this.#atomically(() => writeBatch(batch, sent, this.#paths, this.#body, this.#contents));
    this.#isSmall &&= isOneContent(batch.writes);
  }

  /**
   * Adds the checks of a read-only batch.
   * @throws RangeError if they cannot be encoded; the request then does not contain them
   */
  addReadOnly(batch: Batch): void {
    this.#atomically(() => writeChecks(batch, this.#paths, this.#body));
  }

  #atomically(write: () => void): void {
    const before = this.#body.length;
    const chunkCount = this.#contents.chunks.length;
    try {
      write();
      this.#count += 1;
    } catch (error) {
      this.#body.truncate(before);
      this.#contents.truncate(chunkCount);
      throw error;
    }
  }

  get length(): number {
    return this.#body.length + APPROX_PATH_BYTES * this.#paths.size;
  }

  write(into: Writer): void {
    this.#paths.write(into);
    into.u16(this.#count);
    this.#body.write(into);
  }

  get fitsFastPath(): boolean {
    return this.#isSmall;
  }

  get chunks(): readonly Buffer[] {
    return this.#contents.chunks;
  }
}

/**
 * Reports whether the commit script's fast path may be able to apply the writes: none, or the content of one file and,
 * before it, at most one `touch`.
 */
function isOneContent(writes: readonly Write[]): boolean {
  if (writes.length > 2 || (writes.length === 2 && writes[0]?.kind !== 'touch')) return false;
  const last = writes.at(-1);
  return last === undefined || last.kind === 'write' || (last.kind === 'create' && last.type === 'file');
}
