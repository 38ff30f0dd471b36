/** Settings that a URL contains. */
export interface ParsedUrl {
  readonly bucket: string;
  readonly prefix: string;
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
}

/**
 * Parses `s3://bucket/prefix?endpoint=…&region=…`. Credentials are refused: they come from the SDK's own chain.
 * @throws TypeError for anything else; the message never contains the URL
 */
export function parseUrl(text: string): ParsedUrl {
  const url = tryUrl(text);
  if (url === undefined || url.protocol !== 's3:' || url.hostname === '')
    throw new TypeError('An S3 URL must look like s3://bucket/prefix?region=name&endpoint=https://host');
  checkCredentials(url);
  const given = new Map<string, string>();
  for (const [key, value] of url.searchParams) {
    if (key !== 'endpoint' && key !== 'region')
      throw new TypeError('The S3 URL has an unknown parameter. Known are endpoint, region');
    if (given.has(key)) throw new TypeError(`The S3 URL gives ${JSON.stringify(key)} twice`);
    given.set(key, value);
  }
  const endpoint = given.get('endpoint');
  if (endpoint !== undefined) checkEndpoint(tryUrl(endpoint));
  const bucket = /^s3:\/\/([^/?#]+)/i.exec(text)?.[1] ?? url.hostname;
  return { bucket, prefix: decoded(url.pathname.slice(1)), endpoint, region: given.get('region') };
}

function checkEndpoint(url: URL | undefined): void {
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new TypeError('The endpoint in an S3 URL must be the http or https URL of a store');
  checkCredentials(url);
}

function checkCredentials({ username, password }: URL): void {
  if (username !== '' || password !== '')
    throw new TypeError(
      'An S3 URL and its endpoint have no credentials: the SDK finds them, in environment variables for example',
    );
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new TypeError('The prefix in an S3 URL must be encoded UTF-8: a percent sign is %25');
  }
}

function tryUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
