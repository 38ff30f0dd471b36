import type { AttributeValue, DynamoDBClient, PutItemCommandInput, WriteRequest } from '@aws-sdk/client-dynamodb';
import { type BackendCall, isStorageError, StorageError } from '@scratchfs/core';
import { EACH_ATTEMPT, noteConnections } from '@scratchfs/core/internal';
import type { NamePage, ObjectStore, StoredHead } from '@scratchfs/core/object-tree';
import { isSurelyLostRace, isThrottled, toStorageError } from './dynamodb-errors.js';
import type { Table } from './options.js';
import { loadSdk, type Sdk } from './sdk.js';

type Item = Record<string, AttributeValue>;
type Request<R> = (sdk: Sdk, client: DynamoDBClient, options: { readonly abortSignal?: AbortSignal }) => Promise<R>;

/** Version of the format of the items. */
const FORMAT = '1';
/** DynamoDB allows 400 KB in an item, with its names and keys. */
const MAX_OBJECT_BYTES = 256 * 1024;
/** Greatest number of items of a BatchWriteItem. */
const BATCH_ITEMS = 25;
/**
 * Pause before the rest of a batch is sent again; doubled for each attempt in a row that deletes nothing, up to a
 * limit.
 */
const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 2_000;
/** Attempts in a row that delete nothing before the deletion fails. They take about 12 seconds. */
const MAX_FRUITLESS_ATTEMPTS = 12;
/** Partition with an item for each name that a filesystem ever had, so that they can be listed. */
const NAMES = 'scratchfs';
/** Names in a page of `names()`, which reads the heads of a page concurrently, with a request for each. */
const NAMES_IN_PAGE = 50;
const HEAD = 'head';
const OBJECTS = 'o/';

/**
 * Stores a filesystem as items: `pk` is `scratchfs/name`, `sk` is `head`, or `o/` and the name of an object, and
 * `bytes` has the content. The head also has a `tag`, which is a hash of its bytes, and the `format`.
 */
export class DynamoDbObjectStore implements ObjectStore {
  readonly maxObjectBytes = MAX_OBJECT_BYTES;
  // A partition allows 1,000 write units a second, and a delete costs one for each KB: 6.5 s for 25 of the largest
  // items.
  readonly maxDeleteNames = BATCH_ITEMS;
  readonly #table: Table;
  readonly #name: string;

  constructor(table: Table, name: string) {
    this.#table = table;
    this.#name = name;
  }

  async get(name: string, offset: number, length: number, call?: BackendCall): Promise<Uint8Array | undefined> {
    const key = this.#key(OBJECTS + name);
    // The bytes of an object do not change, so those that an eventually consistent read finds are right, at half the
    // price.
    const item = (await this.#read(key, false, call)) ?? (await this.#read(key, true, call));
    if (item === undefined) return undefined;
    const bytes = bytesOf(item);
    return offset === 0 && bytes.length <= length ? bytes : bytes.slice(offset, offset + length);
  }

  async put(name: string, bytes: Uint8Array, call?: BackendCall): Promise<void> {
    await this.#put({ ...this.#key(OBJECTS + name), bytes: { B: bytes } }, {}, call);
  }

  async delete(names: readonly string[], call?: BackendCall): Promise<void> {
    const keys = names.map((name) => this.#key(OBJECTS + name));
    for (let at = 0; at < keys.length; at += BATCH_ITEMS)
      await this.#deleteBatch(keys.slice(at, at + BATCH_ITEMS), call);
  }

  async list(prefix: string, cursor: string | undefined, call?: BackendCall): Promise<NamePage> {
    const page = await this.#query(this.#partition, OBJECTS + prefix, cursor, undefined, call);
    return { ...page, names: page.names.map((name) => name.slice(OBJECTS.length)) };
  }

  async readHead(known: string | undefined, call?: BackendCall): Promise<StoredHead | 'unchanged' | undefined> {
    const item = await this.#read(this.#key(HEAD), true, call);
    if (item === undefined) return undefined;
    const format = item['format']?.N;
    const tag = item['tag']?.S ?? '';
    if (format !== FORMAT)
      throw new StorageError(
        'version',
        `The items have format ${format}; this version of @scratchfs/dynamodb knows ${FORMAT}: update it`,
      );
    return tag === known ? 'unchanged' : { tag, bytes: bytesOf(item) };
  }

  async swapHead(bytes: Uint8Array, expected: string | undefined, call?: BackendCall): Promise<string | undefined> {
    if (expected === undefined) await this.#put(keyOf(NAMES, this.#name), {}, call);
    const tag = await tagOf(bytes);
    const head = { ...this.#key(HEAD), bytes: { B: bytes }, tag: { S: tag }, format: { N: FORMAT } };
    const condition =
      expected === undefined
        ? { ConditionExpression: 'attribute_not_exists(pk)' }
        : { ConditionExpression: 'tag = :tag', ExpressionAttributeValues: { ':tag': { S: expected } } };
    return (await this.#put(head, condition, call)) ? tag : undefined;
  }

  async deleteHead(call?: BackendCall): Promise<void> {
    await this.#deleteBatch([this.#key(HEAD)], call);
  }

  close(): Promise<void> {
    return this.#table.close();
  }

  /** Returns the names of the filesystems in the table, sorted. */
  async names(): Promise<string[]> {
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#query(NAMES, '', cursor, NAMES_IN_PAGE);
      const heads = await Promise.all(page.names.map((name) => this.#read(keyOf(`${NAMES}/${name}`, HEAD), true)));
      found.push(...page.names.filter((_, at) => heads[at] !== undefined));
      ({ cursor } = page);
    } while (cursor !== undefined);
    return found.sort();
  }

  /** Creates the table unless it exists, and waits until it can be used. */
  async createTable(): Promise<void> {
    await this.#send(async (sdk, client) => {
      const TableName = this.#table.table;
      const command = new sdk.CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
      });
      await client.send(command).catch((error: unknown) => {
        if (!(error instanceof sdk.ResourceInUseException)) throw error;
      });
      await sdk.waitUntilTableExists({ client, minDelay: 1, maxWaitTime: 120 }, { TableName });
    });
  }

  get #partition(): string {
    return `${NAMES}/${this.#name}`;
  }

  #key(sortKey: string): Item {
    return keyOf(this.#partition, sortKey);
  }

  #read(Key: Item, ConsistentRead: boolean, call?: BackendCall): Promise<Item | undefined> {
    return this.#send(async ({ GetItemCommand }, client, options) => {
      const command = new GetItemCommand({ TableName: this.#table.table, Key, ConsistentRead });
      return (await client.send(command, options)).Item;
    }, call);
  }

  /** Returns false if the condition does not hold. */
  #put(item: Item, condition: Partial<PutItemCommandInput>, call: BackendCall | undefined): Promise<boolean> {
    return this.#send(async ({ PutItemCommand }, client, options) => {
      const command = new PutItemCommand({ ...condition, TableName: this.#table.table, Item: item });
      command.middlewareStack.add(noteConnections(), EACH_ATTEMPT);
      try {
        await client.send(command, options);
        return true;
      } catch (error) {
        if (isSurelyLostRace(error)) return false;
        throw error;
      }
    }, call);
  }

  /** Deletes up to 25 items. Those that the table does not delete at first are sent again. */
  async #deleteBatch(keys: readonly Item[], call: BackendCall | undefined): Promise<void> {
    let rest: WriteRequest[] = keys.map((Key) => ({ DeleteRequest: { Key } }));
    for (let fruitless = 0; ; ) {
      const left = await this.#sendBatch(rest, call);
      if (left.length === 0) return;
      fruitless = left.length < rest.length ? 0 : fruitless + 1;
      if (fruitless === MAX_FRUITLESS_ATTEMPTS)
        throw new StorageError('unavailable', 'DynamoDB deletes nothing, because the table has too many requests', {
          mayHaveHappened: left.length < keys.length,
        });
      rest = left;
      await pause(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** fruitless), call?.signal);
    }
  }

  /** Sends a batch. Returns the items that are left of it: all if the table gets too many requests. */
  #sendBatch(batch: WriteRequest[], call: BackendCall | undefined): Promise<WriteRequest[]> {
    const { table } = this.#table;
    return this.#send(async ({ BatchWriteItemCommand }, client, options) => {
      try {
        const command = new BatchWriteItemCommand({ RequestItems: { [table]: batch } });
        return (await client.send(command, options)).UnprocessedItems?.[table] ?? [];
      } catch (error) {
        if (isThrottled(error)) return batch;
        throw error;
      }
    }, call);
  }

  /**
   * Returns a page of the sort keys of a partition that begin with a prefix. The cursor is the last key of the page.
   */
  #query(
    partition: string,
    prefix: string,
    cursor: string | undefined,
    limit: number | undefined,
    call?: BackendCall,
  ): Promise<NamePage> {
    return this.#send(async ({ QueryCommand }, client, options) => {
      const begins = prefix === '' ? '' : ' AND begins_with(sk, :prefix)';
      const command = new QueryCommand({
        TableName: this.#table.table,
        KeyConditionExpression: `pk = :partition${begins}`,
        ExpressionAttributeValues: {
          ':partition': { S: partition },
          ...(prefix !== '' && { ':prefix': { S: prefix } }),
        },
        ProjectionExpression: 'sk',
        ConsistentRead: true,
        ...(limit !== undefined && { Limit: limit }),
        ...(cursor !== undefined && { ExclusiveStartKey: keyOf(partition, cursor) }),
      });
      const { Items = [], LastEvaluatedKey } = await client.send(command, options);
      return { names: Items.map(({ sk }) => sk?.S ?? ''), cursor: LastEvaluatedKey?.['sk']?.S };
    }, call);
  }

  async #send<R>(request: Request<R>, call?: BackendCall): Promise<R> {
    try {
      const [sdk, client] = await Promise.all([loadSdk(), this.#table.client()]);
      return await request(sdk, client, call?.signal === undefined ? {} : { abortSignal: call.signal });
    } catch (error) {
      if (call?.signal?.aborted === true) throw call.signal.reason;
      if (isStorageError(error)) throw error;
      throw toStorageError(error, this.#table.table);
    }
  }
}

const keyOf = (partition: string, sortKey: string): Item => ({ pk: { S: partition }, sk: { S: sortKey } });

/** @throws StorageError `corrupt` for an item without content */
function bytesOf(item: Item): Uint8Array {
  const bytes = item['bytes']?.B;
  if (bytes === undefined) throw new StorageError('corrupt', 'An item has no attribute "bytes"');
  return bytes;
}

/** Returns the tag of a head: a hash of its bytes. It relies on no two heads of a filesystem having equal bytes. */
async function tagOf(head: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', head as Uint8Array<ArrayBuffer>);
  return btoa(String.fromCharCode(...new Uint8Array(digest)));
}

/** Waits. @throws the signal's reason as soon as it aborts */
async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, signal?.aborted === true ? 0 : milliseconds);
    signal?.addEventListener('abort', end);
  });
  signal?.throwIfAborted();
}
