import type { Metadata } from '../backend.js';
import type { EntryKind } from '../entry.js';

/**
 * One name in a snapshot. Entries come in preorder, siblings by UTF-8 bytes, the root first with depth 0 and an empty
 * name. They are numbered from 0 in that order.
 */
export type SnapshotEntry<Body> = NodeEntry<Body> | FurtherName;

/** A node under its first name. */
export interface NodeEntry<Body> {
  readonly kind: EntryKind;
  /** Number of names from the root: 0 for the root, 1 for its children. */
  readonly depth: number;
  readonly name: string;
  readonly meta: Metadata;
  /** Bytes of a file's content; 0 for a directory and a symlink. */
  readonly size: number;
  /** Target of a symlink, byte for byte. */
  readonly target?: string | undefined;
  /** The content of a file. */
  readonly body: Body;
}

/** Another name of an earlier file or symlink. */
export interface FurtherName {
  readonly kind: 'link';
  readonly depth: number;
  readonly name: string;
  /** The number of the entry with its first name. */
  readonly first: number;
}

/** Fills `into` with a file's content from byte `from` on. */
export type ContentWriter = (into: Uint8Array, from: number) => void;

/** An entry for the encoder: contents are written straight into the snapshot. */
export type SourceEntry = SnapshotEntry<ContentWriter | undefined>;

/** An entry from the decoder. From `Snapshot.entries`, its content is a view of the snapshot's bytes. */
export type DecodedEntry = SnapshotEntry<Uint8Array<ArrayBuffer>>;
