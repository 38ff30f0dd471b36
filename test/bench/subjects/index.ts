import { flatMap, treeFloor } from './floors.js';
import { justBash, memfs, platformatic, tmpfs, zenfs } from './peers.js';
import { scratchfs, scratchfsAsNodeFs, scratchfsPromises } from './scratchfs.js';
import type { Make } from './subject.js';

/** Subjects by their names in the tables. */
export const SUBJECTS = {
  'flat Map': flatMap,
  'tree floor': () => treeFloor(),
  scratchfs: () => scratchfs(),
  'scratchfs by promises': scratchfsPromises,
  'scratchfs as node:fs': scratchfsAsNodeFs,
  memfs,
  '@zenfs/core': zenfs,
  'just-bash': justBash,
  '@platformatic/vfs': platformatic,
  'node:fs on tmpfs': tmpfs,
} satisfies Readonly<Record<string, Make>>;

export type SubjectName = keyof typeof SUBJECTS;
