import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { checkFileSystemName, checkOptions, ownClient, parseServiceUrl } from '@scratchfs/core/internal';
import { OBJECT_TREE_OPTIONS, type ObjectTreeOptions } from '@scratchfs/core/object-tree';
import { loadSdk } from './sdk.js';

export interface DynamoDbStorageOptions extends ObjectTreeOptions {
  /** Name of the table. Required with a client. Not allowed with a URL, which contains it. */
  readonly table?: string | undefined;
  /**
   * Name of the filesystem; a table holds any number of them. 1 to 100 characters of `a-z`, `0-9`, `-`, `_` and `.`,
   * beginning with a letter or digit. Not allowed with a URL, which may contain it. Default `default`.
   */
  readonly name?: string | undefined;
}

/** A table, and the client that reaches it. */
export interface Table {
  readonly client: () => Promise<DynamoDBClient>;
  /** Closes a client that this package has created; a client given by the user stays open. */
  readonly close: () => Promise<void>;
  readonly table: string;
}

export interface Settings {
  readonly table: Table;
  readonly name: string;
  readonly tree: ObjectTreeOptions;
}

/** Names that DynamoDB accepts for tables. */
const TABLE_NAME = /^[a-zA-Z0-9_.-]{3,255}$/;

/**
 * Checks a caller's arguments; own properties of the options only.
 * @throws TypeError for a wrong type, an unknown option, an invalid name or URL
 */
export function parseOptions(target: DynamoDBClient | string, options: DynamoDbStorageOptions | undefined): Settings {
  const known = ['table', 'name', ...OBJECT_TREE_OPTIONS];
  const given = checkOptions<DynamoDbStorageOptions>(options, known, 'DynamoDbStorage', false);
  const { table, name, ...tree } = given;
  if (typeof target !== 'string') return { table: tableOf(target, table), name: checkFileSystemName(name), tree };
  if (table !== undefined || name !== undefined)
    throw new TypeError('A URL says table and name itself: leave the options out');
  const url = parseUrl(target);
  return { table: url.table, name: checkFileSystemName(url.name), tree };
}

/** Checks the arguments of a static method, which needs a table only. @throws TypeError as {@link parseOptions} does */
export function parseTarget(
  target: DynamoDBClient | string,
  options: { readonly table?: string } | undefined,
  method: string,
): Table {
  const { table } = checkOptions<{ readonly table?: string }>(options, ['table'], method, false);
  return typeof target === 'string' ? parseUrl(target).table : tableOf(target, table);
}

function tableOf(client: DynamoDBClient, table: string | undefined): Table {
  if (typeof client?.send !== 'function')
    throw new TypeError('A DynamoDbStorage needs a DynamoDBClient of the SDK, or a URL');
  return { client: async () => client, close: async () => {}, table: checkTable(table) };
}

function parseUrl(text: string): { readonly table: Table; readonly name: string | undefined } {
  const form = 'dynamodb://table/name?region=name&endpoint=https://host';
  const { host, path, endpoint, region } = parseServiceUrl(text, 'dynamodb', 'a DynamoDbStorage', form);
  const create = async (): Promise<DynamoDBClient> => {
    const { DynamoDBClient: Client } = await loadSdk();
    return new Client({
      ...(region !== undefined && { region }),
      ...(endpoint !== undefined && { endpoint }),
    });
  };
  const table = { ...ownClient(create), table: checkTable(host) };
  return { table, name: path === '' ? undefined : path };
}

function checkTable(name: unknown): string {
  if (typeof name === 'string' && TABLE_NAME.test(name)) return name;
  throw new TypeError(
    'A DynamoDbStorage needs the name of a table: 3 to 255 characters of a-z, A-Z, 0-9, "_", "-" and "."',
  );
}
