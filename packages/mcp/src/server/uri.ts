const SCHEME = 'scratchfs://';

/** Returns the URI of a path in an attempt, such as `scratchfs://calm-otter/src/a.ts`. */
export function uriOf(attempt: string, path: string): string {
  return `${SCHEME}${attempt}${path.split('/').map(encodeURIComponent).join('/')}`;
}

/** Parses a URI that {@link uriOf} has made. Undefined for any other. */
export function parseUri(uri: string): { readonly attempt: string; readonly path: string } | undefined {
  if (!uri.startsWith(SCHEME)) return undefined;
  const [attempt = '', ...names] = uri.slice(SCHEME.length).split('/');
  if (attempt === '') return undefined;
  try {
    return { attempt: decodeURIComponent(attempt), path: `/${names.map(decodeURIComponent).join('/')}` };
  } catch {
    return undefined;
  }
}
