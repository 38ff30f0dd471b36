import { captureArgument, captureContent, isBytes } from '../engine/arguments.js';
import type { Stats } from '../entry.js';
import type { SyncFileHandle } from '../file-handle.js';
import type { SyncFileSystem } from '../file-system.js';
import { captureArguments } from './capture.js';
import type { Call } from './intercept.js';
import type { PathUse } from './method-table.js';

/** Versions of the entry that a call changes. */
export interface ChangedVersions {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** Looks up the stats of one entry, in both forms. */
interface Look {
  promise(): Promise<Stats>;
  sync(): Stats;
}

/** Lookups of the entry that a call changes, before and after it. */
interface Looks {
  readonly before: Look;
  /** Undefined if the call only removes the entry. */
  readonly after: ((result: unknown) => Look) | undefined;
}

/** Returns how to look up the entry that a call changes; undefined if it changes none of its paths. */
export function looksOf(call: Call): Looks | undefined {
  if (call.on === 'handle') {
    if (call.spec.access !== 'write') return undefined;
    const handle = call.target as SyncFileHandle;
    const look: Look = { promise: () => handle.stat(), sync: () => handle.statSync() };
    return { before: look, after: () => look };
  }
  const uses = call.spec.paths(call.args);
  const removed = uses.find(({ access }) => access === 'remove');
  const written = uses.findLast(({ access }) => access === 'write');
  const first = removed ?? written;
  if (first === undefined) return undefined;
  const at = ({ path, follow }: PathUse): Look => {
    const fs = call.target as SyncFileSystem;
    return {
      promise: () => (follow ? fs.stat(path) : fs.lstat(path)),
      sync: () => (follow ? fs.statSync(path) : fs.lstatSync(path)),
    };
  };
  return {
    before: at(first),
    // The path of a new temporary directory is only known afterwards.
    after: written && ((result) => at(call.name === 'mkdtemp' ? { ...written, path: result as string } : written)),
  };
}

/** Returns a version. Undefined if there is none or the lookup fails: that is not a failure of the observed call. */
export async function versionOf(look: Look): Promise<string | undefined> {
  return look.promise().then(versionIn, () => undefined);
}

/** Like {@link versionOf}, without promises. */
export function versionOfSync(look: Look): string | undefined {
  try {
    return versionIn(look.sync());
  } catch {
    return undefined;
  }
}

function versionIn({ version }: Stats): string | undefined {
  return version === '' ? undefined : version;
}

/** Captures the arguments of a call that begins later. */
export function capturedArguments(call: Call): readonly unknown[] {
  if (call.on === 'fileSystem') return captureArguments(call.name, call.args);
  return call.args.map((value) => (isBytes(value) ? captureContent(value) : captureArgument(value)));
}
