import { type CallOptions, FsError, isFsError, isWithin, parentPath } from '@scratchfs/core';
import { type ApplyConflict, applyChanges, type PathChange } from '@scratchfs/host';
import type { Lower } from '../backend/lower.js';
import type { Head } from '../delta/delta-node.js';
import { changesBetween } from '../delta/head-changes.js';
import { WorkspaceError } from '../errors.js';
import { hashOf } from '../log/contents.js';
import { describeChanges, summarize } from '../log/describe-changes.js';
import type { NewOperation, OperationLog } from '../log/operation-log.js';
import type { OperationRecord } from '../log/operation-record.js';
import type { EntryState, Operation } from '../operation.js';
import { type AcceptParts, listOf } from './accept-parts.js';
import type { DiskWrite } from './accept-record.js';
import { hostChange } from './apply.js';
import { type AttemptChange, contentOf, MODE_BITS, sameState } from './attempt-change.js';
import { AcceptContents, attemptChanges } from './attempt-changes.js';
import { changesOfWrites } from './disk-changes.js';
import { withLinkedNames } from './linked-names.js';
import type { LiveOperation } from './pending-accept.js';
import { redoWrites, undoWrites } from './undo.js';

/** An operation that is about to be written to the disk. `after` is the number of the last operation before it. */
type Described = Omit<NewOperation, 'accept' | 'changes' | 'summary'> & {
  readonly after: number;
  readonly summary?: string | undefined;
};

/**
 * Writes an operation of a live attempt to the disk and appends it to the log, both or neither; after `kill -9`, the
 * next call completes that. The head in the log stays that of an attempt without changes: the disk has them.
 *
 * @param next head with the changes of the operation
 * @returns undefined if another process has changed the attempt, or a path of the operation on the disk: nothing was
 *   written, and the caller must read the disk again
 * @throws FsError ENOTEMPTY if a directory to be removed holds entries that stay, such as hidden ones, ENOTDIR if a
 *   file or link is in place of a directory above a path, EPERM if a path is a pipe, a socket or a device, EFBIG if the
 *   contents before and after are more than 256 MiB together, EEXIST if the disk has a new path in another case;
 *   whatever `applyChanges` throws
 */
export async function writeThrough(
  parts: AcceptParts,
  next: Head,
  described: Described,
  options: CallOptions = {},
): Promise<Operation | undefined> {
  const { head } = parts.log.state;
  const contents = new AcceptContents(parts.contents, parts.lower);
  // A file with several names changes on the disk under each of them.
  const linked = await withLinkedNames(next, parts, '', options);
  const written = linked?.head ?? next;
  const changes = describeChanges(changesBetween(head, written), head, written);
  const hashes = new Set<string>();
  let writes: DiskWrite[];
  let hostChanges: PathChange[];
  try {
    const found = await attemptChanges(written, contents, parts.readOnly, options);
    ({ writes, hostChanges } = await writesOf(found, contents, parts, hashes, options));
    await parts.contents.save(hashes, options);
  } finally {
    for (const user of [hashes, linked?.hashes]) if (user !== undefined) parts.contents.drop(user);
  }
  const apply = async (): Promise<'changed' | undefined> => {
    const { success, conflicts } = await applyChanges(hostChanges, parts.directory, { signal: options.signal });
    if (success) return undefined;
    await throwObstacle(conflicts, parts.lower);
    return 'changed';
  };
  const operation = { ...described, summary: described.summary ?? summarize(changes), changes };
  return await writeAndAppend(parts, { writes, operation }, apply, options);
}

/** Maximum bytes of the contents of one operation of a live attempt, which are held in memory several times. */
const MAX_CONTENTS = 2 ** 28;

/** @throws FsError EFBIG if the contents before and after an operation are too large together. Equal ones count once */
function checkContents(changes: readonly Pick<DiskWrite, 'path' | 'before' | 'after'>[]): void {
  const hashes = new Set<string>();
  let size = 0;
  let largest = { path: '/', size: 0 };
  for (const { path, before, after } of changes) {
    const old = size;
    for (const state of [before, after]) {
      if (state?.hash === undefined || hashes.has(state.hash)) continue;
      hashes.add(state.hash);
      size += state.size;
    }
    if (size - old > largest.size) largest = { path, size: size - old };
  }
  if (size <= MAX_CONTENTS) return;
  const isOne = largest.size > MAX_CONTENTS;
  const what = isOne ? `this file alone has ${mebibytes(largest.size)}` : `these files have ${mebibytes(size)}`;
  const next = isOne
    ? 'use an attempt that is not live'
    : 'change fewer files in one operation, such as one directory after the other, or use an attempt that is not live';
  throw new FsError('EFBIG', {
    path: largest.path,
    hint: `One operation of a live attempt can have 256 MiB of contents, those before and after it together, and ${what}. Nothing was written: ${next}`,
  });
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}

/**
 * Returns what has to be written.
 * @param hashes receives the hashes of the contents that undo and redo need, which the caller has to save
 */
async function writesOf(
  found: readonly AttemptChange[],
  contents: AcceptContents,
  parts: AcceptParts,
  hashes: Set<string>,
  { signal }: CallOptions,
): Promise<{ writes: DiskWrite[]; hostChanges: PathChange[] }> {
  const writes: DiskWrite[] = [];
  const hostChanges: PathChange[] = [];
  checkContents(found.map(({ path, base, now }) => ({ path, before: base, after: now })));
  for (const { path, base, now } of found) {
    const [before, after] = [permitted(base), permitted(now)];
    const content = await contentOf(after, contents, signal);
    for (const [state, bytes] of [
      [after, content],
      [before, before?.hash === after?.hash ? content : await contentOf(before, contents, signal)],
    ] as const)
      if (state?.hash !== undefined && hashOf(bytes) === state.hash) parts.contents.add(bytes, hashes);
    writes.push({ path, before, after });
    hostChanges.push(hostChange(path, before, after, content));
  }
  return { writes, hostChanges };
}

function permitted(state: EntryState | null): EntryState | null {
  return state && { ...state, mode: state.mode & MODE_BITS };
}

/** Throws for conflicts that trying again does not solve. */
async function throwObstacle(conflicts: readonly ApplyConflict[], lower: Lower): Promise<void> {
  for (const { path, code } of conflicts) {
    if (code === 'exists' && (await lower.record(path)) === undefined)
      throw new FsError('EEXIST', { path, hint: 'The disk has this name in another case. Nothing was written' });
    if (code === 'not-empty')
      throw new FsError('ENOTEMPTY', {
        path,
        hint: 'It holds entries that are never changed in a workspace, such as hidden files and ignored directories. Nothing was written',
      });
    if (code === 'special' || code === 'not-a-directory')
      throw new FsError(code === 'special' ? 'EPERM' : 'ENOTDIR', { path, hint: 'Nothing was written' });
  }
}

/**
 * Writes with `apply`, then appends the operation. Returns undefined, with everything as it was, if another client was
 * faster or `apply` found another state on the disk.
 */
async function writeAndAppend(
  parts: AcceptParts,
  {
    writes,
    operation,
  }: Pick<LiveOperation, 'writes'> & { readonly operation: LiveOperation['operation'] & { readonly after: number } },
  apply: () => Promise<'changed' | undefined>,
  options: CallOptions,
): Promise<Operation | undefined> {
  const { log, pending } = parts;
  const { after, ...rest } = operation;
  await using note = pending.note();
  const announced = {
    tool: 'operation',
    actor: rest.actor,
    summary: rest.summary,
    writes,
    after,
    operation: rest,
  } as const;
  if (!(await note.offer(announced, options))) return undefined;
  let outcome: 'changed' | undefined;
  try {
    outcome = (await log.catchUp(options)).last === after ? await apply() : 'changed';
  } catch (error) {
    await note.end().catch(() => undefined);
    throw error;
  }
  if (outcome === 'changed') {
    await note.end();
    return undefined;
  }
  await note.applied(announced);
  let appended: Operation;
  try {
    appended = await appendLive(log, { writes, operation: { ...rest, batch: rest.batch ?? note.id } });
  } catch (error) {
    // If the store refuses the record, for lack of space for example, the writes are taken back. If it is unknown
    // whether the record is stored, the note stays, and the next call completes the log.
    if (isFsError(error) && (await isTakenBack(parts, writes))) await note.end().catch(() => undefined);
    throw error;
  }
  await note.end().catch(() => undefined);
  return appended;
}

async function isTakenBack(parts: AcceptParts, writes: readonly DiskWrite[]): Promise<boolean> {
  const contents = new AcceptContents(parts.contents, parts.lower);
  try {
    return (await undoWrites(parts.directory, writes, contents)).length === 0;
  } catch {
    return false;
  }
}

/**
 * Appends an operation whose changes are on the disk, unless another client has completed it already. Cannot be
 * cancelled, because what it describes has happened.
 */
export async function appendLive(
  log: OperationLog,
  {
    writes,
    operation,
  }: Pick<LiveOperation, 'writes'> & { readonly operation: LiveOperation['operation'] & { readonly batch: string } },
): Promise<Operation> {
  for (;;) {
    const { head, last } = await log.catchUp({});
    const done = log.operationOf(operation.batch);
    if (done !== undefined) return done;
    const accept = { as: 'apply', isLive: true, writes } as const;
    const appended = await log.append(head, { ...operation, accept, after: last });
    if (appended !== undefined) return appended;
  }
}

/**
 * Brings back the state of the disk after an operation of a live attempt, of everything or of one path, as far as later
 * operations have changed it.
 * @returns the operation; `same` if nothing differs; undefined if another client was faster
 * @throws WorkspaceError `refused` if a path no longer holds what the later operations left there; `not-found` if one
 *   of them is no longer kept; FsError EFBIG. Nothing is changed then
 */
export async function restoreLive(
  parts: AcceptParts,
  to: number,
  path: string | undefined,
  described: Described & { readonly summary: string },
  options: CallOptions = {},
): Promise<Operation | 'same' | undefined> {
  const writes = await writesSince(parts.log, to, path, options);
  if (writes.length === 0) return 'same';
  checkContents(writes);
  const contents = new AcceptContents(parts.contents, parts.lower);
  const apply = async (): Promise<undefined> => {
    const changed = await redoWrites(parts.directory, writes, contents, options.signal);
    if (changed.length > 0) throw changedSince(changed, 'the later operations');
  };
  const changes = changesOfWrites(writes);
  return await writeAndAppend(parts, { writes, operation: { ...described, changes } }, apply, options);
}

/**
 * Returns the writes that lead from the state after the last operation of a live attempt to that after an earlier one.
 * @param under only writes at this path, under it, and of the directories that they need
 */
export async function writesSince(
  log: OperationLog,
  to: number,
  under: string | undefined,
  options: CallOptions,
): Promise<DiskWrite[]> {
  if (to > 0) await log.record(to, options);
  const found = new Map<string, DiskWrite>();
  for (let id = log.state.last; id > to; id--) {
    for (const { path, before, after } of await diskWritesOf(log, await log.record(id, options), options))
      found.set(path, { path, before: found.has(path) ? (found.get(path) as DiskWrite).before : after, after: before });
  }
  const isWanted = (path: string): boolean => under === undefined || under === '/' || isWithin(path, under);
  const wanted = new Map([...found].filter(([path]) => isWanted(path)));
  // Entries that come back need the directories that they were in.
  for (const { path, after } of [...wanted.values()]) {
    if (after === null) continue;
    for (let above = parentPath(path); above !== '/'; above = parentPath(above)) {
      const write = found.get(above);
      if (write !== undefined && write.after?.kind === 'directory') wanted.set(above, write);
    }
  }
  return [...wanted.values()]
    .filter(({ before, after }) => !sameState(before, after))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns what an operation wrote to the disk. */
async function diskWritesOf(
  log: OperationLog,
  { accept, operation }: OperationRecord,
  options: CallOptions,
): Promise<readonly DiskWrite[]> {
  if (accept?.as === 'apply') return accept.writes;
  const { tool, target } = operation;
  if ((tool !== 'undo' && tool !== 'redo') || target === undefined) return [];
  const writes = await diskWritesOf(log, await log.record(target, options), options);
  return tool === 'redo' ? writes : writes.map(({ path, before, after }) => ({ path, before: after, after: before }));
}

function changedSince(paths: readonly string[], left: string): WorkspaceError {
  return new WorkspaceError(
    'refused',
    `Nothing was changed, because these paths no longer hold what ${left} left there: ${listOf(paths)}. Put them back and try again, or edit them by hand`,
  );
}
