import { StorageError } from '../errors.js';

/**
 * Returns a function that imports a client's package when it is first needed, so that a program that does not use the
 * package need not install it. After a failure, the next call tries again.
 * @throws StorageError `unsupported` (the returned function) if the package cannot be imported
 */
export function sdkLoader<S>(load: () => Promise<S>, storage: string, packageName: string): () => Promise<S> {
  return once(async () => {
    try {
      return await load();
    } catch (cause) {
      throw new StorageError('unsupported', `${storage} needs a package: npm install ${packageName}`, { cause });
    }
  });
}

/** A client that the adapter creates itself, when it is first needed. `close` ends it if it was created. */
export interface OwnClient<C> {
  readonly client: () => Promise<C>;
  readonly close: () => Promise<void>;
}

export function ownClient<C extends { destroy(): void }>(create: () => Promise<C>): OwnClient<C> {
  let made: Promise<C> | undefined;
  const client = once(create);
  return {
    client: () => {
      made = client();
      return made;
    },
    close: async () => {
      const created = await made?.catch(() => undefined);
      created?.destroy();
    },
  };
}

/** Returns a function that does some work once and keeps its result. After a failure, the next call tries again. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}
