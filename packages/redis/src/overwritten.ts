import type { Write } from '@scratchfs/core';

/**
 * The same writes without those that others make invisible: a content that is cut to nothing before it is written whole
 * (its chunk is then changed in place), times of a directory that get later ones a few names further on.
 */
export function withoutOverwritten(writes: readonly Write[]): readonly Write[] {
  const later = new Set<string>();
  const kept: Write[] = [];
  for (let i = writes.length - 1; i >= 0; i--) {
    const write = writes[i] as Write;
    if (write.kind === 'touch') {
      if (later.has(write.path)) continue;
      later.add(write.path);
    } else if (write.kind !== 'create' && write.kind !== 'write') later.clear();
    if (write.kind === 'write' && write.size === 0 && isWhole(writes[i + 1], write.path)) continue;
    kept.push(write);
  }
  return kept.reverse();
}

function isWhole(write: Write | undefined, path: string): boolean {
  if (write?.kind !== 'write' || write.path !== path) return false;
  const [part, more] = write.parts;
  return part?.offset === 0 && part.bytes.byteLength === write.size && more === undefined;
}
