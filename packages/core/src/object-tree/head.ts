import type { Metadata, NodeId } from '../backend.js';
import type { Limits } from '../limits.js';
import type { Ref } from './ref.js';

/** A complete state: the root, and the references to the pages of its names and of its inode table. */
export interface StateRecord {
  readonly id: NodeId;
  readonly meta: Metadata;
  readonly version: number;
  readonly listing: number;
  /** Version of everything under the root. */
  readonly tree: number;
  readonly size: number;
  readonly files: number;
  readonly directories: number;
  readonly linked: number;
  readonly height: number;
  readonly reach: number;
  readonly count: number;
  /** Levels of the tree of names. */
  readonly levels: number;
  readonly page: Ref | null;
  readonly inodes: Ref | null;
  readonly linkedSize: number;
  readonly inodesVersion: number;
}

export interface CheckpointRecord {
  readonly id: string;
  readonly name: string | undefined;
  readonly createdAt: number;
  readonly state: StateRecord;
}

/** A fork, from its creation until it is closed, or dropped as abandoned. */
export interface ForkRecord {
  readonly id: string;
  readonly createdAt: number;
  /** The state with which the fork started; the garbage collector keeps it. */
  readonly state: StateRecord;
}

/** A client's last commit. It tells a client whose swap got no response whether the swap was applied. */
export interface ClientRecord {
  readonly client: string;
  /** Sequence number of the commit among those of the client. The name is part of the format. */
  readonly flight: number;
  readonly commit: number;
}

/**
 * Progress of compactions. Both numbers start with the commit of the first head; a fork has a first head of its own.
 */
export interface CompactionProgress {
  /** Number of the commit with the last compaction, small or large. */
  readonly small: number;
  /** Number of the commit with the last large compaction. */
  readonly large: number;
}

/** The record of the current state, which every commit replaces. No two heads of a filesystem have the same bytes. */
export interface Head {
  /** Id of the filesystem, random. */
  readonly filesystem: string;
  /** Random for every head. */
  readonly nonce: string;
  /** Grows with every collection: a commit that was prepared on a head of an older epoch loses. */
  readonly epoch: number;
  /** Grows with every head; the version of its changes. */
  readonly commit: number;
  readonly state: StateRecord;
  readonly kept: readonly CheckpointRecord[];
  readonly forks: readonly ForkRecord[];
  /** Newest first. */
  readonly clients: readonly ClientRecord[];
  readonly limits: Limits;
  readonly gathered: CompactionProgress;
}

/** Maximum number of clients that a head remembers. */
export const MAX_REMEMBERED_CLIENTS = 256;
