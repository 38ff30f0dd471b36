import { asyncStorage, type Backend, isStorageError, OutcomeUnknownError, type SyncFileSystem } from '@scratchfs/core';
import { openWorkingCopy, type PullResult, type PushResult, type WorkingCopy } from '@scratchfs/core/working-copy';
import { differences, dump, dumpSync, type Fault, type FaultPlan, faultyBackend, Scheduler } from '@scratchfs/testkit';
import { client, clock, fork, freshBackend, plantScene, stateOf } from './harness.js';

export interface WorkingCopyReport {
  faults: number;
  survived: number;
  readonly problems: string[];
}

/** The operation during which calls fail. */
type Phase = 'open' | 'push' | 'pull';

const FAULTS: Readonly<Record<Phase, readonly Fault[]>> = {
  open: ['before', 'hang'],
  push: ['before', 'after', 'hang', 'lost', 'late', 'twice'],
  // `open` and `pull` change nothing in the storage, so it does not matter whether a call arrived: fewer faults differ.
  pull: ['before', 'hang'],
};

function change(fs: SyncFileSystem): void {
  fs.writeFileSync('/d/new', 'new');
  fs.writeFileSync('/d/sub/deep/c', new Uint8Array(70_000).fill(1));
  fs.renameSync('/t', '/moved');
  fs.linkSync('/d/a', '/moved/a');
  fs.rmSync('/empty', { recursive: true });
  fs.chmodSync('/f', 0o600);
}

/**
 * Runs open, push and pull under every fault at every call, injected once or permanently, with or without concurrent
 * writes.
 */
export async function faultyWorkingCopies(report: WorkingCopyReport): Promise<void> {
  const base = freshBackend();
  await plantScene(await client(base));
  for (const phase of ['open', 'push', 'pull'] as const)
    for (const crowded of [false, true])
      for (const fault of FAULTS[phase])
        for (const forever of crowded ? [false] : [false, true])
          for (let at = 0; at < 60; at++) {
            const plan: FaultPlan = ({ index }) => (index === at || (forever && index > at) ? fault : 'none');
            const what = `${phase}${crowded ? ', others write' : ''}: ${fault} at call ${at}${forever ? ' and ever after' : ''}`;
            if (!(await oneFault(base, phase, crowded, plan, what, report))) break;
          }
}

async function oneFault(
  base: Backend,
  phase: Phase,
  crowded: boolean,
  plan: FaultPlan,
  what: string,
  report: WorkingCopyReport,
): Promise<boolean> {
  const backend = await fork(base);
  const scheduler = new Scheduler(1);
  let skipped = Number.POSITIVE_INFINITY;
  const faulty = faultyBackend(backend, (call) =>
    call.index < skipped ? 'none' : plan({ ...call, index: call.index - skipped }),
  );
  const storage = asyncStorage(faulty, {
    clock: clock.read,
    random: (below) => scheduler.random.below(below),
    timer: scheduler.timer,
    timeoutMs: 1_000,
  });
  const open = (): Promise<WorkingCopy> => openWorkingCopy(storage, { clock: clock.read });
  const problem = (text: string): void => {
    if (report.problems.length < 50) report.problems.push(`${what}: ${text}`);
  };
  const begin = (): void => {
    skipped = faulty.calls;
  };
  if (phase === 'open') begin();
  let copy: WorkingCopy;
  try {
    copy = await scheduler.run(open());
  } catch (error) {
    if (!isStorageError(error)) problem(`an error of another kind: ${String(error)}`);
    faulty.heal();
    copy = await scheduler.run(open());
  }
  clock.advance(1);
  change(copy.fileSystem);
  // A concurrent rename, so that a push finds another state than it knows, and has to merge.
  if (crowded) await (await client(backend)).rename('/d', '/theirs');
  const [before, beforeShared] = [dumpSync(copy.fileSystem), await stateOf(backend)];
  if (phase !== 'open') {
    begin();
    try {
      const { kind } = await scheduler.run<PushResult | PullResult>(phase === 'push' ? copy.push() : copy.pull());
      if (kind === 'conflict') problem('a conflict where there is none');
      else if (phase === 'push' && differences(beforeShared, await stateOf(backend)).length === 0)
        problem('it succeeded, but did not happen');
    } catch (error) {
      if (!isStorageError(error)) problem(`an error of another kind: ${String(error)}`);
      if (phase === 'pull' && differences(before, dumpSync(copy.fileSystem)).length > 0) problem('half a pull');
      const changed = differences(beforeShared, await stateOf(backend)).length > 0;
      if (changed && !(error instanceof OutcomeUnknownError)) problem(`it failed with ${String(error)}, but happened`);
    }
  }
  if (faulty.faults === 0) return false;
  report.faults += 1;
  faulty.heal();
  try {
    const last = [await scheduler.run(copy.pull()), await scheduler.run(copy.push())];
    if (last.some(({ kind }) => kind === 'conflict'))
      problem(`afterwards there are conflicts: ${JSON.stringify(last)}`);
    const now = await stateOf(backend);
    const wrong = differences(dumpSync(copy.fileSystem), now);
    if (wrong.length > 0) problem(`in the end the two differ: ${wrong.slice(0, 3).join('; ')}`);
    const root = crowded ? '/theirs' : '/d';
    const there = await dump(await client(backend));
    for (const path of [`${root}/new`, '/moved/a', '/moved/sub/b'])
      if (!there.entries.some((entry) => entry.path === path)) problem(`${path} is lost`);
    report.survived += 1;
  } catch (error) {
    problem(`afterwards: ${String(error)}`);
  }
  return true;
}

/** Aborts a push and a pull at every call: each must have all or no effect, and report which. */
export async function abortedWorkingCopies(report: WorkingCopyReport): Promise<void> {
  const base = freshBackend();
  await plantScene(await client(base));
  for (const phase of ['push', 'pull'] as const) {
    for (let at = 0; at < 60; at++) {
      const backend = await fork(base);
      const controller = new AbortController();
      let first = Number.POSITIVE_INFINITY;
      const watched = faultyBackend(backend, () => 'none', {
        onCall: ({ index }) => {
          if (index - first === at) controller.abort(new RangeError('stop'));
        },
      });
      const copy = await openWorkingCopy(asyncStorage(watched, { clock: clock.read }), { clock: clock.read });
      change(copy.fileSystem);
      await (await client(backend)).rename('/d', '/theirs');
      const [before, beforeShared] = [dumpSync(copy.fileSystem), await stateOf(backend)];
      first = watched.calls;
      const call =
        phase === 'push' ? copy.push({ signal: controller.signal }) : copy.pull({ signal: controller.signal });
      const error = await call.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (!controller.signal.aborted) break;
      report.faults += 1;
      const changed =
        phase === 'push'
          ? differences(beforeShared, await stateOf(backend)).length > 0
          : differences(before, dumpSync(copy.fileSystem)).length > 0;
      if (error !== undefined && error !== controller.signal.reason)
        report.problems.push(`${phase} aborted at call ${at}: ${String(error)}`);
      if (changed !== (error === undefined))
        report.problems.push(
          `${phase} aborted at call ${at}: ${changed ? 'happened' : 'did not happen'}, ${String(error)}`,
        );
      if (error === undefined) report.survived += 1;
    }
  }
}
