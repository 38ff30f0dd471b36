/**
 * Content as plain data: text, or `size` bytes that {@link bytesOf} makes from `fill`. More than 128 such bytes are
 * never valid UTF-8.
 */
export type Data = string | { readonly size: number; readonly fill: number };

export function bytesOf(data: Data): Uint8Array<ArrayBuffer> {
  if (typeof data === 'string') return new TextEncoder().encode(data);
  const bytes = new Uint8Array(data.size);
  for (let i = 0; i < bytes.length; i++) bytes[i] = (data.fill + i + (i >>> 8)) & 0xff;
  return bytes;
}
