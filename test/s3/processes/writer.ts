import { openFileSystem } from '@scratchfs/core';
import { S3Storage } from '@scratchfs/s3';

/** One process among several: so many small writes, each acknowledged. Says how long it took, and what it wrote. */
const [url, name, count] = process.argv.slice(2) as [string, string, string];
const storage = new S3Storage(url);
const fs = await openFileSystem(storage);
await fs.stat('/');
process.send?.('ready');
await new Promise((resolve) => process.once('message', resolve));
const begun = performance.now();
for (let i = 0; i < Number(count); i++) await fs.appendFile(`/log-${name}`, `${i} `);
process.send?.({ name, ms: performance.now() - begun });
await storage.close();
process.disconnect();
