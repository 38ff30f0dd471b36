import { type Checkpoint, type FileSystem, FsError, isFsError, quote } from '@scratchfs/core';
import type { Sandbox } from '@scratchfs/sandbox';
import { autoRunFiles } from '../auto-run-files.js';
import { movesTo, type Place, placesOf, planOf, type Step, strandedBy } from './plan.js';
import { StepRunner } from './step-runner.js';
import { isRefusal, Undo } from './undo.js';
import type { Workspace, WorkspaceChanges } from './workspace.js';

/** What came of the changes of a command. */
export interface BroughtBack {
  /** What has changed in the filesystem, as the sandbox writes paths: files and links, and beside them directories. */
  readonly changes: {
    readonly added: readonly string[];
    readonly removed: readonly string[];
    readonly changed: readonly string[];
    readonly addedDirectories: readonly string[];
    readonly removedDirectories: readonly string[];
  };
  /** Files among those added and changed that other programs run or obey by themselves (`.envrc`, hooks, editor tasks): to be read. */
  readonly autoRun: readonly string[];
  /**
   * What the command did and the sandbox did not take, each path by itself, with the reason. What would be nowhere with it is among
   * them: a file stays where the command had renamed it to a name that was refused.
   */
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
  /**
   * The state before the changes, to go back to: for the caller to drop. Undefined where nothing was changed, where the filesystem
   * has no checkpoints, and where it keeps as many as it may.
   */
  readonly checkpoint: Checkpoint | undefined;
}

/**
 * A part of what a command did may be in the filesystem: bringing it back failed midway, for the reason that is the `cause`, and so
 * did taking that part back. Only where the filesystem has no transactions.
 */
export class OsSandboxIncompleteError extends Error {
  override readonly name = 'OsSandboxIncompleteError';

  constructor(
    /** The state before, to go back to: for the caller to drop. Undefined where there is none. */
    readonly checkpoint: Checkpoint | undefined,
    cause: unknown,
  ) {
    const wayBack = checkpoint === undefined ? '' : ` The checkpoint ${quote(checkpoint.id)} has the state before.`;
    super(`What the command did may be there in part: it could neither be brought back nor taken back.${wayBack}`, {
      cause,
    });
  }
}

/** What is to be brought back, and where. */
interface Transfer {
  readonly sandbox: Sandbox;
  readonly plan: readonly Step[];
  /** Where contents went that cannot come back whatever is done. */
  readonly lost: readonly Place[];
  /** What a step is not done for: the place where the content that it takes away went, which was refused. */
  readonly kept: ReadonlyMap<Step, string>;
  readonly directories: ReadonlySet<string>;
  readonly signal: AbortSignal | undefined;
}

interface Outcome {
  readonly taken: readonly Step[];
  readonly refused: readonly { readonly step: Step; readonly reason: string }[];
}

/** What was begun could not be taken back. */
class HalfDone extends Error {}

/** Ends an attempt that must not stand. */
class Stranded extends Error {
  constructor(readonly steps: ReadonlyMap<Step, string>) {
    super('Contents would be nowhere');
  }
}

/** Takes the changes over, all in one step where the filesystem can; what the sandbox refuses is left out and told. */
export async function bringBack(
  sandbox: Sandbox,
  workspace: Workspace,
  found: WorkspaceChanges,
  signal: AbortSignal | undefined,
): Promise<BroughtBack> {
  const plan = planOf(workspace, found);
  const unusable = found.refused.map(({ path, reason }) => ({ path, reason }));
  if (plan.length === 0) return { changes: listsOf([]), autoRun: [], refused: unusable, checkpoint: undefined };
  const { fileSystem } = sandbox;
  const lost = found.refused.flatMap(({ path, contents }) => contents.map((content): Place => ({ path, content })));
  const directories = new Set([...workspace.directories, ...found.addedDirectories]);
  const checkpoint = await unlessUnable(() => fileSystem.checkpoint(undefined, { signal }), 'ENOSPC');
  const drop = async (): Promise<void> => {
    if (checkpoint !== undefined) await fileSystem.drop(checkpoint);
  };
  try {
    const { taken, refused } = await takeWhatCanBe({ sandbox, plan, lost, kept: new Map(), directories, signal });
    if (taken.length === 0) await drop();
    const changes = listsOf(taken);
    return {
      changes,
      autoRun: autoRunFiles([...changes.added, ...changes.changed].sort()),
      refused: [...unusable, ...refused.map(({ step: { path }, reason }) => ({ path, reason }))],
      checkpoint: taken.length === 0 ? undefined : checkpoint,
    };
  } catch (error) {
    if (error instanceof HalfDone) throw new OsSandboxIncompleteError(checkpoint, error.cause);
    await drop().catch(() => undefined);
    throw error;
  }
}

/**
 * What would be lost by taking some paths and not others is left in the second round. Without it there may be no room for what
 * was taken in the first: then nothing that was moved is taken from its place, after which nothing can be lost.
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

/** In a transaction; where the filesystem has none, one path after the other, all of them taken back where that fails. */
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

/** @throws Stranded where a content would be nowhere */
async function take(transfer: Transfer, inside: FileSystem, undo?: Undo): Promise<Outcome> {
  const { sandbox, plan, lost, kept, directories, signal } = transfer;
  const runner = new StepRunner(sandbox, inside, directories);
  const taken: Step[] = [];
  const refused: { step: Step; reason: string }[] = [];
  for (const step of plan) {
    signal?.throwIfAborted();
    try {
      const dest = kept.get(step);
      if (dest !== undefined) throw new FsError('ECANCELED', { syscall: 'copy', path: step.path, dest, hint: STAYS });
      await runner.run(step, undo ?? new Undo());
      taken.push(step);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refused.push({ step, reason: error.message });
    }
  }
  const nowhere = [...lost, ...placesOf(refused.map(({ step }) => step))];
  const stranded = strandedBy(nowhere, taken);
  if (stranded.size > 0) throw new Stranded(stranded);
  return { taken, refused };
}

const STAYS = 'It stays as it was: what it held went there, and that was refused';

function listsOf(taken: readonly Step[]): BroughtBack['changes'] {
  const paths = (isOne: (step: Step) => boolean): string[] =>
    taken
      .filter(isOne)
      .map(({ path }) => path)
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

/** What a storage cannot do at all is no error here, nor is one of the codes. */
async function unlessUnable<T>(work: () => Promise<T>, ...codes: readonly 'ENOSPC'[]): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (['ENOTSUP' as const, ...codes].some((code) => isFsError(error, code))) return undefined;
    throw error;
  }
}
