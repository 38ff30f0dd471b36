import { Buffer } from 'node:buffer';
import type { Platform } from '../platform.js';

export const nodePlatform: Platform = {
  bytes: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) as Uint8Array<ArrayBuffer>,
  isEncoding: (name) => Buffer.isEncoding(name as string),
  decode: (bytes, encoding) =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(encoding as BufferEncoding),
  encode: (text, encoding) => Buffer.from(text, encoding as BufferEncoding),
  // After the running code and its microtasks, as after real I/O.
  defer: (callback) => void setImmediate(callback),
};
