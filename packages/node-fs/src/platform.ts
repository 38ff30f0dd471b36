/** How names and contents become text. `buffer` means: stay bytes. */
export type Encoding = string;

/** What differs between Node and everywhere else. */
export interface Platform {
  /** Bytes in the form that callers get: a Buffer in Node. The array becomes the caller's. */
  bytes(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>;
  isEncoding(name: unknown): boolean;
  decode(bytes: Uint8Array, encoding: Encoding): string;
  encode(text: string, encoding: Encoding): Uint8Array;
  /** Runs a caller's callback once the running code has ended; what it throws is nobody's rejection. */
  defer(callback: () => void): void;
}
