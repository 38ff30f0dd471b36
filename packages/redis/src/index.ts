export type { RedisClient } from './connection/connection.js';
export type { Durability } from './connection/server-info.js';
export type { RedisStorageOptions } from './options.js';
export { RedisBackend } from './redis-backend.js';
export { RedisStorage } from './redis-storage.js';
