import { S3Storage } from '@scratchfs/s3';
import { createFileSystem } from 'scratchfs';
import { expect, it, vi } from 'vitest';
import { call, openWorker } from './open-worker.js';

it('S3Storage opens the filesystem of an R2Storage through the S3 interface, and both write it', async () => {
  const [accessKeyId, secretAccessKey] = ['key', 'secret'];
  const worker = await openWorker({
    r2Buckets: { BUCKET: { id: 'bucket', s3Credentials: { accessKeyId, secretAccessKey } } },
  });
  vi.stubEnv('AWS_ACCESS_KEY_ID', accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secretAccessKey);
  try {
    expect(await call(worker, 'bucket/increment?name=both')).toEqual([1]);
    const endpoint = new URL('/cdn-cgi/local/r2/s3', await worker.ready);
    const storage = new S3Storage(
      `s3://bucket/scratchfs/both?region=auto&endpoint=${encodeURIComponent(endpoint.href)}`,
    );
    const fs = await createFileSystem({ storage });
    expect(await fs.readText('/counter')).toBe('1');
    await fs.writeFile('/counter', '41');
    expect(await call(worker, 'bucket/increment?name=both&times=2')).toEqual([42, 43]);
    expect(await fs.readText('/counter')).toBe('43');
    await storage.collectGarbage();
    expect(await call(worker, 'bucket/read?name=both')).toBe('43');
    await fs.close();
    expect(await call(worker, 'bucket/destroy?name=both')).toEqual([]);
  } finally {
    vi.unstubAllEnvs();
    await worker.dispose();
  }
});
