import type { Writer } from './writer.js';

/** The fields at the beginning of a request that `ClientSession.run` sends. */
export interface RequestHeader {
  /** Identity and epoch of the filesystem that the client knows. */
  readonly token: string;
  /** Field of the head that holds the state to work on. */
  readonly field: string;
  /**
   * Highest value that this client has seen of the counter that changes of the filesystem advance. A lower one on the
   * server means that it has lost writes.
   */
  readonly highestCounter: number;
  /** Milliseconds after which an unused filesystem expires, or 0. */
  readonly ttlMs: number;
  /** All of the client's operations below this number are settled or given up. */
  readonly floor: number;
  /** Numbers of operations whose results the server may delete, separated by spaces. */
  readonly settled: string;
  /** True if the sender holds the lock of the state. */
  readonly holdsLock: boolean;
  /**
   * True if the request only removes names and touches directories. Such a request runs even if the server has no free
   * memory.
   */
  readonly onlyRemoves: boolean;
  /**
   * True if the commit script may try its fast path: each batch only has checks, or writes the content of one file and
   * at most touches a directory before it.
   */
  readonly fitsFastPath: boolean;
  /** True if the last argument holds the changes for watchers. */
  readonly hasAnnouncements: boolean;
  /** True if the script should renew the expiry of the client's results. */
  readonly renewsResults: boolean;
}

/** The part of a header that acknowledges results. */
export type Acknowledgement = Pick<RequestHeader, 'floor' | 'settled'>;

/** Usual size of a request header, in bytes. */
export const APPROX_HEADER_BYTES = 128;

/**
 * Writes a header in the order in which the script preamble reads it. The request body follows in the same argument:
 * parsing another argument costs both sides more than all of these fields.
 */
export function writeHeader(header: RequestHeader, into: Writer): void {
  into.double(header.highestCounter);
  into.double(header.ttlMs);
  into.double(header.floor);
  into.u8(header.holdsLock ? 1 : 0);
  into.u8(header.onlyRemoves ? 1 : 0);
  into.u8(header.fitsFastPath ? 1 : 0);
  into.u8(header.hasAnnouncements ? 1 : 0);
  into.u8(header.renewsResults ? 1 : 0);
  into.shortText(header.token);
  into.text(header.field);
  into.text(header.settled);
}
