import {
  type AttributeValue,
  BatchWriteItemCommand,
  CreateTableCommand,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { openFileSystem } from '@scratchfs/core';
import { createSnapshot } from '@scratchfs/core/snapshot';
import { DynamoDbStorage } from '@scratchfs/dynamodb';
import { startDynalite } from './dynalite-server.js';

/**
 * `npm run bench -- dynamodb`: requests and capacity units of typical jobs, as dynalite counts them, beside one item
 * per file. They do not depend on the machine. unstorage has no driver for DynamoDB.
 */
interface Contender {
  writeMany(files: ReadonlyMap<string, string>): Promise<unknown>;
  write(path: string, text: string): Promise<unknown>;
  read(path: string): Promise<unknown>;
  stat(path: string): Promise<unknown>;
  list(path: string): Promise<unknown>;
  rename(from: string, to: string): Promise<unknown>;
  load(): Promise<unknown>;
  checkpoint(): Promise<unknown>;
}

const FILE = 'src/part-3/file-7.txt';
/** Items that a batch of the service takes. */
const BATCH = 25;
type Item = Record<string, AttributeValue>;

const CONTENDERS: Readonly<Record<string, (client: DynamoDBClient) => Promise<Contender>>> = {
  DynamoDbStorage: async (client) => {
    const fs = await openFileSystem(new DynamoDbStorage(client, { table: 'files' }));
    return {
      writeMany: (files) =>
        fs.transaction(async (tx) => {
          for (const [path, text] of files) {
            await tx.mkdir(`/${path}/..`, { recursive: true });
            await tx.writeFile(`/${path}`, text);
          }
        }),
      write: (path, text) => fs.writeFile(`/${path}`, text),
      read: (path) => fs.readText(`/${path}`),
      stat: (path) => fs.stat(`/${path}`),
      list: (path) => fs.readdir(`/${path}`),
      rename: (from, to) => fs.rename(`/${from}`, `/${to}`),
      load: () => createSnapshot(fs),
      checkpoint: () => fs.checkpoint(),
    };
  },
  'one item per file': async (client) => {
    const TableName = 'items';
    const keyOf = (path: string): Item => ({ pk: { S: 'files' }, sk: { S: path } });
    const put = async (items: readonly Item[]): Promise<void> => {
      for (let at = 0; at < items.length; at += BATCH) {
        const requests = items.slice(at, at + BATCH).map((Item) => ({ PutRequest: { Item } }));
        await client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: requests } }));
      }
    };
    const itemOf = (path: string, text: string): Item => ({ ...keyOf(path), bytes: { B: Buffer.from(text) } });
    const read = (path: string) =>
      client.send(new GetItemCommand({ TableName, Key: keyOf(path), ConsistentRead: true }));
    const query = async (prefix: string): Promise<Item[]> => {
      const items: Item[] = [];
      let after: Item | undefined;
      do {
        const { Items = [], LastEvaluatedKey } = await client.send(
          new QueryCommand({
            TableName,
            KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
            ExpressionAttributeValues: { ':pk': { S: 'files' }, ':prefix': { S: prefix } },
            ConsistentRead: true,
            ExclusiveStartKey: after,
          }),
        );
        items.push(...Items);
        after = LastEvaluatedKey;
      } while (after !== undefined);
      return items;
    };
    const copy = async (items: readonly Item[], from: string, to: string): Promise<void> =>
      put(items.map((item) => ({ ...item, sk: { S: to + String(item['sk']?.S).slice(from.length) } })));
    return {
      writeMany: (files) => put([...files].map(([path, text]) => itemOf(path, text))),
      write: (path, text) => client.send(new PutItemCommand({ TableName, Item: itemOf(path, text) })),
      read,
      stat: read,
      list: (path) => query(`${path}/`),
      rename: async (from, to) => {
        const items = await query(`${from}/`);
        await copy(items, from, to);
        for (const { pk, sk } of items)
          await client.send(new DeleteItemCommand({ TableName, Key: { pk, sk } as Item }));
      },
      load: () => query(''),
      checkpoint: async () => copy(await query(''), '', 'checkpoint/'),
    };
  },
};

const JOBS: Readonly<Record<string, (contender: Contender) => Promise<unknown>>> = {
  'make a tree of 500 files': (c) => c.writeMany(files(500)),
  'read a file, known already': (c) => c.read(FILE),
  'stat a file, known already': (c) => c.stat(FILE),
  'list a folder of 50, known already': (c) => c.list('src/part-3'),
  'overwrite a small file': (c) => c.write(FILE, 'other'),
  'change 100 files at once': (c) => c.writeMany(files(100)),
  'rename a folder of 50': (c) => c.rename('src/part-1', 'src/moved'),
};
/** Jobs of a client with an empty cache. */
const FRESH: typeof JOBS = {
  'open and load all 500 files': (c) => c.load(),
  'keep a checkpoint of all': (c) => c.checkpoint(),
};

function files(count: number): ReadonlyMap<string, string> {
  const texts = Array.from({ length: count }, (_, i) => `line of file ${i} of ${count}\n`.repeat(50));
  return new Map(texts.map((text, i) => [`src/part-${i % 10}/file-${Math.floor(i / 10)}.txt`, text]));
}

/** Figures that the service charges for. */
interface Cost {
  requests: number;
  written: number;
  read: number;
}

/** Opens a client that counts. */
function countingClient(endpoint: string, cost: Cost): DynamoDBClient {
  const client = new DynamoDBClient({ endpoint, region: 'eu-central-1' });
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' });
        const result = await next(args);
        const { ConsumedCapacity } = result.output as { ConsumedCapacity?: unknown };
        cost.requests += 1;
        for (const { CapacityUnits } of [ConsumedCapacity ?? []].flat() as { CapacityUnits: number }[])
          cost[/Put|Write|Delete|Update/.test(commandName) ? 'written' : 'read'] += CapacityUnits;
        return result;
      },
    { step: 'initialize' },
  );
  return client;
}

const server = await startDynalite();
const table = new Map<string, string[]>();
try {
  const cost: Cost = { requests: 0, written: 0, read: 0 };
  const client = countingClient(server.endpoint, cost);
  await DynamoDbStorage.createTable(client, { table: 'files' });
  await client.send(
    new CreateTableCommand({
      TableName: 'items',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
    }),
  );
  for (const open of Object.values(CONTENDERS))
    for (const jobs of [JOBS, FRESH]) {
      const contender = await open(client);
      for (const [job, work] of Object.entries(jobs)) {
        // The files are in the cache: a client's second read.
        if (job.endsWith('known already')) await work(contender);
        Object.assign(cost, { requests: 0, written: 0, read: 0 });
        await work(contender);
        table.set(job, [...(table.get(job) ?? []), `${cost.requests} (${cost.written} + ${cost.read})`]);
      }
    }
  client.destroy();
} finally {
  await server.stop();
}
console.log('Requests (write units + read units).\n');
console.log(`| | ${Object.keys(CONTENDERS).join(' | ')} |\n|---|---|---|`);
for (const [job, cells] of table) console.log(`| ${job} | ${cells.join(' | ')} |`);
