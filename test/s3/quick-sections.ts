import type { FileSystemSection } from '@scratchfs/testkit';

const SECTIONS: readonly FileSystemSection[] = [
  'paths',
  'entries',
  'directories',
  'files',
  'links',
  'rename',
  'copy',
  'handles',
  'metadata',
  'versions',
  'limits',
  'checkpoints',
  'transactions',
  'watch',
  'streams',
  'signals',
  'aliasing',
  'bad input',
  'capabilities',
];
/**
 * Sections of the suite for a storage that is reached over a network, where random operations against the model take
 * minutes. Those run in packages/s3 on a store in memory, and here only with SCRATCHFS_TEST_EVERYTHING.
 */
export const quickSections = process.env.SCRATCHFS_TEST_EVERYTHING === undefined ? SECTIONS : undefined;
