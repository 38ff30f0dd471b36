import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { ACCESS_KEY, CephGateway, SECRET_KEY } from './servers/ceph-gateway.js';
import { hasCeph } from './servers/find-ceph.js';

const BUCKET = 'tests';

/** One gateway for all tests, unless `SCRATCHFS_TEST_S3_URL` names a bucket: its URL and keys stand in the environment then. */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.SCRATCHFS_TEST_S3_URL !== undefined || !hasCeph) return undefined;
  const gateway = await CephGateway.start();
  console.log(`Ceph gateway ${gateway.version} at ${gateway.endpoint}`);
  process.env.AWS_ACCESS_KEY_ID = ACCESS_KEY;
  process.env.AWS_SECRET_ACCESS_KEY = SECRET_KEY;
  process.env.SCRATCHFS_TEST_S3_URL = `s3://${BUCKET}/?endpoint=${encodeURIComponent(gateway.endpoint)}&region=us-east-1`;
  const client = new S3Client({ endpoint: gateway.endpoint, region: 'us-east-1', forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
  client.destroy();
  return () => gateway.stop();
}
