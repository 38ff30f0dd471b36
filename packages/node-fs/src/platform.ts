/** Encoding of names and contents as text. `buffer` means bytes. */
export type Encoding = string;

/** Differences between Node and other runtimes. */
export interface Platform {
  /**
   * Returns bytes in the form that users get: a Buffer in Node. The result shares the memory of `bytes`, so pass an array
   * that nothing else uses.
   */
  bytes(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>;
  isEncoding(name: unknown): boolean;
  decode(bytes: Uint8Array, encoding: Encoding): string;
  encode(text: string, encoding: Encoding): Uint8Array;
  /** Runs a caller's callback after the running code has ended, so that its exception rejects no promise. */
  defer(callback: () => void): void;
}
