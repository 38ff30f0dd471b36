import type { FileHandle, FileSystem } from '@scratchfs/core';
import { HistoryError } from '../errors.js';
import { hexOf, ID_BYTES, type ObjectFormat, type ObjectId } from '../object-id.js';
import type { GitObject, ObjectType } from '../objects/git-object.js';
import type { Primitives } from '../primitives.js';
import type { RepositoryCall, StoredObject } from '../repository.js';
import { applyDelta } from './delta.js';
import { type PackedPlace, PackIndex } from './pack-index.js';

const TYPE_NAMES: readonly (ObjectType | undefined)[] = [undefined, 'commit', 'tree', 'blob', 'tag'];
const OFFSET_DELTA = 6;
const ID_DELTA = 7;
/** Maximum length of a chain of deltas in git. */
const MAX_CHAIN_DELTAS = 4_095;
/** Maximum bytes of unpacked objects to cache; neighboring objects often share bases. */
const MAX_CACHED_BYTES = 16 * 2 ** 20;
/** Maximum bytes before the compressed data: type and size, and the base's offset or id. */
const MAX_HEADER_BYTES = 64;

interface Entry {
  readonly type: number;
  readonly size: number;
  readonly base: number | ObjectId | undefined;
  readonly data: Uint8Array;
}

/** Reads objects of one pack. */
export class PackReader {
  readonly #cache = new Map<number, GitObject>();
  #cached = 0;

  private constructor(
    readonly index: PackIndex,
    readonly handle: FileHandle,
    readonly format: ObjectFormat,
    readonly primitives: Primitives,
    readonly maxObjectBytes: number,
    /** Path without `.pack` and `.idx`. */
    readonly path: string,
  ) {}

  /** @param path without `.pack` and `.idx` */
  static async open(
    fileSystem: FileSystem,
    path: string,
    { format, primitives, maxObjectBytes }: PackReaderOptions,
    call?: RepositoryCall,
  ): Promise<PackReader> {
    const signal = call?.signal;
    const index = await fileSystem.readFile(`${path}.idx`, { signal });
    const handle = await fileSystem.open(`${path}.pack`, 'r', { signal });
    try {
      const { size } = await handle.stat();
      const head = await read(handle, 0, 12);
      if (String.fromCharCode(...head.subarray(0, 4)) !== 'PACK' || head[7] !== 2)
        throw new HistoryError('corrupt', 'A pack is not of version 2', { path });
      const parsed = new PackIndex(index, format, primitives, size);
      return new PackReader(parsed, handle, format, primitives, maxObjectBytes, path);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Yields the objects whose ids begin with a prefix, all with the time of the pack. */
  *list(prefix: string, writtenAt: number): Generator<StoredObject> {
    for (const id of this.index.ids(prefix)) {
      const { offset, end } = this.index.find(id) as PackedPlace;
      yield { id, bytes: end - offset, writtenAt };
    }
  }

  /** Returns the object, or undefined if this pack does not have it. */
  async read(
    id: ObjectId,
    elsewhere: (id: ObjectId) => Promise<GitObject | undefined>,
  ): Promise<GitObject | undefined> {
    const place = this.index.find(id);
    return place && this.#resolve(place.offset, elsewhere);
  }

  close(): Promise<void> {
    return this.handle.close();
  }

  async #resolve(offset: number, elsewhere: (id: ObjectId) => Promise<GitObject | undefined>): Promise<GitObject> {
    const deltas: { readonly offset: number; readonly data: Uint8Array }[] = [];
    let object: GitObject | undefined;
    for (let at = offset; object === undefined; ) {
      object = this.#cache.get(at);
      if (object !== undefined) break;
      if (deltas.length > MAX_CHAIN_DELTAS) throw new HistoryError('corrupt', 'A packed object is a delta of itself');
      const { type, base, data } = await this.#entry(at);
      const name = TYPE_NAMES[type];
      if (name !== undefined) object = this.#keep(at, { type: name, body: data });
      else {
        deltas.push({ offset: at, data });
        if (typeof base === 'number') at = base;
        else {
          const place = this.index.find(base as ObjectId);
          if (place !== undefined) at = place.offset;
          else object = await elsewhere(base as ObjectId);
          if (place === undefined && object === undefined)
            throw new HistoryError('corrupt', `A packed object needs object ${base}, which does not exist`, {
              id: base as string,
            });
        }
      }
    }
    for (const { offset: at, data } of deltas.reverse())
      object = this.#keep(at, { type: object.type, body: applyDelta(object.body, data, this.maxObjectBytes) });
    return object;
  }

  async #entry(offset: number): Promise<Entry> {
    const { end } = this.index.at(offset);
    const bytes = await read(this.handle, offset, end - offset);
    let at = 0;
    const byte = (): number => {
      if (at >= Math.min(bytes.length, MAX_HEADER_BYTES))
        throw new HistoryError('corrupt', 'A packed object is truncated');
      return bytes[at++] as number;
    };
    let next = byte();
    const type = (next >> 4) & 7;
    let size = next & 15;
    for (let scale = 16; next >= 128; scale *= 128) {
      next = byte();
      size += (next & 127) * scale;
    }
    if (size > this.maxObjectBytes)
      throw new HistoryError('too-large', `A packed object has ${size} bytes, more than ${this.maxObjectBytes}`);
    let base: number | ObjectId | undefined;
    if (type === OFFSET_DELTA) {
      next = byte();
      let distance = next & 127;
      while (next >= 128) {
        next = byte();
        distance = (distance + 1) * 128 + (next & 127);
      }
      if (distance <= 0 || distance > offset) throw new HistoryError('corrupt', 'A packed object has no base');
      base = offset - distance;
    } else if (type === ID_DELTA) {
      base = hexOf(bytes.subarray(at, at + ID_BYTES[this.format]));
      at += ID_BYTES[this.format];
    } else if (TYPE_NAMES[type] === undefined) {
      throw new HistoryError('corrupt', 'A packed object has an unknown type');
    }
    const data = await this.primitives.inflate(bytes.subarray(at), size);
    if (data.length !== size) throw new HistoryError('corrupt', 'The size of a packed object differs from its header');
    return { type, size, base, data };
  }

  #keep(offset: number, object: GitObject): GitObject {
    // Another read may have resolved the same object concurrently.
    this.#cached += object.body.length - (this.#cache.get(offset)?.body.length ?? 0);
    this.#cache.set(offset, object);
    for (const [oldest, { body }] of this.#cache) {
      if (this.#cached <= MAX_CACHED_BYTES) break;
      this.#cache.delete(oldest);
      this.#cached -= body.length;
    }
    return object;
  }
}

export interface PackReaderOptions {
  readonly format: ObjectFormat;
  readonly primitives: Primitives;
  readonly maxObjectBytes: number;
}

async function read(handle: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let done = 0;
  while (done < length) {
    const count = await handle.read(bytes.subarray(done), position + done);
    if (count === 0) throw new HistoryError('corrupt', 'A pack is truncated');
    done += count;
  }
  return bytes;
}
