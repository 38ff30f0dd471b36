import type { Metadata, NodeId } from '../backend.js';
import { StorageError } from '../errors.js';
import type { Limits } from '../limits.js';
import type { Gathered } from './consolidation.js';
import { corrupt } from './corrupt.js';
import { isHead } from './head-shape.js';
import { hashOf, type Ref } from './ref.js';

/** The format that is written; others are refused. */
const FORMAT = 1;
const MAGIC = 'scratchfs object tree';

/** A whole state: the root, and where the rest begins. */
export interface StateRecord {
  readonly id: NodeId;
  readonly meta: Metadata;
  readonly version: number;
  readonly listing: number;
  /** Version of all beneath. */
  readonly tree: number;
  readonly size: number;
  readonly files: number;
  readonly directories: number;
  readonly linked: number;
  readonly height: number;
  readonly reach: number;
  readonly count: number;
  /** Of the tree of names. */
  readonly levels: number;
  readonly page: Ref | null;
  readonly inodes: Ref | null;
  readonly linkedSize: number;
  readonly inodesVersion: number;
}

/** A state that is kept. */
export interface KeptState {
  readonly id: string;
  readonly name: string | undefined;
  readonly createdAt: number;
  readonly state: StateRecord;
}

/** A fork somebody works on: its beginning, which has to stay. */
export interface ForkRecord {
  readonly id: string;
  readonly createdAt: number;
  readonly state: StateRecord;
}

/** The last that a client committed: how a lost answer is found. */
export interface ClientRecord {
  readonly client: string;
  readonly flight: number;
  readonly commit: number;
}

/** The one object that changes. No two heads of a filesystem are the same bytes. */
export interface Head {
  /** Of the filesystem, drawn when it was made. */
  readonly filesystem: string;
  /** Drawn for every head. */
  readonly nonce: string;
  /** Grows with every collection: what was prepared before it can no longer be committed. */
  readonly epoch: number;
  /** Grows with every head; the version of what it changed. */
  readonly commit: number;
  readonly state: StateRecord;
  readonly kept: readonly KeptState[];
  readonly forks: readonly ForkRecord[];
  /** The newest first. */
  readonly clients: readonly ClientRecord[];
  readonly limits: Limits;
  readonly gathered: Gathered;
}

/** How many clients a head remembers. */
export const MAX_CLIENTS = 256;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A first line with the format, the length and the hash of what follows, then JSON. */
export function encodeHead(head: Head): Uint8Array<ArrayBuffer> {
  const body = encoder.encode(JSON.stringify(head));
  const line = encoder.encode(`${MAGIC} ${FORMAT} ${body.length} ${hashOf(body).toString(16)}\n`);
  const bytes = new Uint8Array(line.length + body.length);
  bytes.set(line);
  bytes.set(body, line.length);
  return bytes;
}

/** @throws StorageError `corrupt` for what is no head or a damaged one, `version` for another format */
export function decodeHead(bytes: Uint8Array): Head {
  const end = bytes.subarray(0, 200).indexOf(10);
  const line = new RegExp(`^${MAGIC} (\\d{1,9}) (\\d{1,12}) ([0-9a-f]{1,8})$`).exec(
    decoder.decode(bytes.subarray(0, Math.max(0, end))),
  );
  if (line === null)
    throw new StorageError('corrupt', 'What lies where the head of the filesystem should be is something else');
  if (Number(line[1]) !== FORMAT)
    throw new StorageError(
      'version',
      `The stored filesystem has format ${line[1]}, this release reads format ${FORMAT}`,
    );
  const body = bytes.subarray(end + 1);
  if (body.length !== Number(line[2]) || hashOf(body) !== Number.parseInt(line[3] as string, 16))
    throw corrupt('its head has other bytes than it was written with');
  const head = parsed(decoder.decode(body));
  if (!isHead(head)) throw corrupt('its head is no head');
  return head;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
