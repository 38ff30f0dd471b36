/** Parts of a URL that names a resource of an AWS service. */
export interface ServiceUrl {
  /** The name after the two slashes: a bucket or a table. */
  readonly host: string;
  /** The decoded path, without its first slash. */
  readonly path: string;
  /** URL of another server than AWS's. */
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
}

/**
 * Parses `scheme://host/path?endpoint=…&region=…`. Credentials are refused: they come from the SDK's own chain.
 * @param service The storage in error messages, with its article
 * @param form How the URL has to look, for error messages
 * @param known Parameters that the URL may have
 * @throws TypeError for anything else; the message never contains the URL
 */
export function parseServiceUrl(
  text: string,
  scheme: string,
  service: string,
  form: string,
  known: readonly string[] = ['endpoint', 'region'],
): ServiceUrl {
  const url = tryUrl(text);
  if (url === undefined || url.protocol !== `${scheme}:` || url.hostname === '')
    throw new TypeError(`The URL of ${service} must look like ${form}`);
  checkCredentials(url, service);
  const given = new Map<string, string>();
  for (const [key, value] of url.searchParams) {
    if (!known.includes(key))
      throw new TypeError(
        `The URL of ${service} has an unknown parameter. ${known.length === 0 ? 'It takes none' : `Known are ${known.join(', ')}`}`,
      );
    if (given.has(key)) throw new TypeError(`The URL of ${service} gives ${JSON.stringify(key)} twice`);
    given.set(key, value);
  }
  const endpoint = given.get('endpoint');
  if (endpoint !== undefined) checkEndpoint(tryUrl(endpoint), service);
  const host = /^[^/]*\/\/([^/?#]+)/.exec(text)?.[1] ?? url.hostname;
  return { host, path: decoded(url.pathname.slice(1), service), endpoint, region: given.get('region') };
}

function checkEndpoint(url: URL | undefined, service: string): void {
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new TypeError(`The endpoint in the URL of ${service} must be the http or https URL of a server`);
  checkCredentials(url, service);
}

function checkCredentials({ username, password }: URL, service: string): void {
  if (username === '' && password === '') return;
  throw new TypeError(
    `The URL of ${service} and its endpoint have no credentials: the SDK finds them, in environment variables for example`,
  );
}

function decoded(path: string, service: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new TypeError(`The path in the URL of ${service} must be encoded UTF-8: a percent sign is %25`);
  }
}

function tryUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
