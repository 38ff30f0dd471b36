export {
  type AddedOrRemoved,
  type Changed,
  type DiffEntry,
  type DiffOptions,
  type DiffPoint,
  diff,
  diffSync,
  type FileSystemDiff,
  type FormatDiffOptions,
  formatDiff,
  formatDiffSync,
} from './diff/diff.js';
export { diffFileSystems, diffFileSystemsSync } from './diff/diff-file-systems.js';
export { diffLines, type LineChange, type LineDiffOptions } from './diff/line-diff.js';
export { type DiffContent, type DiffFile, formatUnified, type UnifiedOptions } from './diff/unified.js';
