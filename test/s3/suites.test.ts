import { type AsyncStorage, openFileSystem } from '@scratchfs/core';
import { S3Storage, type S3StorageOptions, s3Backend } from '@scratchfs/s3';
import { backendSuite, fileSystemSuite, storageSuite } from '@scratchfs/testkit';
import { afterAll, describe, it } from 'vitest';
import { quickSections } from './quick-sections.js';
import { clientOf, freshPlace, hasBucket } from './servers/test-bucket.js';

describe.skipIf(!hasBucket)('S3Storage with a client of the SDK', () => {
  const client = hasBucket ? clientOf(freshPlace()) : undefined;
  const opened: AsyncStorage[] = [];
  afterAll(async () => {
    await Promise.all(opened.map((storage) => storage.close()));
    client?.destroy();
  });
  const place = (options: S3StorageOptions = {}): S3StorageOptions => {
    const { bucket, prefix } = freshPlace();
    return { bucket, prefix, ...options };
  };
  const storageOn = (options: S3StorageOptions): S3Storage => {
    const storage = new S3Storage(client as NonNullable<typeof client>, place(options));
    opened.push(storage);
    return storage;
  };
  // Each test mostly waits for the store, and has its own place.
  const test = { describe, it: (name: string, body: () => Promise<void>) => it.concurrent(name, body, 120_000) };

  backendSuite({ test, create: () => s3Backend(client as NonNullable<typeof client>, place()) });
  storageSuite({ test, create: ({ clock }) => storageOn({ clock }) });
  fileSystemSuite({
    test,
    create: ({ clock, limits }) => openFileSystem(storageOn({ clock }), { clock, limits }),
    sections: quickSections,
  });
});
