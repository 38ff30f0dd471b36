const SCHEME = 'scratchfs://';

/** Returns the URI of a path in an attempt, such as `scratchfs://calm-otter/src/a.ts`. */
export function uriOf(attempt: string, path: string): string {
  return `${SCHEME}${attempt}${path.split('/').map(encodeURIComponent).join('/')}`;
}

/**
 * Parses a URI as {@link uriOf} makes it. Returns undefined for another scheme, without an attempt, or for invalid
 * escapes.
 */
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
