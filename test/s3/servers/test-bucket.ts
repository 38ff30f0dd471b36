import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';

/** True if there is a store to test on: the global setup has set its URL. */
export const hasBucket = process.env.SCRATCHFS_TEST_S3_URL !== undefined;

/** A server that the tests start if the user names no bucket. */
export interface TestServer {
  /** Name and version. */
  readonly name: string;
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Location of a filesystem, as a plain value that can be sent to other processes. */
export interface Place {
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly bucket: string;
  readonly prefix: string;
}

let places = 0;

/** Returns a place that no other test uses, in this process or another. */
export function freshPlace(): Place {
  const url = process.env.SCRATCHFS_TEST_S3_URL;
  if (url === undefined) throw new Error('There is no store to test on');
  const { hostname, searchParams, pathname } = new URL(url);
  places += 1;
  const folder = pathname.replace(/^\/|\/$/g, '');
  const own = `t${process.pid}-${places}-${Math.trunc(performance.timeOrigin % 1e9).toString(36)}`;
  return {
    endpoint: searchParams.get('endpoint') ?? undefined,
    region: searchParams.get('region') ?? 'us-east-1',
    bucket: hostname,
    prefix: folder === '' ? own : `${folder}/${own}`,
  };
}

export function clientOf({ endpoint, region }: Place, config: S3ClientConfig = {}): S3Client {
  return new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...config,
  });
}

export function urlOf({ endpoint, region, bucket, prefix }: Place): string {
  const parameters = new URLSearchParams({ region, ...(endpoint === undefined ? {} : { endpoint }) });
  return `s3://${bucket}/${prefix}?${parameters}`;
}
