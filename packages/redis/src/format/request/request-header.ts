import type { Writer } from './writer.js';

/** What a request says of itself, before what it asks. */
export interface Header {
  /** Of the filesystem that the client knows, and of its epoch. */
  readonly token: string;
  /** Of the head: it holds the state that the request is about. */
  readonly field: string;
  /** The highest number that the client has seen. */
  readonly seen: number;
  /** After which an unused filesystem expires, or 0. */
  readonly ttlMs: number;
  /** Below it all the client's operations are settled. */
  readonly floor: number;
  /** Numbers whose results have arrived, with spaces between them. */
  readonly settled: string;
  /** It is sent by who holds the lock of the state. */
  readonly holdsLock: boolean;
  /** All that it does is remove. */
  readonly removes: boolean;
  /** Each of its batches gives one file its content at most, or only checks: that may be done in place. */
  readonly isSmall: boolean;
  /** Its last argument is what watchers are told. */
  readonly hasNews: boolean;
  /** The client's results have to be kept for another day, where the request is one of those that have any. */
  readonly keepsResults: boolean;
}

/** Bytes of a header whose texts are not long. */
export const HEADER_ROOM = 128;

/**
 * As `ENTER` reads it. What a request asks comes after it in the same argument: to take apart another one costs both sides more
 * than all the numbers that it could hold.
 */
export function writeHeader(header: Header, into: Writer): void {
  into.double(header.seen);
  into.double(header.ttlMs);
  into.double(header.floor);
  into.u8(header.holdsLock ? 1 : 0);
  into.u8(header.removes ? 1 : 0);
  into.u8(header.isSmall ? 1 : 0);
  into.u8(header.hasNews ? 1 : 0);
  into.u8(header.keepsResults ? 1 : 0);
  into.short(header.token);
  into.text(header.field);
  into.text(header.settled);
}
