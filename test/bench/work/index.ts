import { churn } from './churn.js';
import { CONTENTS } from './contents.js';
import { DIRECTORIES, LARGE_DIRECTORIES } from './directories.js';
import { filesWork } from './files.js';
import { memory } from './memory.js';
import { session } from './session.js';
import { LARGE_VERSIONS, VERSIONS } from './versions.js';
import type { Work } from './work.js';

/** Rows of the table, in order. */
export const WORK: readonly Work[] = [
  ...filesWork(100_000, true),
  ...filesWork(100_000, false),
  ...DIRECTORIES,
  ...CONTENTS,
  session,
  ...VERSIONS,
  churn,
  memory(200_000, 'heap'),
  memory(200_000, 'resident'),
];

/** Rows that take minutes: only with `--large`. */
export const LARGE: readonly Work[] = [
  ...filesWork(1_000_000, true, ['create', 'read bytes', 'stat']),
  ...LARGE_DIRECTORIES,
  ...LARGE_VERSIONS,
  memory(1_000_000, 'heap'),
  memory(1_000_000, 'resident'),
];
