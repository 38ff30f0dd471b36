import type { Metadata } from '../backend.js';
import type { EntryKind } from '../entry.js';

/**
 * What a snapshot says of one name. Entries come in preorder, siblings by UTF-8 bytes, the root first with depth 0 and
 * an empty name. They are numbered from 0 in that order.
 */
export type SnapshotEntry<Body> = NodeEntry<Body> | FurtherName;

/** A node under its first name. */
export interface NodeEntry<Body> {
  readonly kind: EntryKind;
  /** Names from the root: 0 is the root, 1 what lies in it. */
  readonly depth: number;
  readonly name: string;
  readonly meta: Metadata;
  /** Bytes of a file's content; 0 for a directory and a symlink. */
  readonly size: number;
  /** Of a symlink: its target, byte for byte. */
  readonly target?: string | undefined;
  /** The content of a file. */
  readonly body: Body;
}

/** A further name of a file or symlink that came before. */
export interface FurtherName {
  readonly kind: 'link';
  readonly depth: number;
  readonly name: string;
  /** The number of the entry with its first name. */
  readonly first: number;
}

/** Fills `into` with the content of a file from byte `from` on. */
export type ContentWriter = (into: Uint8Array, from: number) => void;

/** An entry as the encoder takes it: contents are written straight into the snapshot. */
export type SourceEntry = SnapshotEntry<ContentWriter | undefined>;

/** An entry as the decoder gives it: the content is a part of the snapshot's own bytes. */
export type DecodedEntry = SnapshotEntry<Uint8Array<ArrayBuffer>>;
