/**
 * Hides the password in a URL, also one with characters that should have been encoded. A number after the host that ends
 * there or is followed by `/`, `?` or `#` is a port, as for `URL`.
 */
export function withoutPassword(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#:]*):(?!\d*(?:[/?#]|$)).*@/is, '$1:***@');
}
