import type { BlobDownloadResponseParsed, BlockBlobUploadOptions } from '@azure/storage-blob';
import { type BackendCall, isStorageError, StorageError } from '@scratchfs/core';
import { isFileSystemName } from '@scratchfs/core/internal';
import type { NamePage, ObjectStore, StoredHead } from '@scratchfs/core/object-tree';
import { isLostRace, isMissing, isNotModified, isPastEnd, toStorageError } from './azure-errors.js';
import type { Container } from './options.js';

/** Prefix of the name of every blob. */
const ROOT = 'scratchfs/';
const HEAD = 'head';
/** Deletions that run at the same time. Each listens to the signal, and Node warns of more than ten listeners. */
const PARALLEL_DELETIONS = 8;
/** At 100 ms each, and eight at a time, 256 deletions take about 3 s. */
const MAX_DELETE_NAMES = 256;
/** Options of a download that fails if its body ends early. The object tree repeats the request. */
const ONE_ATTEMPT = { maxRetryRequests: 0 };

/**
 * Stores the objects of a filesystem, and its head, as block blobs. The names are the keys of an `S3Storage` with the
 * prefix `scratchfs/<name>/`.
 */
export class AzureBlobObjectStore implements ObjectStore {
  readonly maxDeleteNames = MAX_DELETE_NAMES;
  readonly #container: Container;
  readonly #prefix: string;

  constructor(container: Container, name: string) {
    this.#container = container;
    this.#prefix = `${ROOT}${name}/`;
  }

  async get(name: string, offset: number, length: number, call?: BackendCall): Promise<Uint8Array | undefined> {
    if (length === 0) return new Uint8Array(0);
    try {
      const client = await this.#container.client();
      const blob = client.getBlobClient(this.#key(name));
      return await bytesOf(await blob.download(offset, length, { ...signalOf(call), ...ONE_ATTEMPT }));
    } catch (error) {
      if (isMissing(error)) return undefined;
      if (isPastEnd(error)) return new Uint8Array(0);
      throw this.#failure(error, call);
    }
  }

  async put(name: string, bytes: Uint8Array, call?: BackendCall): Promise<void> {
    try {
      await this.#upload(name, bytes, {}, call);
    } catch (error) {
      throw this.#failure(error, call);
    }
  }

  async delete(names: readonly string[], call?: BackendCall): Promise<void> {
    const left = [...names];
    const worker = async (): Promise<void> => {
      try {
        for (let name = left.pop(); name !== undefined; name = left.pop()) await this.#delete(name, call);
      } catch (error) {
        left.length = 0;
        throw error;
      }
    };
    // It fails only after all deletions have ended: a late one could delete an object that has been stored again.
    const results = await Promise.allSettled(Array.from({ length: PARALLEL_DELETIONS }, worker));
    const failed = results.find(({ status }) => status === 'rejected');
    if (failed !== undefined) throw this.#failure((failed as PromiseRejectedResult).reason, call);
  }

  async list(prefix: string, cursor: string | undefined, call?: BackendCall): Promise<NamePage> {
    try {
      const client = await this.#container.client();
      const pages = client.listBlobsFlat({ prefix: this.#key(prefix), ...signalOf(call) }).byPage(from(cursor));
      const { value } = await pages.next();
      const names = value.segment.blobItems.map(({ name }: { name: string }) => name.slice(this.#prefix.length));
      return { names: names.filter((name: string) => name !== HEAD), cursor: value.continuationToken || undefined };
    } catch (error) {
      throw this.#failure(error, call);
    }
  }

  async readHead(known: string | undefined, call?: BackendCall): Promise<StoredHead | 'unchanged' | undefined> {
    try {
      const client = await this.#container.client();
      const condition = known === undefined ? {} : { conditions: { ifNoneMatch: known } };
      const options = { ...condition, ...signalOf(call), ...ONE_ATTEMPT };
      const response = await client.getBlobClient(this.#key(HEAD)).download(0, undefined, options);
      return { tag: tagOf(response, false), bytes: await bytesOf(response) };
    } catch (error) {
      if (isNotModified(error)) return 'unchanged';
      if (isMissing(error)) return undefined;
      throw this.#failure(error, call);
    }
  }

  async swapHead(bytes: Uint8Array, expected: string | undefined, call?: BackendCall): Promise<string | undefined> {
    const conditions = expected === undefined ? { ifNoneMatch: '*' } : { ifMatch: expected };
    try {
      return await this.#upload(HEAD, bytes, { conditions }, call);
    } catch (error) {
      if (isLostRace(error)) return undefined;
      throw this.#failure(error, call);
    }
  }

  deleteHead(call?: BackendCall): Promise<void> {
    return this.delete([HEAD], call);
  }

  /** Uploads a blob and returns its tag. */
  async #upload(
    name: string,
    bytes: Uint8Array,
    options: BlockBlobUploadOptions,
    call: BackendCall | undefined,
  ): Promise<string> {
    const client = await this.#container.client();
    const blob = client.getBlockBlobClient(this.#key(name));
    return tagOf(await blob.upload(bytes, bytes.length, { ...options, ...signalOf(call) }), true);
  }

  async #delete(name: string, call: BackendCall | undefined): Promise<void> {
    const client = await this.#container.client();
    try {
      // A blob with snapshots, of a backup for example, cannot be deleted without them.
      await client.getBlobClient(this.#key(name)).delete({ deleteSnapshots: 'include', ...signalOf(call) });
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  #key(name: string): string {
    return `${this.#prefix}${name}`;
  }

  #failure(error: unknown, call: BackendCall | undefined): unknown {
    if (call?.signal?.aborted === true) return call.signal.reason;
    return isStorageError(error) ? error : toStorageError(error, this.#container.name);
  }
}

/** Returns the names of the filesystems in a container, sorted. */
export async function listFileSystems({ client, name: container }: Container): Promise<string[]> {
  try {
    const connected = await client();
    const found: string[] = [];
    for await (const page of connected.listBlobsByHierarchy('/', { prefix: ROOT }).byPage()) {
      const prefixes = page.segment.blobPrefixes ?? [];
      const names = prefixes.map(({ name }) => name.slice(ROOT.length, -1)).filter(isFileSystemName);
      // Objects without a head are not a filesystem. They may be left over from a deletion.
      for (const name of names) if (await connected.getBlobClient(`${ROOT}${name}/${HEAD}`).exists()) found.push(name);
    }
    return found.sort();
  } catch (error) {
    throw isStorageError(error) ? error : toStorageError(error, container);
  }
}

const from = (cursor: string | undefined) => (cursor === undefined ? {} : { continuationToken: cursor });

function signalOf(call: BackendCall | undefined): { abortSignal?: AbortSignal } {
  return call?.signal === undefined ? {} : { abortSignal: call.signal };
}

/**
 * Returns the tag of a blob.
 * @param mayHaveHappened true if the response is to an upload, which has been done
 * @throws StorageError `unsupported` if the response has no tag
 */
function tagOf({ etag }: { readonly etag?: string }, mayHaveHappened: boolean): string {
  if (etag !== undefined && etag !== '') return etag;
  throw new StorageError(
    'unsupported',
    'The service does not return ETags, without which writers cannot be told apart',
    { mayHaveHappened, retryable: false },
  );
}

/** Reads a body: a stream in Node, a blob elsewhere. */
async function bytesOf({ readableStreamBody, blobBody }: BlobDownloadResponseParsed): Promise<Uint8Array> {
  if (readableStreamBody === undefined) return new Uint8Array((await (await blobBody)?.arrayBuffer()) ?? []);
  const parts: Uint8Array[] = [];
  for await (const part of readableStreamBody) parts.push(part as unknown as Uint8Array);
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
