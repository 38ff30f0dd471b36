import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { S3Client } from '@aws-sdk/client-s3';
import { expect, it } from 'vitest';
import { S3ObjectStore } from '../../packages/s3/src/s3-object-store.js';

/** Returns a port of a server that hangs up on its first `connections` connections, then stops listening. */
async function portOf(connections: number): Promise<number> {
  const server = createServer((socket) => {
    if (--connections === 0) server.close();
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  if (connections === 0) await new Promise((resolve) => server.close(resolve));
  return port;
}

it.each([
  ['says that nothing was sent if it could never connect', 0, false],
  ['may have happened if only the last attempt of the SDK could not connect', 1, true],
])('a swap of the head %s', async (_, connections, mayHaveHappened) => {
  const client = new S3Client({
    endpoint: `http://127.0.0.1:${await portOf(connections)}`,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'id', secretAccessKey: 'key' },
    maxAttempts: 3,
  });
  const close = async (): Promise<void> => client.destroy();
  const store = new S3ObjectStore({ client: async () => client, bucket: 'b', prefix: '', close, singleWriter: false });
  const error = await store.swapHead(new Uint8Array(1), '"tag"').catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ kind: 'unavailable', retryable: true, mayHaveHappened });
  expect(String((error as Error).cause)).toContain('ECONNREFUSED');
  await store.close();
});
