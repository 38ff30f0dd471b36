import type { EntryKind, Metadata, NodeRecord } from '@scratchfs/core';
import { CHUNK_BYTES, readChunk } from '../stored/chunk.js';
import { isDirectory, readDirectory } from '../stored/directory.js';
import { META_AT, META_BYTES, RECORD_BYTES, readMeta, readRecord } from '../stored/record.js';
import { compose, copiedId, copiedMeta, storedTransform, type Transform } from '../stored/transform.js';
import { corruptReply } from './corrupt.js';

/** The part of a stored state that clients need. */
export interface StoredState {
  /** Total size of the files and symlinks that have several names. */
  readonly linkedSize: number;
  /** Version of the table of inodes, which holds these. */
  readonly inodesVersion: number;
}

/**
 * Decodes a state. Its bytes begin with the references of the root and of the table of inodes, which clients do not
 * need.
 */
export function readState(bytes: Buffer): StoredState {
  return { linkedSize: bytes.readDoubleBE(16), inodesVersion: bytes.readDoubleBE(24) };
}

/** Decodes a directory object as it is seen through the transform of its parent. */
export function readDirectoryNode(
  bytes: Buffer,
  transform: Transform | undefined,
  state: StoredState,
  isRoot = false,
): NodeRecord {
  if (!isDirectory(bytes)) throw corruptReply('a directory');
  const object = readDirectory(bytes);
  const { totals } = object;
  return checkedNode({
    id: transform === undefined ? object.nodeId : copiedId(object.nodeId, transform),
    kind: 'directory',
    meta: transform === undefined ? object.meta : copiedMeta(object.meta, transform),
    version: object.version,
    size: 0,
    links: 1,
    directory: {
      listing: object.listing,
      tree: totals.linked > 0 ? `${object.tree}+${state.inodesVersion}` : object.tree,
      count: object.count,
      totals: isRoot ? { ...totals, size: totals.size + state.linkedSize } : totals,
    },
  });
}

/**
 * Decodes an entry record. `extra` is the data that the reply has with it: a directory's object, a symlink's target, or
 * the inode of a node with several names (before its target, if it is a symlink); empty for other files.
 */
export function readRecordNode(
  bytes: Buffer,
  at: number,
  transform: Transform | undefined,
  extra: Buffer,
  state: StoredState,
): NodeRecord {
  const record = readRecord(bytes, at);
  if (record.kind === 'd') {
    const own = storedTransform(bytes.subarray(at + META_AT, at + META_AT + META_BYTES));
    return readDirectoryNode(extra, compose(own, transform), state);
  }
  if (record.kind === 'l') {
    if (extra.length < RECORD_BYTES) throw corruptReply('a file with several names');
    const inode = readRecord(extra);
    const meta = readMeta(extra, META_AT);
    // An inode's record has the number of names in place of an id.
    const node = leafNode(inode.kind, record.node, inode.version, inode.size, meta, Number(inode.node));
    return inode.kind === 's' ? { ...node, target: readTarget(extra.subarray(RECORD_BYTES), inode.size) } : node;
  }
  const meta = readMeta(bytes, at + META_AT);
  const node = leafNode(
    record.kind,
    transform === undefined ? record.node : copiedId(record.node, transform),
    record.version,
    record.size,
    transform === undefined ? meta : copiedMeta(meta, transform),
    1,
  );
  return record.kind === 's' ? { ...node, target: readTarget(extra, record.size) } : node;
}

function leafNode(
  letter: string,
  id: string,
  version: number,
  size: number,
  meta: Metadata,
  links: number,
): NodeRecord {
  const kind: EntryKind | undefined = letter === 'f' ? 'file' : letter === 's' ? 'symlink' : undefined;
  if (kind === undefined || !Number.isSafeInteger(links) || links < 1) throw corruptReply('a record');
  return checkedNode({ id, kind, meta, version, size, links });
}

/** @throws StorageError if a field has no possible value */
function checkedNode(node: NodeRecord): NodeRecord {
  const { id, meta, version, size } = node;
  const times = [meta.atime, meta.mtime, meta.ctime, meta.birthtime];
  if (
    id === '' ||
    !Number.isSafeInteger(size) ||
    size < 0 ||
    !Number.isSafeInteger(version) ||
    !times.every(Number.isFinite)
  )
    throw corruptReply('a record');
  return node;
}

function readTarget(chunk: Buffer, size: number): string {
  if (size > CHUNK_BYTES) throw corruptReply("a link's target");
  const bytes = new Uint8Array(size);
  if (size > 0 && !readChunk(chunk, bytes)) throw corruptReply("a link's target");
  return Buffer.from(bytes.buffer).toString('utf8');
}
