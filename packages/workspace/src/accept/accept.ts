import { setTimeout as pause } from 'node:timers/promises';
import { type CallOptions, quote } from '@scratchfs/core';
import { checkOptions } from '@scratchfs/core/internal';
import { autoRunFiles, HostHistory, type MergeResult } from '@scratchfs/host';
import { moveBranch } from '@scratchfs/host/internal';
import type { AcceptOptions, AcceptResult } from '../attempt-types.js';
import type { Head } from '../delta/delta-node.js';
import { changesBetween } from '../delta/head-changes.js';
import { WorkspaceError } from '../errors.js';
import { ifReadable } from '../log/contents.js';
import { mainChanges } from '../log/main-changes.js';
import { type NewOperation, versionFor } from '../log/operation-log.js';
import type { OperationRecord } from '../log/operation-record.js';
import type { Conflict, Operation, OperationChange } from '../operation.js';
import { type AcceptParts, listOf } from './accept-parts.js';
import { type AcceptRecord, type DiskWrite, isOfLiveOperation } from './accept-record.js';
import { headAfterAccept } from './accepted-head.js';
import { type AcceptedPath, type Applied, applySelection } from './apply.js';
import { type AttemptChange, contentOf, sameState } from './attempt-change.js';
import { AcceptContents, attemptChanges } from './attempt-changes.js';
import { checkGitPaths, openDraft, planCommit } from './commit-plan.js';
import { changesOfWrites, inverseChanges } from './disk-changes.js';
import { DiskReader } from './disk-reader.js';
import { noteMoves } from './followed-directories.js';
import { type LinkedNames, withLinkedNames } from './linked-names.js';
import { appendLive } from './live-operation.js';
import { patchOf } from './patch.js';
import type { FoundNote, PendingAccept } from './pending-accept.js';
import { headWithKnown, reboundHead } from './rebound-head.js';
import { type SelectedChange, selectChanges } from './select.js';
import { redoWrites } from './undo.js';

const OPTIONS = ['as', 'paths', 'hunks', 'branch', 'message', 'onConflict', 'dryRun', 'expect', 'actor'] as const;

export interface KnownAcceptOptions extends AcceptOptions {
  readonly as: NonNullable<AcceptOptions['as']>;
  readonly onConflict: NonNullable<AcceptOptions['onConflict']>;
  readonly dryRun: boolean;
  readonly actor: string;
}

/** Returns checked options. @throws TypeError */
export function checkAcceptOptions(options: AcceptOptions | undefined): KnownAcceptOptions {
  const given = checkOptions<AcceptOptions>(options, OPTIONS, 'accept');
  const { as = 'apply', onConflict = 'fail', dryRun = false, actor = 'user', paths, hunks, branch, message } = given;
  if (!['apply', 'merge', 'branch', 'patch'].includes(as))
    throw new TypeError("as must be 'apply', 'merge', 'branch' or 'patch'");
  if (onConflict !== 'fail' && onConflict !== 'skip') throw new TypeError("onConflict must be 'fail' or 'skip'");
  if (typeof dryRun !== 'boolean') throw new TypeError('dryRun must be true or false');
  for (const [name, list] of Object.entries({ paths, hunks }))
    if (list !== undefined && !(Array.isArray(list) && list.every((item) => typeof item === 'string')))
      throw new TypeError(`${name} must be a list of texts`);
  for (const [name, text] of Object.entries({ actor, branch, message }))
    if (text !== undefined && typeof text !== 'string') throw new TypeError(`${name} must be a text`);
  if (hunks !== undefined && as !== 'apply' && as !== 'patch')
    throw new TypeError(`hunks can be accepted as 'apply' and 'patch' only, not as '${as}'`);
  if (branch !== undefined && as !== 'branch') throw new TypeError("branch is for as: 'branch' only");
  return { ...given, as, onConflict, dryRun, actor };
}

/** An accept in progress: all changes of the attempt, and those that were selected. */
interface Request {
  /** Head that has the changes. */
  readonly head: Head;
  readonly changes: readonly AttemptChange[];
  readonly selected: readonly SelectedChange[];
  readonly contents: AcceptContents;
  readonly options: KnownAcceptOptions;
  readonly startedAt: number;
}

/**
 * Brings changes of an attempt to the user. Must run in the attempt's turn, after the log has caught up. Returns
 * undefined if another client has changed the attempt before anything was written.
 * @throws WorkspaceError `not-found` for a path without a change and an unknown hunk; `moved` as in
 *   {@link selectChanges}; `refused`
 */
export async function acceptAttempt(
  parts: AcceptParts,
  options: KnownAcceptOptions,
): Promise<AcceptResult | undefined> {
  const { signal, paths, hunks, as, dryRun } = options;
  const { log, clock } = parts;
  const startedAt = clock();
  const contents = new AcceptContents(parts.contents, parts.lower);
  const version = versionFor(parts.attempt, { id: log.state.last + 1, at: startedAt });
  const linked = await withLinkedNames(log.state.head, parts, version, { signal });
  try {
    const isWritten = !dryRun && as !== 'patch';
    if (linked !== undefined && isWritten && !(await appendLinkedNames(parts, linked, signal))) return undefined;
    const head = isWritten ? log.state.head : (linked?.head ?? log.state.head);
    const changes = await attemptChanges(head, contents, parts.readOnly, { signal });
    await using disk = hunks && DiskReader.open(parts.directory, signal);
    const selected = await selectChanges(changes, { paths, hunks, disk }, contents, signal);
    if (selected.length === 0) return nothing(`Attempt ${parts.attempt} has no changes to accept.`);
    const request = { head, changes, selected, contents, options, startedAt };
    if (as === 'apply') return await acceptByApply(parts, request);
    return await (as === 'patch' ? acceptAsPatch(parts, request) : acceptAsCommit(parts, request));
  } finally {
    if (linked !== undefined) parts.contents.drop(linked.hashes);
  }
}

/** Adds the other names of changed files with hard links to the attempt. Returns false if another client was faster. */
async function appendLinkedNames(
  { log, contents, clock }: AcceptParts,
  { head, hashes }: LinkedNames,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  await contents.save(hashes, { signal });
  const described = {
    at: clock(),
    actor: 'user',
    tool: 'refresh',
    summary: 'Find other names of changed files',
    ms: 0,
  };
  return (await log.append(head, { ...described, after: log.state.last }, { signal })) !== undefined;
}

async function acceptByApply(parts: AcceptParts, request: Request): Promise<AcceptResult | undefined> {
  const { head, changes, selected, contents, options, startedAt } = request;
  const { onConflict, dryRun, signal, actor } = options;
  const { directory, log } = parts;
  const byPath = new Map(changes.map((change) => [change.path, change]));
  await using note = parts.pending.note();
  let isMoved = false;
  const onBegin = async ({ paths, writes }: Pick<PendingAccept, 'paths' | 'writes'>): Promise<void> => {
    const summary = `Accept ${count(countedPaths(changesOfWrites(paths ?? [], byPath)))}`;
    await note.begin({ tool: 'accept', actor, summary, paths, writes, after: log.state.last }, { signal });
    // Operations of other clients that came just before the note are noticed here.
    isMoved = (await log.catchUp({ signal })).head !== head;
    if (isMoved) throw new WorkspaceError('moved', 'Another client has changed the attempt');
  };
  let applied: Applied;
  try {
    applied = await applySelection(directory, selected, contents, { onConflict, dryRun, signal, onBegin });
  } catch (error) {
    await note.end().catch(() => undefined);
    if (isMoved) return undefined;
    throw error;
  }
  const { success, conflicts, autoRun, paths, writes, keptDirectories } = applied;
  const effect = changesOfWrites(writes, byPath);
  if (!success) {
    await note.end();
    return { ...nothing(`Nothing was accepted: ${conflictText(conflicts)}.`), success, conflicts };
  }
  const stay = new Set(keptDirectories);
  const written = paths.filter(({ path }) => !stay.has(path));
  const accepted = written.map(({ path }) => path);
  const counted = countedPaths(changesOfWrites(written, byPath));
  const parcel = { accepted, changes: effect, conflicts, autoRun };
  const kept =
    keptDirectories.length === 0
      ? ''
      : ` Not empty, so they stay: ${listOf(keptDirectories)}. Ignored directories, hidden files, and what else was put there on the disk are left alone.`;
  const rest = `.${restText(conflicts)}${kept}`;
  const isNone = accepted.length === 0;
  if (dryRun) return { ...nothing(`${isNone ? 'Nothing' : count(counted)} would be accepted${rest}`), ...parcel };
  const operation = await appendAccept(parts, { head, changes }, contents, {
    paths,
    record: { as: 'apply', writes },
    summary: `Accept ${count(counted)}`,
    actor,
    startedAt,
    batch: note.id,
  });
  // The log has the operation, so the next call removes a note that stays.
  await note.end().catch(() => undefined);
  const message = `${isNone ? 'Nothing was accepted' : `Accepted ${count(counted)}`}${rest}`;
  return { success, message, ...parcel, operation };
}

async function acceptAsPatch({ directory }: AcceptParts, request: Request): Promise<AcceptResult> {
  const { contents, options } = request;
  const { signal } = options;
  // The attempt has not seen what the disk has at these removals and hunks.
  const isLeft = ({ conflict, target }: SelectedChange): boolean =>
    conflict !== undefined && (target === null || options.hunks !== undefined);
  const left = request.selected.filter(isLeft);
  const selected = request.selected.filter((change) => !left.includes(change));
  const conflicts = left.flatMap(({ conflict }) => conflict ?? []);
  const format = await checkGitPaths(directory, selected, signal);
  const patch = await patchOf(selected, contents, { format, signal });
  const accepted = selected.flatMap(({ path, target, before }) =>
    (target ?? before)?.kind === 'directory' ? [] : [path],
  );
  const effect = changesAt(accepted, selected);
  const message = `The patch changes ${count(countedPaths(effect))}.${restText(conflicts)}`;
  return { ...nothing(message), accepted, changes: effect, conflicts, patch };
}

async function acceptAsCommit(parts: AcceptParts, request: Request): Promise<AcceptResult> {
  const { head, changes, selected, contents, options, startedAt } = request;
  const { as, onConflict, dryRun, signal, actor } = options;
  const { directory, attempt } = parts;
  const branch = as === 'branch' ? (options.branch ?? attempt) : undefined;
  await using draft = await openDraft(directory, branch, signal);
  const { entries, accepted, conflicts } = await planCommit(draft, directory, selected, contents, signal);
  const target = branch === undefined ? 'HEAD' : `the branch ${quote(branch)}`;
  if (conflicts.length > 0 && onConflict === 'fail')
    return { ...nothing(`Nothing was committed: ${conflictText(conflicts)}.`), success: false, conflicts };
  if (entries.size === 0) {
    const reason =
      accepted.length === 0
        ? 'git does not record directories'
        : `${branch !== undefined && draft.tip === undefined ? 'HEAD' : target} has it already`;
    const noBranch =
      branch !== undefined && draft.tip === undefined ? `, so no branch ${quote(branch)} was created` : '';
    return { ...nothing(`Nothing to commit: ${reason}${noBranch}.`), accepted, conflicts };
  }
  const autoRun = autoRunFiles([...entries.keys()].map((name) => `/${name}`));
  const effect = changesAt(accepted, selected);
  const counted = countedPaths(effect);
  const parcel = { accepted, changes: effect, conflicts, autoRun };
  if (dryRun) return { ...nothing(`${count(counted)} would be committed.${restText(conflicts)}`), ...parcel };
  const summary = `Accept ${count(counted)} of attempt ${attempt}`;
  const commit = await draft.commit(entries, options.message ?? `${summary}\n`);
  const rest = restText(conflicts);
  const label = { summary, actor, startedAt };
  if (branch !== undefined) {
    const record = { as: 'branch', branch, from: draft.tip, to: commit } as const;
    const operation = await appendAccept(parts, { head, changes }, contents, { ...label, paths: [], record });
    return {
      success: true,
      message: `Committed ${count(counted)} to ${target}.${rest}`,
      ...parcel,
      operation,
      commit,
    };
  }
  // Stores the old contents, as far as they can be read, so that the log can show the lines that the merge has changed.
  for (const { before } of selected) {
    const content = before?.hash === undefined ? undefined : await ifReadable(contentOf(before, contents, signal));
    if (content !== undefined) await contents.write(content, signal);
  }
  using _ = parts.pending.writing(selected.map(({ path, base, target }) => ({ path, before: base, after: target })));
  const merged = await mergeCommit(directory, commit, options);
  if (!merged.success) return { ...nothing(merged.message), success: false };
  // Git records no directories. Those that the merge has created or removed with their files are accepted too.
  const made = new Map(
    selected.flatMap(({ path, base, target }) =>
      (base === null) !== (target === null) && (base ?? target)?.kind === 'directory' ? [[path, target]] : [],
    ),
  );
  // Git has merged, so from here on the signal does not count.
  const onDisk = await pathsOnDisk(directory, [...accepted, ...made.keys()], changes, contents);
  const paths = onDisk.filter(({ path, after }) => !made.has(path) || sameState(after, made.get(path) ?? null));
  const record = { as: 'merge', commit } as const;
  const operation = await appendAccept(parts, { head, changes }, contents, { ...label, paths, record });
  return { success: true, message: `${merged.message}${rest}`, ...parcel, operation, commit };
}

/** Merges a commit into the user's branch with the user's git. */
async function mergeCommit(
  directory: string,
  commit: string,
  { message, signal }: AcceptOptions,
): Promise<MergeResult> {
  await using versions = new HostHistory();
  // Entries that cannot be represented stay as they are: the commit has them from its parent.
  await versions.onboardRepo(directory, { skipUnrepresentable: () => undefined, signal });
  return await versions.executeMerge(directory, commit, { message, signal });
}

/** Returns accepted paths after a merge, each with what the disk has now as the state that the attempt begins from. */
async function pathsOnDisk(
  directory: string,
  paths: readonly string[],
  changes: readonly AttemptChange[],
  contents: AcceptContents,
): Promise<AcceptedPath[]> {
  await using disk = DiskReader.open(directory);
  return await Promise.all(
    paths.map(async (path) => {
      const { state, content } = await disk.read(path);
      if (content !== undefined) await contents.write(content);
      const planned = changes.find((change) => change.path === path)?.now ?? null;
      return { path, planned, before: state, after: state, base: state, now: state };
    }),
  );
}

interface Accepted {
  readonly paths: readonly AcceptedPath[];
  readonly record: AcceptRecord;
  readonly summary: string;
  readonly actor: string;
  readonly startedAt: number;
  readonly batch?: string | undefined;
}

/** Appends the operation of an accept, which is written already. Tries again if another client was faster. */
async function appendAccept(
  parts: AcceptParts,
  planned: { readonly head: Head; readonly changes: readonly AttemptChange[] },
  contents: AcceptContents,
  { paths, record, summary, actor, startedAt, batch }: Accepted,
): Promise<Operation> {
  const done = new Map(paths.map((accepted) => [accepted.path, accepted]));
  const changes = effectOf(record, paths, planned.changes);
  return append(parts, batch, async (head, version) => {
    const isPlanned = head === planned.head;
    const current = isPlanned ? planned.changes : await attemptChanges(head, contents, parts.readOnly);
    const remaining = current.flatMap((change) => {
      const accepted = done.get(change.path);
      if (accepted === undefined) return [change];
      // Another client has changed it again: that change begins from what was accepted.
      if (isPlanned || sameState(accepted.planned, change.now)) return [];
      return [{ path: change.path, base: accepted.after, now: change.now }];
    });
    const next = await headAfterAccept(head, paths, remaining, contents, version, isPlanned);
    await noteMoves(changesBetween(head, next), next, parts.lower, parts.moves);
    return {
      head: next,
      operation: { tool: 'accept', actor, summary, startedAt, accept: record, changes },
    };
  });
}

/** Returns the selected changes at accepted paths. */
function changesAt(accepted: readonly string[], selected: readonly SelectedChange[]): OperationChange[] {
  const paths = new Set(accepted);
  const byPath = new Map(selected.map((change) => [change.path, change]));
  const writes = selected.map(({ path, base, target }) => ({ path, before: base, after: target }));
  return changesOfWrites(
    writes.filter(({ path }) => paths.has(path)),
    byPath,
  );
}

/** Returns what an accept changes outside the attempt. A commit to a branch changes no path of the disk. */
function effectOf(
  record: AcceptRecord,
  paths: readonly AcceptedPath[],
  changes: readonly AttemptChange[],
): OperationChange[] {
  const byPath = new Map(changes.map((change) => [change.path, change]));
  if (record.as === 'apply') return changesOfWrites(record.writes, byPath);
  if (record.as === 'branch') return [];
  const writes = paths.map(({ path, after }) => ({ path, before: byPath.get(path)?.base ?? null, after }));
  return changesOfWrites(
    writes.filter(({ before, after }) => !sameState(before, after)),
    byPath,
  );
}

/**
 * Appends an operation made from the current head. Cannot be cancelled, because what it describes has happened.
 * @param batch id of the note. If another client has completed it, the operation of that client is returned
 */
async function append(
  { log, clock, attempt }: AcceptParts,
  batch: string | undefined,
  prepare: (
    head: Head,
    version: string,
  ) => Promise<{
    readonly head: Head;
    readonly operation: Omit<NewOperation, 'at' | 'ms' | 'batch'> & { readonly startedAt: number };
  }>,
): Promise<Operation> {
  for (;;) {
    const { head, last } = await log.catchUp({});
    const done = batch === undefined ? undefined : log.operationOf(batch);
    if (done !== undefined) return done;
    const at = clock();
    const prepared = await prepare(head, versionFor(attempt, { id: last + 1, at }));
    const { startedAt, ...described } = prepared.operation;
    const ms = Math.max(0, at - startedAt);
    const operation = await log.append(prepared.head, { ...described, batch, at, ms, after: last });
    if (operation !== undefined) return operation;
  }
}

/** Returns the head after the undo or redo of an operation. */
type HeadAfterMove = (head: Head, target: OperationRecord, tool: 'undo' | 'redo', version: string) => Head;

/**
 * Time in milliseconds to wait for another client's undo or redo of an accept, or for its operation of a live attempt.
 */
const WAIT_MS = 10_000;
const PAUSE_MS = 20;

/**
 * Completes the log after a process was killed while it wrote to the disk. Waits for another client's undo, redo or
 * operation of a live attempt. Does not wait for its accept, but returns true: the caller may go on then, but must not
 * take over what is on the disk. Must run in the attempt's turn.
 * @throws WorkspaceError `refused` if waiting takes longer than 10 seconds
 */
export async function settleAccepts(parts: AcceptParts, headAfterMove: HeadAfterMove): Promise<boolean> {
  for (const until = performance.now() + WAIT_MS; ; await pause(PAUSE_MS)) {
    const found = await parts.pending.find();
    if (found === undefined) return false;
    if (!found.isLive) await completeNote(parts, found, headAfterMove);
    else if (found.pending.tool === 'accept') return true;
    else if (performance.now() > until) throw atWork(found);
  }
}

/**
 * Completes the log after a process was killed while it wrote to the disk. Must run in the attempt's turn.
 * @throws WorkspaceError `refused` while another client accepts, or if its undo, redo or operation of a live attempt
 *   takes longer than 10 seconds
 */
export async function completeInterrupted(
  parts: AcceptParts,
  headAfterMove: HeadAfterMove,
  options: CallOptions = {},
): Promise<void> {
  options.signal?.throwIfAborted();
  if (!(await settleAccepts(parts, headAfterMove))) return;
  const found = await parts.pending.find(options);
  if (found !== undefined) throw atWork(found);
}

function atWork({ owner }: FoundNote): WorkspaceError {
  return new WorkspaceError(
    'refused',
    `Process ${owner.pid} is writing changes of this attempt to the disk: wait until it is done`,
  );
}

/**
 * Appends the operation that a killed process announced in a note, if its changes are on the disk, and removes the
 * note.
 */
async function completeNote(parts: AcceptParts, found: FoundNote, headAfterMove: HeadAfterMove): Promise<void> {
  const { id: batch, pending } = found;
  const { tool, actor, summary, target, paths = [], writes, operation } = pending;
  const startedAt = parts.clock();
  await parts.log.catchUp();
  const moved = target === undefined ? undefined : await parts.log.record(target);
  const isLive = operation !== undefined || isOfLiveOperation(moved?.accept);
  const isDone = await isLogged(parts, found);
  const isWritten = !isDone && (await parts.pending.isWritten(pending, isLive));
  if (!isDone && !isWritten) await followRecovery(parts, writes.map(swapped));
  if (isWritten) {
    if (operation !== undefined)
      await appendLive(parts.log, { writes, operation: { ...operation, batch: operation.batch ?? batch } });
    else if (tool === 'accept') {
      const contents = new AcceptContents(parts.contents, parts.lower);
      const { head } = parts.log.state;
      const changes = await attemptChanges(head, contents, parts.readOnly);
      const record = { as: 'apply', writes } as const;
      const accepted = { paths, record, summary, actor, startedAt, batch };
      await appendAccept(parts, { head, changes }, contents, accepted);
    } else {
      const move = { tool: tool as 'undo' | 'redo', actor, summary, startedAt, batch };
      await appendMove(parts, moved as OperationRecord, headAfterMove, writes, move);
    }
  }
  await parts.pending.forget(found);
}

/**
 * Appends a head that knows the entries which undoing interrupted writes has created anew, so that they do not count as
 * additions of the person. Leaves out those that the person has changed since.
 */
async function followRecovery(parts: AcceptParts, writes: readonly DiskWrite[]): Promise<void> {
  for (;;) {
    const { head, last } = await parts.log.catchUp();
    const at = parts.clock();
    const next = await headWithKnown(head, writes, parts, versionFor(parts.attempt, { id: last + 1, at }));
    if (next.root === head.root) return;
    const summary = 'Find what an interrupted accept has put back';
    const described = { at, actor: 'user', tool: 'refresh', summary, ms: 0, after: last };
    if ((await parts.log.append(next, described)) !== undefined) return;
  }
}

/** Reports whether the operation of a note is in the log already. */
async function isLogged({ log }: AcceptParts, { id, pending }: FoundNote): Promise<boolean> {
  for (let number = log.state.last; number > pending.after; number--)
    if ((await log.record(number)).batch === (pending.operation?.batch ?? id)) return true;
  return false;
}

/**
 * Undoes or repeats an accept or an operation of a live attempt, first on the disk or in git, and then in the log. Must
 * run in the attempt's turn.
 * @returns undefined if another client was faster, so that nothing was changed
 * @throws WorkspaceError `refused` if a path or branch is no longer what the accept, or its undo, left there, or for a
 *   merge; nothing is changed then
 */
export async function moveAccept(
  parts: AcceptParts,
  record: OperationRecord,
  tool: 'undo' | 'redo',
  headAfterMove: HeadAfterMove,
  label: { readonly actor: string; readonly summary: string },
  options: CallOptions = {},
): Promise<Operation | undefined> {
  const { operation, accept } = record;
  const startedAt = parts.clock();
  if (accept?.as === 'branch') {
    const { branch, from, to } = accept;
    const [old, next] = tool === 'undo' ? [to, from] : [from, to];
    const reason = await moveBranch(parts.directory, branch, old, next);
    if (reason !== undefined) throw new WorkspaceError('refused', `Nothing was changed. ${reason}`);
    return appendMove(parts, record, headAfterMove, [], { ...label, tool, startedAt });
  }
  if (accept?.as !== 'apply')
    throw new WorkspaceError(
      'refused',
      `Operation ${operation.id} was merged as commit ${accept?.commit}, which only git takes back: git revert ${accept?.commit}. ` +
        `To undo what the attempt did before it, restore the state after operation ${operation.id - 1}`,
    );
  const contents = new AcceptContents(parts.contents, parts.lower);
  const writes = tool === 'redo' ? accept.writes : accept.writes.map(swapped);
  await using note = parts.pending.note();
  const { last: after } = parts.log.state;
  const announced = { ...label, tool, target: operation.id, writes, after };
  if (!(await note.offer(announced, options))) return undefined;
  if ((await parts.log.catchUp()).last !== after) {
    await note.end();
    return undefined;
  }
  let changed: readonly string[];
  try {
    changed = await redoWrites(parts.directory, writes, contents, options.signal);
  } catch (error) {
    await note.end().catch(() => undefined);
    throw error;
  }
  if (changed.length > 0) {
    await note.end();
    const done = accept.isLive === true ? 'operation' : 'accept';
    const what = tool === 'undo' ? done : `undo of the ${done}`;
    const hint = 'Put them back and try again, or edit them by hand';
    throw new WorkspaceError(
      'refused',
      `Nothing was changed, because these paths no longer hold what the ${what} left there: ${listOf(changed)}. ${hint}`,
    );
  }
  if (accept.isLive === true) await note.applied(announced);
  const moved = await appendMove(parts, record, headAfterMove, writes, { ...label, tool, startedAt, batch: note.id });
  await note.end().catch(() => undefined);
  return moved;
}

function appendMove(
  parts: AcceptParts,
  record: OperationRecord,
  headAfterMove: HeadAfterMove,
  writes: readonly DiskWrite[],
  {
    tool,
    batch,
    ...label
  }: {
    readonly tool: 'undo' | 'redo';
    readonly actor: string;
    readonly summary: string;
    readonly startedAt: number;
    readonly batch?: string | undefined;
  },
): Promise<Operation> {
  const { operation } = record;
  const changes = tool === 'redo' ? operation.changes : inverseChanges(operation.changes);
  return append(parts, batch, async (head, version) => {
    const next = await reboundHead(headAfterMove(head, record, tool, version), writes, parts.lower, version);
    await noteMoves(tool === 'undo' ? record.changes : changesBetween(head, next), next, parts.lower, parts.moves);
    return { head: next, operation: { ...label, tool, target: operation.id, changes } };
  });
}

/**
 * Adds to an earlier head what undone accepts have put back on the disk since. These entries then do not count as
 * additions of the person, so they are moved or removed with their directory.
 * @param id number of the operation that left this head
 * @param version version to give to directories that change
 */
export async function headAfterUndoneAccepts(
  head: Head,
  id: number,
  parts: Pick<AcceptParts, 'log' | 'lower' | 'directory'>,
  version: string,
  options: CallOptions = {},
): Promise<Head> {
  const writes = new Map<string, DiskWrite>();
  // Operations that are no longer kept are left out: what they put back counts as added by the person, and stays.
  const recordOf = (number: number): Promise<OperationRecord | undefined> =>
    parts.log.record(number, options).catch((error: unknown) => {
      if (error instanceof WorkspaceError && error.code === 'not-found') return undefined;
      throw error;
    });
  for (let number = id + 1; number <= parts.log.state.last; number++) {
    const record = await recordOf(number);
    const { tool, target } = record?.operation ?? {};
    if (tool !== 'undo' || target === undefined) continue;
    const accept = (await recordOf(target))?.accept;
    if (accept?.as === 'apply') for (const write of accept.writes) writes.set(write.path, swapped(write));
  }
  return writes.size === 0 ? head : await headWithKnown(head, [...writes.values()], parts, version, options);
}

function swapped({ path, before, after }: DiskWrite): DiskWrite {
  return { path, before: after, after: before };
}

function nothing(message: string): AcceptResult {
  return { success: true, message, accepted: [], changes: [], conflicts: [], autoRun: [], operation: undefined };
}

function countedPaths(changes: readonly OperationChange[]): string[] {
  return mainChanges(changes).map(({ path }) => path);
}

function count(paths: readonly string[]): string {
  return paths.length === 1 ? quote(paths[0] as string) : `${paths.length} paths`;
}

function restText(conflicts: readonly Conflict[]): string {
  return conflicts.length === 0 ? '' : ` Left out: ${conflictText(conflicts)}.`;
}

function conflictText(conflicts: readonly Conflict[]): string {
  const full: string[] = [];
  const refused: string[] = [];
  const others: string[] = [];
  for (const { path, code } of conflicts) {
    if (code === 'not-empty') full.push(path);
    else if (code === 'refused') refused.push(path);
    else others.push(path);
  }
  const texts: string[] = [];
  if (others.length > 0) texts.push(`the attempt and the disk have changes of ${listOf(others)} that cannot be merged`);
  if (full.length > 0)
    texts.push(
      `the attempt has a file or link in place of ${listOf(full)}, which holds entries that an accept leaves alone, such as ignored directories`,
    );
  if (refused.length > 0)
    texts.push(
      `the disk cannot take ${listOf(refused)}: links must stay inside the directory, repositories where they are, and the path must be writable`,
    );
  return texts.join('; ');
}
