import { isWholeWrite, type Write } from '@scratchfs/core';

/**
 * Drops writes that later ones make invisible: a truncation to zero directly before a write of the whole content, and a
 * `touch` that is repeated after nothing but creations, content writes and touches.
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
