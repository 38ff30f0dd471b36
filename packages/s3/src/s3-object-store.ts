import type { GetObjectCommandInput, PutObjectCommandInput, S3Client } from '@aws-sdk/client-s3';
import { type BackendCall, isStorageError, StorageError } from '@scratchfs/core';
import { EACH_ATTEMPT, nameOf, noteConnections } from '@scratchfs/core/internal';
import type { NamePage, ObjectStore, StoredHead } from '@scratchfs/core/object-tree';
import { ConditionProbe } from './condition-probe.js';
import { isLostRace, isMissing, isNotModified, isPastEnd, isSurelyLostRace, toStorageError } from './s3-errors.js';
import { loadSdk, type Sdk } from './sdk.js';
import { SingleWriter } from './single-writer.js';

/**
 * Names of the probe for conditional writes and of the head. `list` leaves them out: they are not objects of the tree.
 */
const HEAD_NAMES: readonly string[] = ['probe', 'head'];

export interface S3Location {
  readonly client: () => Promise<S3Client>;
  readonly bucket: string;
  /** Closes a client that this package has created; a client given by the user stays open. */
  readonly close: () => Promise<void>;
  /** Prefix of every key; empty, or ending in a slash. */
  readonly prefix: string;
  /** True if no other process writes. Then the store need not support conditions. */
  readonly singleWriter: boolean;
}

/** Stores the objects and the head of a filesystem as objects of a bucket. */
export class S3ObjectStore implements ObjectStore {
  readonly #location: S3Location;
  readonly #probe: ConditionProbe;
  readonly #single: SingleWriter | undefined;

  constructor(place: S3Location) {
    this.#location = place;
    this.#single = place.singleWriter ? new SingleWriter() : undefined;
    this.#probe = new ConditionProbe((condition, call) => this.#putProbe(condition, call));
  }

  async get(name: string, offset: number, length: number, call?: BackendCall): Promise<Uint8Array | undefined> {
    if (length === 0) return new Uint8Array(0);
    try {
      return (await this.#get(name, { Range: `bytes=${offset}-${offset + length - 1}` }, call)).bytes;
    } catch (error) {
      if (isMissing(error)) return undefined;
      if (isPastEnd(error)) return new Uint8Array(0);
      throw this.#failure(error, call);
    }
  }

  async put(name: string, bytes: Uint8Array, call?: BackendCall): Promise<void> {
    try {
      await this.#put(name, bytes, {}, call);
    } catch (error) {
      throw this.#failure(error, call);
    }
  }

  async delete(names: readonly string[], call?: BackendCall): Promise<void> {
    if (names.length === 0) return;
    try {
      const { sdk, client } = await this.#sdk();
      const Objects = names.map((name) => ({ Key: this.#key(name) }));
      const command = new sdk.DeleteObjectsCommand({ Bucket: this.#location.bucket, Delete: { Objects, Quiet: true } });
      const { Errors } = await client.send(command, sendOptions(call));
      const failed = Errors?.find(({ Code }) => Code !== 'NoSuchKey');
      if (failed !== undefined)
        throw new StorageError('unavailable', `The store did not delete an object: ${nameOf(failed.Code)}`);
    } catch (error) {
      throw this.#failure(error, call);
    }
  }

  async list(prefix: string, cursor: string | undefined, call?: BackendCall): Promise<NamePage> {
    try {
      const { sdk, client } = await this.#sdk();
      const place = { Bucket: this.#location.bucket, Prefix: this.#key(prefix) };
      const command = new sdk.ListObjectsV2Command(
        cursor === undefined ? place : { ...place, ContinuationToken: cursor },
      );
      const { Contents = [], IsTruncated, NextContinuationToken } = await client.send(command, sendOptions(call));
      const names = Contents.flatMap(({ Key }) => {
        const name = Key?.slice(this.#location.prefix.length);
        return name === undefined || HEAD_NAMES.includes(name) ? [] : [name];
      });
      if (IsTruncated === true && NextContinuationToken === undefined)
        throw new StorageError('unavailable', 'The store says that a listing goes on, but not how', {
          retryable: false,
        });
      return { names, cursor: IsTruncated === true ? NextContinuationToken : undefined };
    } catch (error) {
      throw this.#failure(error, call);
    }
  }

  async readHead(known: string | undefined, call?: BackendCall): Promise<StoredHead | 'unchanged' | undefined> {
    if (this.#single === undefined) await this.#probe.passed(call);
    const sawHead = this.#single?.willRead();
    try {
      const found = await this.#get('head', known === undefined ? {} : { IfNoneMatch: known }, call);
      sawHead?.(found);
      return found;
    } catch (error) {
      if (isNotModified(error)) return 'unchanged';
      if (!isMissing(error)) throw this.#failure(error, call);
      sawHead?.(undefined);
      return undefined;
    }
  }

  async swapHead(bytes: Uint8Array, expected: string | undefined, call?: BackendCall): Promise<string | undefined> {
    if (this.#single !== undefined) return this.#replaceHead(this.#single, bytes, expected, call);
    const condition = expected === undefined ? { IfNoneMatch: '*' } : { IfMatch: expected };
    try {
      return await this.#put('head', bytes, condition, call);
    } catch (error) {
      if (isSurelyLostRace(error)) return undefined;
      throw this.#failure(error, call);
    }
  }

  deleteHead(call?: BackendCall): Promise<void> {
    return this.delete(HEAD_NAMES, call);
  }

  close(): Promise<void> {
    return this.#location.close();
  }

  /** Reads the head, then replaces it: not atomic, so correct only as long as no other client writes. */
  async #replaceHead(
    single: SingleWriter,
    bytes: Uint8Array,
    expected: string | undefined,
    call: BackendCall | undefined,
  ): Promise<string | undefined> {
    const now = await this.readHead(undefined, call);
    single.check();
    if ((now === 'unchanged' ? expected : now?.tag) !== expected) return undefined;
    single.willWrite(bytes);
    try {
      const tag = await this.#put('head', bytes, {}, call);
      single.hasWritten(tag);
      return tag;
    } catch (error) {
      const failure = this.#failure(error, call);
      if (isStorageError(failure) && !failure.mayHaveHappened) single.wasRefused(bytes);
      throw failure;
    }
  }

  /** Puts the probe under a condition. Resolves to true if the store wrote it, false if it refused. */
  async #putProbe(condition: Partial<PutObjectCommandInput>, call: BackendCall | undefined): Promise<boolean> {
    try {
      await this.#put('probe', new TextEncoder().encode('scratchfs'), condition, call);
      return true;
    } catch (error) {
      if (isLostRace(error)) return false;
      throw this.#failure(error, call);
    }
  }

  async #get(
    name: string,
    input: Partial<GetObjectCommandInput>,
    call: BackendCall | undefined,
  ): Promise<{ readonly tag: string; readonly bytes: Uint8Array }> {
    const { sdk, client } = await this.#sdk();
    const command = new sdk.GetObjectCommand({ ...input, Bucket: this.#location.bucket, Key: this.#key(name) });
    const { Body, ETag } = await client.send(command, sendOptions(call));
    const bytes = Body === undefined ? new Uint8Array(0) : await Body.transformToByteArray();
    return { tag: ETag ?? '', bytes };
  }

  async #put(
    name: string,
    bytes: Uint8Array,
    input: Partial<PutObjectCommandInput>,
    call: BackendCall | undefined,
  ): Promise<string> {
    const { sdk, client } = await this.#sdk();
    const command = new sdk.PutObjectCommand({
      ...input,
      Bucket: this.#location.bucket,
      Key: this.#key(name),
      Body: bytes,
      ContentLength: bytes.length,
      ContentType: 'application/octet-stream',
    });
    command.middlewareStack.add(noteConnections(), EACH_ATTEMPT);
    return (await client.send(command, sendOptions(call))).ETag ?? '';
  }

  async #sdk(): Promise<{ readonly sdk: Sdk; readonly client: S3Client }> {
    const [sdk, client] = await Promise.all([loadSdk(), this.#location.client()]);
    return { sdk, client };
  }

  #key(name: string): string {
    return `${this.#location.prefix}${name}`;
  }

  #failure(error: unknown, call: BackendCall | undefined): unknown {
    if (call?.signal?.aborted === true) return call.signal.reason;
    return error instanceof StorageError ? error : toStorageError(error, this.#location.bucket);
  }
}

function sendOptions(call: BackendCall | undefined): { abortSignal?: AbortSignal } {
  return call?.signal === undefined ? {} : { abortSignal: call.signal };
}
