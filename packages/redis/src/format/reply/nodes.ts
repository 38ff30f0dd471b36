import { type EntryKind, type Metadata, type NodeFact, StorageError } from '@scratchfs/core';
import { readChunk } from '../stored/chunk.js';
import { isDirectory, readDirectory } from '../stored/directory.js';
import { RECORD_BYTES, readMeta, readRecord } from '../stored/record.js';
import { compose, copiedId, copiedMeta, storedTransform, type Transform } from '../stored/transform.js';

/** The state that an answer is about: reference of the root, of the table of inodes, bytes of files in it, its version. */
export interface State {
  readonly linkedSize: number;
  readonly inodesVersion: number;
}

export function readState(bytes: Buffer): State {
  return { linkedSize: bytes.readDoubleBE(16), inodesVersion: bytes.readDoubleBE(24) };
}

export function corrupt(what: string): StorageError {
  return new StorageError('corrupt', `The server answered with something else than was stored: ${what}`);
}

/** The fact of a directory's object, seen through the transform of what it lies in. */
export function directoryFact(bytes: Buffer, transform: Transform | undefined, state: State, isRoot = false): NodeFact {
  if (!isDirectory(bytes)) throw corrupt('a directory');
  const object = readDirectory(bytes);
  const { totals } = object;
  return {
    id: transform === undefined ? object.node : copiedId(object.node, transform),
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
  };
}

/** The fact of a record, with what came beside it. */
export function recordFact(
  bytes: Buffer,
  at: number,
  transform: Transform | undefined,
  beside: Buffer,
  state: State,
): NodeFact {
  const record = readRecord(bytes, at);
  if (record.kind === 'd') {
    const own = storedTransform(bytes.subarray(at + 25, at + 25 + 33));
    return directoryFact(beside, compose(own, transform), state);
  }
  if (record.kind === 'l') {
    if (beside.length < RECORD_BYTES) throw corrupt('a file with several names');
    const inode = readRecord(beside);
    const fact = leafFact(inode.kind, record.node, inode.version, inode.size, readMeta(beside, 25), Number(inode.node));
    return inode.kind === 's' ? { ...fact, target: targetOf(beside.subarray(RECORD_BYTES), inode.size) } : fact;
  }
  const meta = readMeta(bytes, at + 25);
  const fact = leafFact(
    record.kind,
    transform === undefined ? record.node : copiedId(record.node, transform),
    record.version,
    record.size,
    transform === undefined ? meta : copiedMeta(meta, transform),
    1,
  );
  return record.kind === 's' ? { ...fact, target: targetOf(beside, record.size) } : fact;
}

function leafFact(letter: string, id: string, version: number, size: number, meta: Metadata, links: number): NodeFact {
  const kind: EntryKind | undefined = letter === 'f' ? 'file' : letter === 's' ? 'symlink' : undefined;
  if (kind === undefined || !(size >= 0) || !(links >= 1)) throw corrupt('a record');
  return { id, kind, meta, version, size, links };
}

function targetOf(chunk: Buffer, size: number): string {
  const bytes = new Uint8Array(size);
  if (size > 0 && !readChunk(chunk, bytes)) throw corrupt("a link's target");
  return Buffer.from(bytes.buffer).toString('utf8');
}
