import { openFileSystem } from '@scratchfs/core';
import { RedisStorage } from '@scratchfs/redis';
import { Redis } from 'ioredis';

const [url, namespace] = process.argv.slice(2) as [string, string];
const client = new Redis(url);
const storage = new RedisStorage(client, { namespace });
const fs = await openFileSystem(storage);
await fs.writeFile('/short', 'program');
const fork = await fs.fork();
await fork.writeFile('/short', 'fork');
fs.watch('/');
await fork.close();
await storage.close();
client.disconnect();
