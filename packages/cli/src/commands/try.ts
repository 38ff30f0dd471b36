import type { Attempt, PathDiff, RunResult } from '@scratchfs/workspace';
import { CliError, ExitCode, usageError } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { alignColumns } from '../terminal/columns.js';
import { count } from '../terminal/quantities.js';
import { pathJson, sumText } from '../workspace/diff-text.js';
import { withAttempt } from '../workspace/open.js';
import { exitCodeOf, runJson, runOptions } from '../workspace/run-options.js';

const MAX_FORKS = 16;

interface Tried {
  readonly fork: Attempt;
  readonly result: RunResult;
  readonly test: RunResult | undefined;
  readonly paths: readonly PathDiff[];
}

export function run(call: Call): Promise<Result> {
  const [number = '', ...command] = call.args;
  if (!/^\d+$/.test(number) || Number(number) < 1 || Number(number) > MAX_FORKS)
    throw usageError(`N must be a number from 1 to ${MAX_FORKS}, not ${number}.`);
  if (command.length === 0) throw usageError('CMD is missing.', 'Usage: scratchfs try N -- CMD…');
  const given = runOptions(call);
  const { options, output, interrupts, signal } = call;
  const { style } = output;
  const test = options.text('test');
  return withAttempt(call, async (attempt, workspace) => {
    const work = async (fork: Attempt): Promise<Tried> => {
      const result = await fork.run(command, { ...given, signal });
      const judged = test === undefined ? undefined : await fork.run(['/bin/sh', '-c', test], { ...given, signal });
      const { paths } = await fork.diff({ signal });
      return { fork, result, test: judged, paths };
    };
    const tried = await interrupts.orderly(() => tryAll(attempt, Number(number), work, call));
    const rows = tried.map((one) => [
      style.name(one.fork.name),
      mark(exitCodeOf(one.result), 'done', style),
      one.test === undefined ? style.dim('not tested') : mark(exitCodeOf(one.test), 'test passed', style),
      sumText(one.paths),
    ]);
    const picked = output.isInteractive ? await pick(tried, signal) : undefined;
    if (picked !== undefined) {
      await interrupts.orderly(async () => {
        await workspace.switchTo(picked.fork.name);
        for (const { fork } of tried) if (fork !== picked.fork) await fork.discard();
      });
    }
    const lines = [
      ...alignColumns(rows),
      '',
      picked === undefined
        ? style.dim('All are kept. scratchfs diff A B compares two, accept A takes one, discard A… ends.')
        : `The current attempt is ${style.name(picked.fork.name)}; the others are discarded. Take it with: scratchfs accept`,
    ];
    const isAnyGood = tried.some(
      (one) => exitCodeOf(one.result) === 0 && (one.test === undefined || exitCodeOf(one.test) === 0),
    );
    return {
      code: isAnyGood ? ExitCode.ok : ExitCode.failed,
      lines,
      json: {
        picked: picked?.fork.name ?? null,
        tries: tried.map((one) => ({
          attempt: one.fork.name,
          ...runJson(one.result),
          test: one.test === undefined ? null : runJson(one.test),
          paths: one.paths.map(pathJson),
        })),
      },
    };
  });
}

/**
 * Makes forks and runs the work in all of them at the same time. On failure, discards all forks once the work in them
 * has ended.
 */
async function tryAll(
  attempt: Attempt,
  number: number,
  work: (fork: Attempt) => Promise<Tried>,
  { output, signal }: Call,
): Promise<Tried[]> {
  const forks: Attempt[] = [];
  try {
    while (forks.length < number) {
      signal.throwIfAborted();
      forks.push(await attempt.fork());
    }
    return await output.progress(`Running in ${count(number, 'fork')}`, async (report) => {
      let ended = 0;
      const all = forks.map(async (fork) => {
        const one = await work(fork);
        report(`${++ended} of ${number} ended`);
        return one;
      });
      // A fork is discarded only after the work in it has ended.
      await Promise.allSettled(all);
      return await Promise.all(all);
    });
  } catch (error) {
    for (const fork of forks) await fork.discard();
    throw error;
  }
}

function mark(code: number, good: string, style: Call['output']['style']): string {
  return code === 0 ? style.added(good) : style.removed(`exit code ${code}`);
}

/** Lets the user pick one with the arrow keys. Undefined if they keep all. @throws CliError if they interrupt */
async function pick(tried: readonly Tried[], signal: AbortSignal): Promise<Tried | undefined> {
  const { isCancel, select } = await import('@clack/prompts');
  const chosen = await select<Tried | undefined>({
    message: 'Which one do you keep?',
    signal,
    options: [
      ...tried.map((one) => ({
        value: one,
        label: `${one.fork.name}: ${one.test === undefined ? `exit code ${exitCodeOf(one.result)}` : `test ${exitCodeOf(one.test) === 0 ? 'passed' : 'failed'}`}; ${sumText(one.paths)}`,
      })),
      { value: undefined, label: 'all of them' },
    ],
  });
  if (isCancel(chosen)) throw new CliError(ExitCode.interrupted, 'Interrupted. All attempts are kept.');
  return chosen;
}
