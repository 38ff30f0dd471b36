import { join } from 'node:path';
import { type Checkpoint, type FileSystem, FsError, isFsError, quote } from '@scratchfs/core';
import type { Sandbox } from '@scratchfs/sandbox';
import { autoRunFiles } from '../auto-run-files.js';
import { linksIn } from '../links-around.js';
import { INSIDE } from './link-targets.js';
import { movesTo, type Place, placesOf, planOf, type Step, strandedBy } from './plan.js';
import type { StagedCopy, StagedCopyChanges } from './staged-copy.js';
import { StepRunner } from './step-runner.js';
import { isRefusal, Undo } from './undo.js';

/** Result of bringing a command's changes back. */
export interface BroughtBack {
  /**
   * Changes in the filesystem: files and links, and separately directories. Paths are those of `sandbox.listFiles`:
   * `/src/a.ts` with one root, `notes/a.md` with names.
   */
  readonly changes: {
    readonly added: readonly string[];
    readonly removed: readonly string[];
    readonly changed: readonly string[];
    readonly addedDirectories: readonly string[];
    readonly removedDirectories: readonly string[];
  };
  /**
   * Added or changed files that other programs run or obey on their own (`.envrc`, hooks, editor tasks), for the user
   * to review. Links count as for `applyChanges`.
   */
  readonly autoRun: readonly string[];
  /**
   * Changes of the command that were not taken, one entry a path, with the reason. They include changes that would lose
   * content: if a command renamed a file to a name that was refused, the file stays under its old name.
   */
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
  /**
   * Checkpoint of the state before the changes. The caller has to drop it. Undefined if nothing was changed, if the
   * filesystem has no checkpoints, or if it has no space for one.
   */
  readonly checkpoint: Checkpoint | undefined;
}

/**
 * Thrown if bringing changes back failed midway and undoing the first part failed too, so the filesystem may hold a
 * part of what the command did. `cause` is the first failure. Only possible if the filesystem has no transactions.
 */
export class OsSandboxIncompleteError extends Error {
  override readonly name = 'OsSandboxIncompleteError';

  constructor(
    /** Checkpoint of the state before the changes. The caller has to drop it. Undefined if there is none. */
    readonly checkpoint: Checkpoint | undefined,
    cause: unknown,
  ) {
    const wayBack = checkpoint === undefined ? '' : ` The checkpoint ${quote(checkpoint.id)} has the state before.`;
    super(`Only a part of the command's changes may have been applied, and undoing them failed.${wayBack}`, {
      cause,
    });
  }
}

/** Changes to bring back, and the sandbox to apply them to. */
interface Transfer {
  readonly sandbox: Sandbox;
  readonly plan: readonly Step[];
  /** Refused paths with the contents there, which cannot be brought back in any case. */
  readonly lost: readonly Place[];
  /** Steps to skip. Each would remove a content that was moved to another path, the value, and may not arrive there. */
  readonly kept: ReadonlyMap<Step, string>;
  readonly directories: ReadonlySet<string>;
  readonly signal: AbortSignal | undefined;
}

interface Outcome {
  readonly taken: readonly Step[];
  readonly refused: readonly { readonly step: Step; readonly reason: string }[];
}

/** Thrown if undoing a partial attempt failed. */
class HalfDone extends Error {}

/** Thrown to abort an attempt that would lose contents. */
class Stranded extends Error {
  constructor(readonly steps: ReadonlyMap<Step, string>) {
    super('Contents would be nowhere');
  }
}

/**
 * Applies the changes of a command, in one transaction if the filesystem has transactions. Changes that the sandbox
 * refuses are left out and reported.
 */
export async function bringBack(
  sandbox: Sandbox,
  stagedCopy: StagedCopy,
  found: StagedCopyChanges,
  signal: AbortSignal | undefined,
): Promise<BroughtBack> {
  const plan = planOf(stagedCopy, found);
  const show = shownBy(sandbox);
  const unusable = found.refused.map(({ path, reason }) => ({ path: show(path), reason }));
  if (plan.length === 0) return { changes: listsOf([], show), autoRun: [], refused: unusable, checkpoint: undefined };
  const { fileSystem } = sandbox;
  const lost = found.refused.flatMap(({ path, contents }) => contents.map((content): Place => ({ path, content })));
  const directories = new Set([...stagedCopy.directories, ...found.addedDirectories]);
  const checkpoint = await unlessUnable(() => fileSystem.checkpoint(undefined, { signal }), 'ENOSPC');
  const drop = async (): Promise<void> => {
    if (checkpoint !== undefined) await fileSystem.drop(checkpoint);
  };
  try {
    const { taken, refused } = await takeWhatCanBe({ sandbox, plan, lost, kept: new Map(), directories, signal });
    if (taken.length === 0) await drop();
    const changes = listsOf(taken, show);
    const written = [...changes.added, ...changes.changed].sort();
    const links = await linksIn(join(stagedCopy.directory, 'work'), written, INSIDE);
    return {
      changes,
      autoRun: autoRunFiles(written, links),
      refused: [...unusable, ...refused.map(({ step: { path }, reason }) => ({ path: show(path), reason }))],
      checkpoint: taken.length === 0 ? undefined : checkpoint,
    };
  } catch (error) {
    if (error instanceof HalfDone) throw new OsSandboxIncompleteError(checkpoint, error.cause);
    await drop().catch(() => undefined);
    throw error;
  }
}

/**
 * Applies the plan. A second round skips the steps that would lose contents because others were refused. Without these
 * steps there may be too little space for others; then a further round removes no moved content from its old path, so
 * nothing can be lost.
 */
async function takeWhatCanBe(transfer: Transfer): Promise<Outcome> {
  let kept = transfer.kept;
  for (let round = 1; ; round++) {
    try {
      return await inOneStep({ ...transfer, kept });
    } catch (error) {
      if (!(error instanceof Stranded)) throw error;
      kept = round === 1 ? error.steps : movesTo([...transfer.lost, ...placesOf(transfer.plan)], transfer.plan);
    }
  }
}

/**
 * Applies the plan in a transaction. If the filesystem has none, applies it step by step and undoes all steps if one
 * fails.
 */
async function inOneStep(transfer: Transfer): Promise<Outcome> {
  const { fileSystem } = transfer.sandbox;
  const { signal } = transfer;
  const outcome = await unlessUnable(() => fileSystem.transaction((inside) => take(transfer, inside), { signal }));
  if (outcome !== undefined) return outcome;
  const undo = new Undo();
  try {
    return await take(transfer, fileSystem, undo);
  } catch (error) {
    await undo.back().catch(() => {
      throw new HalfDone('Half done', { cause: error });
    });
    throw error;
  }
}

/**
 * Applies the steps one by one and collects those that are refused.
 * @throws Stranded if a content would be lost; the reason of the signal; an error that is not a refusal
 */
async function take(transfer: Transfer, inside: FileSystem, undo?: Undo): Promise<Outcome> {
  const { sandbox, plan, lost, kept, directories, signal } = transfer;
  const show = shownBy(sandbox);
  const runner = new StepRunner(sandbox, inside, directories);
  const taken: Step[] = [];
  const refused: { step: Step; reason: string }[] = [];
  for (const step of plan) {
    signal?.throwIfAborted();
    const path = show(step.path);
    const dest = kept.get(step);
    if (dest !== undefined) {
      const { message } = new FsError('ECANCELED', { syscall: 'copy', path, dest: show(dest), hint: STAYS });
      refused.push({ step, reason: message });
      continue;
    }
    try {
      await runner.run(step, undo ?? new Undo());
      taken.push(step);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // The error has the path of the filesystem, which is not a path of the sandbox.
      refused.push({ step, reason: (sandbox.explain(error, path) as Error).message });
    }
  }
  const nowhere = [...lost, ...placesOf(refused.map(({ step }) => step))];
  const stranded = strandedBy(nowhere, taken);
  if (stranded.size > 0) throw new Stranded(stranded);
  return { taken, refused };
}

const STAYS = 'It stays as it was: what it held went there, and that was refused';

/** Returns a function that turns a path of the copy into the path of the sandbox. */
function shownBy({ readableRoots, writableRoots }: Sandbox): (path: string) => string {
  const hasOneRoot = [...readableRoots, ...writableRoots].some((root) => root.startsWith('/'));
  return hasOneRoot ? (path) => `/${path}` : (path) => path;
}

function listsOf(taken: readonly Step[], show: (path: string) => string): BroughtBack['changes'] {
  const paths = (isOne: (step: Step) => boolean): string[] =>
    taken
      .filter(isOne)
      .map(({ path }) => show(path))
      .sort();
  const isFile = (what: Step['from'] | Step['to']): boolean => typeof what === 'object';
  return {
    added: paths(({ from, to }) => isFile(to) && from === undefined),
    removed: paths(({ from, to }) => isFile(from) && to === undefined),
    changed: paths(({ from, to }) => isFile(from) && isFile(to)),
    addedDirectories: paths(({ to }) => to === 'directory'),
    removedDirectories: paths(({ from }) => from === 'directory'),
  };
}

/** Returns undefined if the storage does not support an operation (ENOTSUP) or fails with one of `codes`. */
async function unlessUnable<T>(work: () => Promise<T>, ...codes: readonly 'ENOSPC'[]): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (['ENOTSUP' as const, ...codes].some((code) => isFsError(error, code))) return undefined;
    throw error;
  }
}
