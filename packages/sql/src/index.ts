export type { Collected, CollectOptions } from '@scratchfs/core/object-tree';
export type { SqlStorageOptions } from './options.js';
export type { ListenClient, PostgresClient, PostgresPool, PostgresQueryable, TaggedSql } from './postgres-client.js';
export { PostgresStorage } from './postgres-storage.js';
export type { SqliteDatabase, SqliteStatement } from './sqlite-database.js';
export { SqliteStorage, type SqliteStorageOptions } from './sqlite-storage.js';
