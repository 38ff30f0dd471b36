import type { Announcement } from '@scratchfs/core';
import { corrupt } from './reply/nodes.js';
import { Writer } from './request/writer.js';

/** What a batch has to tell is at most so long; of more than that only that much has happened is told. */
const MAX_BYTES = 262_144;

/** The whole state is another one, or some of what happened was not heard. */
export const RESET: readonly Announcement[] = [{ type: 'reset', path: '/' }];

const TYPES = ['create', 'modify', 'remove', 'rename', 'reset'] as const;
const KINDS = [undefined, 'file', 'directory', 'symlink'] as const;
const HAS_CONTENT = 4;

/** What each batch of a request has to tell, each after its length. */
export function writeAnnouncements(batches: readonly (readonly Announcement[])[]): Buffer {
  const into = new Writer();
  for (const changes of batches) {
    const at = into.reserve(4).at;
    writeChanges(changes, into);
    if (into.length - at > MAX_BYTES) {
      into.truncate(at + 4);
      writeChanges(RESET, into);
    }
    into.patchU32(at, into.length - at - 4);
  }
  return into.done();
}

function writeChanges(changes: readonly Announcement[], into: Writer): void {
  for (const { type, path, from = '', kind, hasContent = false } of changes) {
    into.u8(TYPES.indexOf(type));
    into.u8(KINDS.indexOf(kind) + (hasContent ? HAS_CONTENT : 0));
    into.text(path);
    into.text(from);
  }
}

/** What an entry of the stream tells; of several batches, one after the other. */
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
      if (type === undefined || at > bytes.length) throw corrupt('what watchers are told');
      changes.push({
        type,
        path,
        ...(from !== '' && { from }),
        ...(kind !== undefined && { kind }),
        ...(flags >= HAS_CONTENT && { hasContent: true }),
      });
    }
  } catch (error) {
    if (error instanceof RangeError) throw corrupt('what watchers are told');
    throw error;
  }
  return changes;
}
