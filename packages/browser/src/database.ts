import { StorageError } from '@scratchfs/core';

/** Object store of the heads: `{ tag, bytes }` under the name of each filesystem. */
export const HEADS = 'heads';
/** Object store of the objects: their bytes under the name of the filesystem, a slash, and their own name. */
export const OBJECTS = 'objects';

/** Version of the format. IndexedDB refuses to open a database of a newer version. */
const FORMAT_VERSION = 1;

/**
 * A connection to a database, opened when it is needed. If another tab wants to delete or upgrade the database, the
 * connection is closed so that it does not block that; the next request opens it again.
 */
export class Database {
  readonly #name: string;
  readonly #changed: () => void;
  #opened: Promise<IDBDatabase | undefined> | undefined;
  #isClosed = false;

  /** @param changed called if the connection has been lost, because the database may be gone */
  constructor(name: string, changed: () => void) {
    this.#name = name;
    this.#changed = changed;
  }

  /**
   * Runs a transaction. `work` makes its first requests synchronously and passes the result to `done`, at the latest in
   * a callback of the last request. The promise resolves to that result when the transaction is complete; if it only
   * reads, immediately. Resolves to undefined if `done` was not called, or if the database does not exist and `mode` is
   * `readonly`.
   */
  async transact<T>(
    stores: readonly string[],
    mode: IDBTransactionMode,
    options: IDBTransactionOptions,
    work: (transaction: IDBTransaction, done: (result: T) => void) => void,
  ): Promise<T | undefined> {
    for (let attempt = 0; ; attempt++) {
      const db = await this.#open(mode === 'readwrite');
      if (db === undefined) return undefined;
      let transaction: IDBTransaction;
      try {
        transaction = db.transaction(stores as string[], mode, options);
      } catch (error) {
        // The connection was closed before the transaction could begin.
        if ((error as DOMException).name !== 'InvalidStateError' || attempt >= 3) throw error;
        this.#forget(db);
        continue;
      }
      return new Promise((resolve, reject) => {
        let result: T | undefined;
        transaction.oncomplete = () => resolve(result);
        transaction.onabort = () => reject(transaction.error);
        work(transaction, (value) => {
          result = value;
          if (mode === 'readonly') resolve(value);
        });
      });
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const opened = this.#opened;
    this.#opened = undefined;
    (await opened?.catch(() => undefined))?.close();
  }

  #open(create: boolean): Promise<IDBDatabase | undefined> {
    if (this.#isClosed) throw new StorageError('closed', 'The storage was closed');
    const opened = (this.#opened ?? this.#connect(create)).then((db) => db ?? (create ? this.#connect(true) : db));
    this.#opened = opened;
    const forget = (): void => {
      if (this.#opened === opened) this.#opened = undefined;
    };
    opened.then((db) => db === undefined && forget(), forget);
    return opened;
  }

  /** Opens a connection. If the database does not exist, creates it if `create` is true, or resolves to undefined. */
  async #connect(create: boolean): Promise<IDBDatabase | undefined> {
    if (typeof indexedDB === 'undefined')
      throw new StorageError('unsupported', 'There is no IndexedDB here: use this storage in a browser');
    const request = indexedDB.open(this.#name, FORMAT_VERSION);
    let isMissing = false;
    const db = await new Promise<IDBDatabase | undefined>((resolve, reject) => {
      request.onupgradeneeded = () => {
        isMissing = !create;
        if (isMissing) request.transaction?.abort();
        else for (const store of [HEADS, OBJECTS]) request.result.createObjectStore(store);
      };
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => (isMissing ? resolve(undefined) : reject(request.error));
    });
    if (db === undefined) return undefined;
    const lost = (): void => {
      db.close();
      this.#forget(db);
      this.#changed();
    };
    db.onversionchange = lost;
    db.onclose = lost;
    if (!this.#isClosed) return db;
    db.close();
    throw new StorageError('closed', 'The storage was closed');
  }

  #forget(db: IDBDatabase): void {
    const opened = this.#opened;
    void opened?.then((now) => {
      if (now === db && this.#opened === opened) this.#opened = undefined;
    });
  }
}
