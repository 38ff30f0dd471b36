import { benchRedis } from '../redis/bench/speed.js';
import { benchS3 } from '../s3/bench/speed.js';
import { benchDisk } from './disk.js';

const BENCHES = { disk: benchDisk, redis: benchRedis, s3: benchS3 };

/**
 * `npm run bench -- remote`: remote storages beside raw clients and unstorage, on the built packages. Arguments:
 * `disk`, `redis` or `s3` for one of them, and the number of rounds (default 5).
 */
const given = process.argv.slice(2);
const rounds = Number(given.find((argument) => !(argument in BENCHES)) ?? 5);
if (!(rounds >= 1)) throw new Error('Say disk, redis or s3, and how many rounds');
const named = given.filter((argument) => argument in BENCHES);
for (const [name, bench] of Object.entries(BENCHES))
  if (named.length === 0 || named.includes(name)) await bench(rounds);
process.exit();
