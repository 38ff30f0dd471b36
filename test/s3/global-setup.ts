import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { ACCESS_KEY, CephGateway, SECRET_KEY } from './servers/ceph-gateway.js';
import { serverName } from './servers/find-server.js';
import { startMoto } from './servers/moto-server.js';

const BUCKET = 'tests';

/**
 * Starts one server for all tests, unless `SCRATCHFS_TEST_S3_URL` names a bucket, whose keys are then expected in the
 * environment.
 */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.SCRATCHFS_TEST_S3_URL !== undefined || serverName === undefined) return undefined;
  const server = await (serverName === 'moto' ? startMoto() : CephGateway.start());
  console.log(`${server.name} at ${server.endpoint}`);
  process.env.AWS_ACCESS_KEY_ID = ACCESS_KEY;
  process.env.AWS_SECRET_ACCESS_KEY = SECRET_KEY;
  process.env.SCRATCHFS_TEST_S3_URL = `s3://${BUCKET}/?endpoint=${encodeURIComponent(server.endpoint)}&region=us-east-1`;
  const client = new S3Client({ endpoint: server.endpoint, region: 'us-east-1', forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
  client.destroy();
  return () => server.stop();
}
