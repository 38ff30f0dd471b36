import { objectStoreSuite } from '@scratchfs/testkit';
import { afterAll, describe, it } from 'vitest';
import { S3ObjectStore } from '../../packages/s3/src/s3-object-store.js';
import { clientOf, freshPlace, hasBucket } from './servers/test-bucket.js';

describe.skipIf(!hasBucket)('S3Storage', () => {
  const root = hasBucket ? freshPlace() : undefined;
  const client = root && clientOf(root);
  afterAll(() => client?.destroy());
  objectStoreSuite({
    // Each test mostly waits for the store, and has its own place.
    test: { describe, it: (name, body) => it.concurrent(name, body, 120_000) },
    methods: ['deleteHead'],
    name: 'as an object store',
    open: (place) =>
      new S3ObjectStore({
        client: async () => client as NonNullable<typeof client>,
        bucket: root?.bucket ?? '',
        prefix: `${root?.prefix}/${place}/`,
        close: async () => {},
        singleWriter: false,
      }),
  });
});
