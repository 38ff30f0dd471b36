import type { Batch, Write } from '@scratchfs/core';
import { PathTable, type Sent, writeBatch, writeLook } from './batch.js';
import { Contents } from './chunk-arguments.js';
import { type Body, Writer } from './writer.js';

/** Room for the path of a batch. */
const PATH_ROOM = 64;
const LEAST_ROOM = 256;

/** A request as a script takes it: batches after the paths that they name, and beside them the contents that they bring. */
export interface Request extends Body {
  /** Each of its batches gives one file its content at most, or only checks. */
  readonly isSmall: boolean;
  readonly contents: readonly Buffer[];
}

/** Puts batches into one request. */
export class RequestWriter implements Request {
  readonly #paths = new PathTable();
  readonly #contents = new Contents();
  readonly #body: Writer;
  #count = 0;
  #isSmall = true;

  /** @param room bytes that it will likely have, but for contents */
  constructor(room = LEAST_ROOM) {
    this.#body = new Writer(room);
  }

  /** For another one that has as much. */
  get room(): number {
    return this.#body.length + LEAST_ROOM;
  }

  /** Names on the ways that it tells. */
  get names(): number {
    return this.#paths.size;
  }

  get bytes(): number {
    return this.#body.length + this.#contents.bytes;
  }

  /** @throws TypeError, RangeError where it cannot be written down: then it is not in the request */
  add(batch: Batch, sent: Sent): void {
    this.#whole(() => writeBatch(batch, sent, this.#paths, this.#body, this.#contents));
    this.#isSmall &&= isSmall(batch.writes);
  }

  /** What a batch that only looks checks. @throws RangeError as for others */
  addLook(batch: Batch): void {
    this.#whole(() => writeLook(batch, this.#paths, this.#body));
  }

  #whole(write: () => void): void {
    const before = this.#body.length;
    const contents = this.#contents.chunks.length;
    try {
      write();
      this.#count += 1;
    } catch (error) {
      this.#body.truncate(before);
      this.#contents.truncate(contents);
      throw error;
    }
  }

  get length(): number {
    return this.#body.length + PATH_ROOM * this.#paths.size;
  }

  write(into: Writer): void {
    this.#paths.write(into);
    into.u16(this.#count);
    this.#body.write(into);
  }

  get isSmall(): boolean {
    return this.#isSmall;
  }

  get contents(): readonly Buffer[] {
    return this.#contents.chunks;
  }
}

/** Whether it is all that the commit script's short way does: a content for one file, and where that is new the time of its directory. */
function isSmall(writes: readonly Write[]): boolean {
  if (writes.length > 2 || (writes.length === 2 && writes[0]?.kind !== 'touch')) return false;
  const last = writes.at(-1);
  return last === undefined || last.kind === 'write' || (last.kind === 'create' && last.type === 'file');
}
