import { DynamoDBClient, PutItemCommand, QueryCommand, ScanCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { DynamoDbStorage } from '@scratchfs/dynamodb';
import {
  backendSuite,
  fileSystemSuite,
  objectStoreFaults,
  objectStoreSuite,
  storageSuite,
  workingCopySuite,
} from '@scratchfs/testkit';
import { afterAll, describe, expect, it } from 'vitest';
import { toStorageError } from '../../packages/dynamodb/src/dynamodb-errors.js';
import { DynamoDbObjectStore } from '../../packages/dynamodb/src/dynamodb-object-store.js';
import { quickSections } from '../s3/quick-sections.js';
import { killOnCounter, raceOnCounter } from '../sql/counting-clients.js';
import { startDynalite } from './dynalite-server.js';

const TABLE = 'scratchfs-tests';
const REGION = 'eu-central-1';
const server = await startDynalite();
const client = new DynamoDBClient({ endpoint: server.endpoint, region: REGION });
await DynamoDbStorage.createTable(client, { table: TABLE });
afterAll(async () => {
  client.destroy();
  await server.stop();
});

// The emulator takes a second for some hundred requests. The code above the object store is tested on other stores.
const EVERYTHING = process.env['SCRATCHFS_TEST_EVERYTHING'] !== undefined;

let made = 0;
const newName = (): string => `f${made++}`;
const storageOf = (name: string): DynamoDbStorage => new DynamoDbStorage(client, { table: TABLE, name });
const urlOf = (name: string): string =>
  `dynamodb://${TABLE}/${name}?region=${REGION}&endpoint=${encodeURIComponent(server.endpoint)}`;
const storeOf = (name: string): DynamoDbObjectStore => {
  const table = { client: async () => client, close: async () => {}, table: TABLE };
  return new DynamoDbObjectStore(table, name);
};

/** Clients that race, and kills of clients; a campaign has more. */
const WRITERS = Number(process.env['DYNAMODB_WRITERS'] ?? 4);
const INCREMENTS = WRITERS === 4 ? 25 : 100;
const KILLS = Number(process.env['DYNAMODB_KILLS'] ?? 2);
const LONG = { timeout: 60_000 + WRITERS * 30_000 + KILLS * 5_000 };

const test = { describe, it: (name: string, body: () => Promise<void>) => it.concurrent(name, body) };

describe('DynamoDbStorage', () => {
  objectStoreSuite({ test, methods: ['deleteHead'], name: 'Items', open: storeOf, listedObjects: 120 });
  backendSuite({ test, create: () => new ObjectTreeBackend(storeOf(newName())) });
  storageSuite({ test, create: ({ clock }) => new DynamoDbStorage(client, { table: TABLE, name: newName(), clock }) });
  fileSystemSuite({
    test,
    create: ({ clock, limits }) => {
      const storage = new DynamoDbStorage(client, { table: TABLE, name: newName(), clock, maxCacheBytes: 0 });
      return openFileSystem(storage, { clock, limits });
    },
    sections: EVERYTHING ? quickSections : ['transactions', 'limits', 'checkpoints', 'watch', 'signals'],
  });
  if (EVERYTHING)
    workingCopySuite({
      test,
      histories: 2,
      create: () => {
        const name = newName();
        return { ours: storageOf(name), theirs: storageOf(name) };
      },
    });

  it('leaves the state that was reported when replies are lost', async () => {
    const { faults, problems } = await objectStoreFaults({ create: () => storeOf(newName()), every: 97 });
    expect(problems).toEqual([]);
    expect(faults).toBeGreaterThan(3);
  });

  it('keeps large files in parts that a table takes, and lists and destroys filesystems', async () => {
    const [name, other] = [newName(), newName()];
    const storage = storageOf(name);
    const fs = await openFileSystem(storage);
    const second = await openFileSystem(storageOf(other));
    const large = new Uint8Array(3_000_000).map((_, i) => i % 251);
    await fs.writeFile('/large', large);
    await second.writeFile('/kept', 'x');
    expect(Buffer.compare(await fs.readFile('/large'), large)).toBe(0);
    expect(await DynamoDbStorage.list(client, { table: TABLE })).toEqual(expect.arrayContaining([name, other]));
    await storage.destroy();
    const names = await DynamoDbStorage.list(urlOf('default'));
    expect([names.includes(name), names.includes(other)]).toEqual([false, true]);
    expect(await second.readText('/kept')).toBe('x');
    const rest = await client.send(
      new ScanCommand({
        TableName: TABLE,
        FilterExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: `scratchfs/${name}` } },
      }),
    );
    expect(rest.Items).toEqual([]);
    await Promise.all([fs.close(), second.close()]);
  });

  it('needs the requests that the README names', async () => {
    const counting = new DynamoDBClient({ endpoint: server.endpoint, region: REGION });
    let requests = 0;
    counting.middlewareStack.add(
      (next) => (args) => {
        requests += 1;
        return next(args);
      },
      { step: 'initialize' },
    );
    const counted = async (work: () => Promise<unknown>): Promise<number> => {
      const before = requests;
      await work();
      return requests - before;
    };
    const place = { table: TABLE, name: newName() };
    const fs = await openFileSystem(new DynamoDbStorage(counting, place));
    for (let i = 0; i < 20; i++) await fs.writeFile(`/f${i}`, new Uint8Array(4_096));
    expect(await counted(() => fs.writeFile('/f3', new Uint8Array(4_096)))).toBe(2);
    expect(await counted(() => fs.checkpoint())).toBe(1);
    const storage = new DynamoDbStorage(counting, place);
    const opened: FileSystem[] = [];
    expect(await counted(async () => opened.push(await openFileSystem(storage)))).toBe(1);
    expect(await counted(() => (opened[0] as FileSystem).readFile('/f7'))).toBe(3);
    expect(await counted(() => (opened[0] as FileSystem).readFile('/f7'))).toBe(1);
    await Promise.all([fs.close(), ...opened.map((each) => each.close())]);
    counting.destroy();
  });

  it('deletes in groups that fit a deadline, however little the table takes at a time', async () => {
    const limited = new DynamoDBClient({ endpoint: server.endpoint, region: REGION });
    let batches = 0;
    let largest = 0;
    limited.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          if (commandName !== 'BatchWriteItemCommand') return next(args);
          const { RequestItems } = args.input as { RequestItems: Record<string, unknown[]> };
          const all = RequestItems[TABLE] as unknown[];
          largest = Math.max(largest, all.length);
          if (batches++ === 0)
            throw Object.assign(new Error('rate'), { name: 'ProvisionedThroughputExceededException' });
          const result = await next({ ...args, input: { RequestItems: { [TABLE]: all.slice(0, 3) } } } as typeof args);
          Object.assign(result.output as object, { UnprocessedItems: { [TABLE]: all.slice(3) } });
          return result;
        },
      { step: 'initialize' },
    );
    const place = { table: TABLE, name: newName(), retries: 0 };
    const storage = new DynamoDbStorage(limited, place);
    const fs = await openFileSystem(storage);
    for (let i = 0; i < 28; i++) await fs.writeFile(`/f${i}`, 'x');
    await storage.destroy();
    expect(await DynamoDbStorage.list(client, { table: TABLE })).not.toContain(place.name);
    expect(largest).toBe(25);
    await fs.close();
    limited.destroy();
  });

  it('ends the wait for a busy table when the call ends', async () => {
    const busy = {
      send: async () => {
        setTimeout(() => stop.abort(new Error('enough')), 5);
        throw Object.assign(new Error('rate'), { name: 'ThrottlingException' });
      },
    } as unknown as DynamoDBClient;
    const stop = new AbortController();
    const store = new DynamoDbObjectStore({ client: async () => busy, close: async () => {}, table: TABLE }, 'f');
    await expect(store.delete(['objects/1'], { signal: stop.signal })).rejects.toThrow('enough');
  });

  it('says that the region is missing, and quotes other failures unless they may name keys', () => {
    const failure = toStorageError(new Error('Region is missing'), TABLE);
    expect(failure).toMatchObject({ kind: 'unsupported', mayHaveHappened: false, retryable: false });
    expect(failure.message).toMatch(/AWS_REGION.*\?region=/);
    expect(toStorageError(new Error('socket hang up'), TABLE).message).toContain('socket hang up');
    expect(toStorageError(new Error('the secret is x'), TABLE).message).not.toContain('is x');
  });

  it('refuses a newer format, and leaves it as it is', async () => {
    const name = newName();
    const fs = await openFileSystem(storageOf(name));
    await fs.writeFile('/f', 'x');
    await fs.close();
    const Key = { pk: { S: `scratchfs/${name}` }, sk: { S: 'head' } };
    const format = { ':format': { N: '2' } };
    const ExpressionAttributeNames = { '#format': 'format' };
    await client.send(
      new UpdateItemCommand({
        TableName: TABLE,
        Key,
        UpdateExpression: 'SET #format = :format',
        ExpressionAttributeNames,
        ExpressionAttributeValues: format,
      }),
    );
    const items = () =>
      client.send(
        new QueryCommand({
          TableName: TABLE,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': Key.pk },
        }),
      );
    const { Items: before } = await items();
    await expect(openFileSystem(storageOf(name))).rejects.toMatchObject({ kind: 'version', message: /format 2/ });
    expect((await items()).Items).toEqual(before);
  });

  it('says what is wrong with a table, a server and an item', async () => {
    const open = (storage: DynamoDbStorage) => openFileSystem(storage);
    await expect(open(new DynamoDbStorage(client, { table: 'missing' }))).rejects.toMatchObject({
      kind: 'lost',
      message: expect.stringMatching(/missing. does not exist.*createTable/),
    });
    const away = 'dynamodb://table/one?region=eu&endpoint=http://127.0.0.1:1';
    const failure = await open(new DynamoDbStorage(away, { retries: 0 })).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'unavailable', mayHaveHappened: false });
    const name = newName();
    await client.send(
      new PutItemCommand({
        TableName: TABLE,
        Item: { pk: { S: `scratchfs/${name}` }, sk: { S: 'head' }, format: { N: '1' }, tag: { S: 't' } },
      }),
    );
    await expect(open(storageOf(name))).rejects.toMatchObject({ kind: 'corrupt' });
  });

  it.each([
    ['', undefined, /must look like dynamodb:/],
    ['s3://table', undefined, /must look like dynamodb:/],
    ['dynamodb://key:secret@table', undefined, /no credentials/],
    ['dynamodb://table/..%2Fz', undefined, /cannot be the name/],
    ['dynamodb://table/n', { name: 'n' }, /leave the options out/],
    ['dynamodb://t', undefined, /3 to 255/],
    [{}, { table: TABLE }, /needs a DynamoDBClient/],
    [{ send: () => undefined }, {}, /needs the name of a table/],
    [{ send: () => undefined }, { table: TABLE, name: '__proto__' }, /cannot be the name/],
    [{ send: () => undefined }, { tabel: TABLE }, /has no option 'tabel'/],
  ])('refuses %j with %j', (target, options, message) => {
    expect(() => new DynamoDbStorage(target as string, options as object)).toThrow(message);
  });

  it(`loses none of ${WRITERS} × ${INCREMENTS} increments of processes`, LONG, () =>
    raceOnCounter(urlOf(newName()), WRITERS, INCREMENTS),
  );

  it(`keeps every acknowledged increment through ${KILLS} kills at random moments`, LONG, () =>
    killOnCounter(urlOf(newName()), KILLS),
  );
});
