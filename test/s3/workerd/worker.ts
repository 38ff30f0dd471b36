import { S3Client } from '@aws-sdk/client-s3';
import { openFileSystem } from '@scratchfs/core';
import { S3Storage } from '@scratchfs/s3';
import { fileSystemSuite, storageSuite } from '@scratchfs/testkit';
import { createRunner } from '../../runtimes/src/runner.js';

interface Environment {
  readonly ENDPOINT: string;
  readonly BUCKET: string;
  readonly PREFIX: string;
  readonly REGION: string;
  readonly ACCESS_KEY: string;
  readonly SECRET_KEY: string;
}

let places = 0;

/** Runs the suites inside a Worker, with an SDK client that was created for it. */
export default {
  async fetch(_: Request, environment: Environment): Promise<Response> {
    const { ENDPOINT, BUCKET, PREFIX, REGION, ACCESS_KEY, SECRET_KEY } = environment;
    const client = new S3Client({
      endpoint: ENDPOINT,
      region: REGION,
      forcePathStyle: true,
      credentials: { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY },
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
    const open = (clock: () => number): S3Storage => {
      places += 1;
      return new S3Storage(client, { bucket: BUCKET, prefix: `${PREFIX}/${places}`, clock });
    };
    const runner = createRunner();
    storageSuite({ test: runner, create: ({ clock }) => open(clock) });
    fileSystemSuite({
      test: runner,
      create: ({ clock, limits }) => openFileSystem(open(clock), { clock, limits }),
      sections: ['checkpoints', 'transactions'],
    });
    runner.it('garbage is found, listed and deleted', async () => {
      const storage = open(Date.now);
      const fs = await openFileSystem(storage);
      for (const text of ['one', 'two', 'three']) await fs.writeFile('/f', text);
      const { deleted, live } = await storage.collectGarbage();
      if (deleted !== 2 || live !== 1 || (await fs.readText('/f')) !== 'three')
        throw new Error(`${deleted} objects were deleted, ${live} are left`);
    });
    return Response.json(await runner.run());
  },
};
