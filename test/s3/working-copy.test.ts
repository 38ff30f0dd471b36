import { S3Storage } from '@scratchfs/s3';
import { workingCopySuite } from '@scratchfs/testkit';
import { afterAll, describe, it } from 'vitest';
import { clientOf, freshPlace, hasBucket } from './servers/test-bucket.js';

describe.skipIf(!hasBucket)('A working copy on S3', () => {
  const client = hasBucket ? clientOf(freshPlace()) : undefined;
  afterAll(() => client?.destroy());

  workingCopySuite({
    test: { describe, it: (name, body) => it.concurrent(name, body, 120_000) },
    histories: 2,
    create: () => {
      const { bucket, prefix } = freshPlace();
      const open = () => new S3Storage(client as NonNullable<typeof client>, { bucket, prefix });
      return { ours: open(), theirs: open() };
    },
  });
});
