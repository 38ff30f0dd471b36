/** The used part of an R2 bucket that is bound to a Worker. */
export interface R2BucketBinding {
  head(key: string): Promise<{ readonly etag: string; readonly size: number } | null>;
  /** Resolves to an object without a body if the condition does not hold. */
  get(
    key: string,
    options?: {
      readonly onlyIf?: { readonly etagDoesNotMatch: string };
      readonly range?: { readonly offset: number; readonly length: number };
    },
  ): Promise<R2StoredObject | null>;
  /** Resolves to null if the condition does not hold. */
  put(
    key: string,
    value: Uint8Array,
    options?: { readonly onlyIf?: { readonly etagMatches?: string; readonly etagDoesNotMatch?: string } },
  ): Promise<{ readonly etag: string } | null>;
  delete(keys: string[]): Promise<void>;
  list(options: { prefix: string; cursor?: string; delimiter?: string }): Promise<R2Listing>;
}

export interface R2StoredObject {
  readonly etag: string;
  readonly arrayBuffer?: () => Promise<ArrayBuffer>;
}

export interface R2Listing {
  readonly objects: readonly { readonly key: string }[];
  readonly delimitedPrefixes: readonly string[];
  readonly truncated: boolean;
  readonly cursor?: string;
}

/** @throws TypeError if it lacks a method of a bucket */
export function checkBucket(bucket: unknown): R2BucketBinding {
  const methods = (bucket ?? {}) as Record<string, unknown>;
  for (const method of ['head', 'get', 'put', 'delete', 'list'])
    if (typeof methods[method] !== 'function')
      throw new TypeError(
        `An R2Storage needs a bucket that is bound to the Worker, such as env.BUCKET; this one has no ${method}()`,
      );
  return bucket as R2BucketBinding;
}
