export type { RedisClient } from './connection.js';
export type { RedisStorageOptions } from './options.js';
export { RedisBackend } from './redis-backend.js';
export { RedisStorage } from './redis-storage.js';
export type { Durability } from './server.js';
