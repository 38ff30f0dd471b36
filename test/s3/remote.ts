import { type S3StorageOptions, s3Backend } from '@scratchfs/s3';
import { Random } from '@scratchfs/testkit';
import type { Remote } from '../faults/remote/remote.js';
import { type Fault, HttpProxy } from './proxy/http-proxy.js';
import { type Place, urlOf } from './servers/test-bucket.js';

const FAULTS: readonly Fault[] = [
  'dropped',
  'done and dropped',
  'silence',
  'done and silence',
  'twice',
  'late',
  'done and 500',
  'cut',
  'flipped',
  503,
  409,
  { delayMs: 3 },
  { delayMs: 20 },
];

/** The adapter over a bucket, for the campaigns that all remote storages share. */
export const s3Remote: Remote<Place> = {
  patience: { request: 4_000, operation: 60_000 },

  openBackend(place, { timeoutMs, clock } = {}) {
    const options: S3StorageOptions = { timeoutMs, clock };
    return s3Backend(urlOf(place), options);
  },

  async failingLine(place, seed, probability) {
    const proxy = await HttpProxy.start(place.endpoint ?? '');
    const random = new Random(seed);
    return {
      place: { ...place, endpoint: proxy.endpoint },
      begin: () => {
        proxy.plan = () => (random.chance(probability) ? random.pick(FAULTS) : 'none');
      },
      end: () => proxy.forget(),
      close: () => proxy.stop(),
    };
  },
};
