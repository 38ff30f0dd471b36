export { openWorkingCopy } from './working-copy/open-working-copy.js';
export type {
  Conflict,
  EntryChange,
  PullOptions,
  PullResult,
  PushResult,
  SideChange,
  WorkingCopy,
  WorkingCopyOptions,
} from './working-copy/types.js';
