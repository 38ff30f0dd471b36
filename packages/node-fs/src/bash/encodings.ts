import type { BufferEncoding } from 'just-bash';

const encoder = new TextEncoder();
// A byte order mark is content.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Returns the bytes of a string argument of just-bash. `binary` and `latin1` are one byte per character. */
export function toBytes(content: string | Uint8Array, encoding: BufferEncoding | undefined): Uint8Array {
  if (typeof content !== 'string') return content;
  switch (encoding) {
    case 'base64':
      return bytesOfCharacters(atob(content));
    case 'hex':
      return bytesOfHex(content);
    case 'binary':
    case 'latin1':
      return bytesOfCharacters(content);
    default:
      return encoder.encode(content);
  }
}

/** Returns bytes as text in the requested encoding. */
export function toText(bytes: Uint8Array, encoding: BufferEncoding | null | undefined): string {
  switch (encoding) {
    case 'base64':
      return btoa(charactersOf(bytes));
    case 'hex':
      return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    case 'binary':
    case 'latin1':
      return charactersOf(bytes);
    default:
      return decoder.decode(bytes);
  }
}

/** Returns one character per byte. */
export function charactersOf(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return text;
}

function bytesOfCharacters(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function bytesOfHex(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length >> 1);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(i * 2, i * 2 + 2), 16);
  return bytes;
}
