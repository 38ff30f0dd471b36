import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ObjectTreeStorage } from '@scratchfs/core/object-tree';
import { DynamoDbObjectStore } from './dynamodb-object-store.js';
import { type DynamoDbStorageOptions, parseOptions, parseTarget } from './options.js';

/**
 * A filesystem in a DynamoDB table that many processes share. Give it a client of @aws-sdk/client-dynamodb, version 3,
 * with the table, or a URL: `dynamodb://table/name?endpoint=…&region=…`. No request is sent before the first call.
 *
 * The table has the partition key `pk` and the sort key `sk`, both texts. Other items are left alone, as long as their
 * `pk` is not `scratchfs` and does not begin with `scratchfs/`.
 * @throws TypeError, RangeError for options or a URL of a wrong kind
 */
export class DynamoDbStorage extends ObjectTreeStorage {
  constructor(target: DynamoDBClient | string, options?: DynamoDbStorageOptions) {
    const { table, name, tree } = parseOptions(target, options);
    super(new DynamoDbObjectStore(table, name), tree);
  }

  /**
   * Returns the names of the filesystems in a table, sorted. Sends a request for each name that was ever used, and one
   * for each 50 of them.
   * @throws StorageError, and TypeError for a wrong client or table
   */
  static list(target: DynamoDBClient | string, options?: { readonly table?: string }): Promise<string[]> {
    return withTable(target, options, 'list', (store) => store.names());
  }

  /**
   * Creates a table that is billed per request, unless it exists, and waits until it can be used.
   * @throws StorageError, and TypeError for a wrong client or table
   */
  static createTable(target: DynamoDBClient | string, options?: { readonly table?: string }): Promise<void> {
    return withTable(target, options, 'createTable', (store) => store.createTable());
  }
}

async function withTable<R>(
  target: DynamoDBClient | string,
  options: { readonly table?: string } | undefined,
  method: string,
  work: (store: DynamoDbObjectStore) => Promise<R>,
): Promise<R> {
  const store = new DynamoDbObjectStore(parseTarget(target, options, `DynamoDbStorage.${method}`), 'default');
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
