import { isWholeWrite, type Write } from '@scratchfs/core';

/**
 * Returns the writes without those that later ones make invisible: a truncation to zero directly before a write of the
 * whole content, and all but the last of several `touch` of a directory with only creations, content writes and other
 * touches between them.
 */
export function dropOverwritten(writes: readonly Write[]): readonly Write[] {
  const touchedLater = new Set<string>();
  const kept: Write[] = [];
  for (let i = writes.length - 1; i >= 0; i--) {
    const write = writes[i] as Write;
    if (write.kind === 'touch') {
      if (touchedLater.has(write.path)) continue;
      touchedLater.add(write.path);
    } else if (write.kind !== 'create' && write.kind !== 'write') touchedLater.clear();
    if (write.kind === 'write' && write.size === 0 && isReplacedBy(write.path, writes[i + 1])) continue;
    kept.push(write);
  }
  return kept.reverse();
}

function isReplacedBy(path: string, next: Write | undefined): boolean {
  return next?.kind === 'write' && next.path === path && isWholeWrite(next);
}
