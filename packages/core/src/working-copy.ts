export { openWorkingCopy } from './working-copy/open-working-copy.js';
export type {
  Conflict,
  ConflictResult,
  EntryChange,
  PulledResult,
  PullOptions,
  PullResult,
  PushedResult,
  PushResult,
  SideChange,
  WorkingCopy,
  WorkingCopyOptions,
} from './working-copy/types.js';
