/**
 * Content as plain data: text, or `size` bytes made from `fill` by {@link bytesOf}. All 256 values occur, so that it is
 * no valid UTF-8 from some 128 bytes on.
 */
export type Data = string | { readonly size: number; readonly fill: number };

/** The bytes that data stands for. */
export function bytesOf(data: Data): Uint8Array<ArrayBuffer> {
  if (typeof data === 'string') return new TextEncoder().encode(data);
  const bytes = new Uint8Array(data.size);
  for (let i = 0; i < bytes.length; i++) bytes[i] = (data.fill + i + (i >>> 8)) & 0xff;
  return bytes;
}
