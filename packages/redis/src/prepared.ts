import type { Batch, CommitResult, Write } from '@scratchfs/core';
import { StorageError } from '@scratchfs/core';
import { PathTable, type Sent, type Staged, writeBatch } from './format/batch.js';
import { Writer } from './format/writer.js';
import { scripts } from './lua/scripts.js';
import { ask } from './once.js';
import { readResult } from './results.js';
import type { Sequences } from './sequences.js';
import { type Session, textOf } from './session.js';
import { bytesOf, ownField, STAGED_MS } from './staging.js';

/** Work of one request, in writes; one that adds or takes a name counts twice. */
export const MAX_WORK = 150;
/** Bytes of one request. */
export const MAX_BYTES = 500_000;
/** How long others wait for a client that is not heard of any more. */
const LOCK_MS = 5_000;
/** Times that somebody else's write undoes the preparation, before it is made with the state locked. */
const MAX_RACES = 1;

export function workOf(write: Write): number {
  return write.kind === 'touch' || write.kind === 'meta' || write.kind === 'write' ? 1 : 2;
}

/** A request with a single batch. */
export function requestOf(batch: Batch, sent: Sent): Buffer {
  const paths = new PathTable();
  const body = new Writer();
  writeBatch(batch, sent, paths, body);
  const request = new Writer(body.length + 64);
  paths.write(request);
  request.u16(1);
  request.bytes(body.done());
  return request.done();
}

/** What was prepared: its field, the version of all that it wrote, and whether others wait for it. */
interface Made {
  readonly version: number;
  readonly prepared: NonNullable<Sent['prepared']>;
  readonly isLocked: boolean;
}

/**
 * A batch of more writes than one request may have: they are made step by step in a state that nobody else sees, which
 * then becomes the state, if that is still what it was. If somebody was faster it is made again, the last time with
 * all other writers waiting.
 */
export class Prepared {
  constructor(
    private readonly session: Session,
    private readonly sequences: Sequences,
    private readonly field: string,
  ) {}

  /**
   * Makes the writes, and answers how they become real.
   * @throws StorageError; the signal's reason
   */
  async make(batch: Batch, staged: ReadonlyMap<Write, Staged>, race: number, signal: AbortSignal): Promise<Made> {
    const key = ownField(this.session, 'p');
    const replacesAll = batch.writes[0]?.kind === 'clear';
    const isLocked = !replacesAll && race > MAX_RACES;
    try {
      const begun = await ask(this.session, this.field, 'begin', [key, STAGED_MS, isLocked ? LOCK_MS : 0]);
      const version = Number(textOf(begun[2]));
      let renewed = performance.now();
      for (const writes of slices(batch.writes, staged)) {
        signal.throwIfAborted();
        if (isLocked && performance.now() - renewed > LOCK_MS / 5) {
          renewed = performance.now();
          await ask(this.session, this.field, 'lock', [LOCK_MS]);
        }
        await this.#write(key, writes, version, staged);
      }
      return { version, prepared: { key, replacesAll }, isLocked };
    } catch (error) {
      this.giveBack(key, isLocked);
      throw error;
    }
  }

  giveBack(key: string, isLocked: boolean): void {
    ask(this.session, this.field, 'giveBack', [key]).catch(() => {});
    if (isLocked) ask(this.session, this.field, 'unlock').catch(() => {});
  }

  async #write(
    key: string,
    writes: readonly Write[],
    version: number,
    staged: ReadonlyMap<Write, Staged>,
  ): Promise<void> {
    const { session, sequences } = this;
    const sequence = sequences.next();
    const { floor, settled, restore } = sequences.acknowledge();
    try {
      const batch: Batch = { operationId: '', checks: [], writes, limits: {} };
      const request = requestOf(batch, { sequence, version, staged });
      const keys = [session.keys.results(session.client)];
      const answer = await session.run(scripts.commit, key, [floor, settled, request, '0'], keys);
      sequences.settle(sequence);
      const result: CommitResult = readResult(textOf(answer[3]));
      if (result.kind !== 'ok') throw new StorageError('conflict', 'A step of a large commit was refused');
    } catch (error) {
      restore();
      sequences.failed(sequence);
      throw error;
    }
  }
}

/** Writes in portions that one request may have, in their order. */
function* slices(writes: readonly Write[], staged: ReadonlyMap<Write, Staged>): Generator<readonly Write[]> {
  let slice: Write[] = [];
  let bytes = 0;
  let work = 0;
  for (const write of writes) {
    const more = staged.has(write) ? 0 : bytesOf(write);
    if (work >= MAX_WORK || (slice.length > 0 && bytes + more > MAX_BYTES)) {
      yield slice;
      slice = [];
      bytes = 0;
      work = 0;
    }
    slice.push(write);
    bytes += more;
    work += workOf(write);
  }
  if (slice.length > 0) yield slice;
}
