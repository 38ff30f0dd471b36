import { isWholeWrite, type Write } from '@scratchfs/core';

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
    if (write.kind === 'write' && write.size === 0 && isReplaced(write.path, writes[i + 1])) continue;
    kept.push(write);
  }
  return kept.reverse();
}

function isReplaced(path: string, next: Write | undefined): boolean {
  return next?.kind === 'write' && next.path === path && isWholeWrite(next);
}
