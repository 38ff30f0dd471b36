import { compare } from '../../bench/remote-harness.js';
import { inProcess } from '../../faults/remote/process-pool.js';
import setup from '../global-setup.js';
import { JOBS, type Jobs } from '../processes/jobs.js';
import { freshPlace } from '../servers/test-bucket.js';
import { CONTENDERS } from './contenders.js';

/** Runs the S3 part of `npm run bench -- remote`. All contenders use one store; each measurement has its own bucket. */
export async function benchS3(rounds: number): Promise<void> {
  const tearDown = await setup();
  if (process.env.SCRATCHFS_TEST_S3_URL === undefined) {
    console.log('\nS3 is left out: there is no store. Run `node .ci/s3-server.mjs`, or set SCRATCHFS_TEST_S3_URL.');
    return;
  }
  let buckets = 0;
  try {
    await compare(
      {
        title: 'S3: contents of 1,000 bytes in 64 places',
        contenders: Object.keys(CONTENDERS),
        settings: [
          { title: 'one by one', atOnce: 1, operations: 200 },
          { title: '64 at once', atOnce: 64, operations: 1_280 },
        ],
        measure: (contender, setting) => {
          const place = { ...freshPlace(), bucket: `bench-${process.pid}-${++buckets}` };
          return inProcess<Jobs, 'measure'>(JOBS, 'measure', { ...setting, place, contender });
        },
        columns: [
          ['wall', 'wall', 0],
          ['cpu', 'cpu', 0],
          ['requests', 'requests', 2],
        ],
        // The baseline is a plain client of the AWS SDK.
        baselines: [['PUT, GET', ['one object per file']]],
      },
      rounds,
    );
  } finally {
    await tearDown?.();
  }
}
