import type { Announcement } from '@scratchfs/core';
import { corruptReply } from './reply/corrupt.js';
import { Writer } from './request/writer.js';

/** Maximum encoded size of one batch's changes. A larger batch is announced as a reset. */
const MAX_BATCH_BYTES = 262_144;

/** Announces that the whole state was replaced, or that changes were missed. */
export const RESET: readonly Announcement[] = [{ type: 'reset', path: '/' }];

const TYPES = ['create', 'modify', 'remove', 'rename', 'reset'] as const;
const KINDS = [undefined, 'file', 'directory', 'symlink'] as const;
const HAS_CONTENT_FLAG = 4;

/** Encodes the changes of each batch, preceded by their length. */
export function writeAnnouncements(batches: readonly (readonly Announcement[])[]): Buffer {
  const into = new Writer();
  for (const changes of batches) {
    const lengthAt = into.reserve(4).at;
    writeChanges(changes, into);
    if (into.length - lengthAt > MAX_BATCH_BYTES) {
      into.truncate(lengthAt + 4);
      writeChanges(RESET, into);
    }
    into.patchU32(lengthAt, into.length - lengthAt - 4);
  }
  return into.done();
}

function writeChanges(changes: readonly Announcement[], into: Writer): void {
  for (const { type, path, from = '', kind, hasContent = false } of changes) {
    into.u8(TYPES.indexOf(type));
    into.u8(KINDS.indexOf(kind) + (hasContent ? HAS_CONTENT_FLAG : 0));
    into.text(path);
    into.text(from);
  }
}

/** Decodes an entry of the stream, which may hold the changes of several batches. */
export function readAnnouncements(bytes: Buffer): readonly Announcement[] {
  if (bytes.length === 0) return RESET;
  const changes: Announcement[] = [];
  let at = 0;
  const text = (): string => {
    const length = bytes.readUInt16BE(at);
    at += 2 + length;
    return bytes.toString('utf8', at - length, at);
  };
  try {
    while (at < bytes.length) {
      const type = TYPES[bytes.readUInt8(at)];
      const flags = bytes.readUInt8(at + 1);
      at += 2;
      const [path, from] = [text(), text()];
      const kind = KINDS[flags & 3];
      if (type === undefined || at > bytes.length) throw corruptReply('what watchers are told');
      changes.push({
        type,
        path,
        ...(from !== '' && { from }),
        ...(kind !== undefined && { kind }),
        ...(flags >= HAS_CONTENT_FLAG && { hasContent: true }),
      });
    }
  } catch (error) {
    if (error instanceof RangeError) throw corruptReply('what watchers are told');
    throw error;
  }
  return changes;
}
