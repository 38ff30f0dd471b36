import type { Attempt, RunResult } from '@scratchfs/workspace';
import { CliError, ExitCode } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { askKey } from '../terminal/ask.js';
import { alignColumns } from '../terminal/columns.js';
import { escapeText } from '../terminal/escape.js';
import { acceptResult } from '../workspace/accept-text.js';
import { CommandStages } from '../workspace/command-stages.js';
import { conflictLines, patchLines, pathJson, statLines, sumText } from '../workspace/diff-text.js';
import { commandLine } from '../workspace/hint-text.js';
import { withAttempt } from '../workspace/open.js';
import { operationJson, pathText } from '../workspace/operation-text.js';
import { exitCodeOf, runJson, runOptions } from '../workspace/run-options.js';

export function run(call: Call): Promise<Result> {
  const given = runOptions(call);
  const { args, output, interrupts, signal } = call;
  return withAttempt(call, async (attempt) => {
    const isTerminal = output.isInteractive;
    const stages = new CommandStages(call);
    const { fork, result } = await interrupts.orderly(async () => {
      const made = await attempt.fork();
      try {
        const ended = await made.run(args, {
          ...given,
          signal,
          terminal: isTerminal,
          onStage: (stage) => stages.enter(stage),
          ...(isTerminal || output.isJson
            ? {}
            : {
                onOutput: (chunk, stream) => void (stream === 'stdout' ? process.stdout : process.stderr).write(chunk),
              }),
        });
        return { fork: made, result: ended };
      } catch (error) {
        await made.discard();
        throw error;
      } finally {
        stages.end();
      }
    });
    try {
      return await decide(call, fork, result);
    } catch (error) {
      if (!signal.aborted && !(error instanceof CliError && error.exitCode === ExitCode.interrupted)) throw error;
      throw new CliError(
        ExitCode.interrupted,
        `Interrupted. The changes are kept as attempt ${fork.name}.`,
        `scratchfs accept ${fork.name}, or scratchfs discard ${fork.name}`,
      );
    }
  });
}

/**
 * Shows what a command has changed; then accepts, keeps or discards the fork. The options decide, or the user in a
 * terminal; otherwise it is kept. After a failed command `--accept` only keeps it, and so does an accept that is
 * refused. If nothing was changed, discards it.
 */
async function decide(call: Call, fork: Attempt, result: RunResult): Promise<Result> {
  const { options, output, interrupts } = call;
  const { style } = output;
  const code = exitCodeOf(result);
  const json = (decision: string, more: Record<string, unknown> = {}) => ({
    attempt: fork.name,
    decision,
    ...runJson(result),
    operation: result.operation === undefined ? null : operationJson(result.operation),
    ...more,
  });
  const say = (text: string): void => output.note(text);
  if (result.stopped !== undefined)
    say(output.errorStyle.error(`The command was ended: ${result.stopped}. Its changes are discarded.`));
  for (const { path, reason } of result.refused)
    say(`${output.errorStyle.warning('not taken')}  ${pathText(path)}: ${escapeText(reason)}`);
  for (const line of conflictLines(result.conflicts, output)) say(line);
  if (result.operation === undefined) {
    await fork.discard();
    if (code !== 0) say(output.errorStyle.dim(`Exit code ${code}. Nothing was changed.`));
    return { code, json: json('discarded', { paths: [] }) };
  }
  // The fork may have earlier changes from the attempt; the question is only about those of the command.
  const changed = result.operation.changes.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]));
  const { paths, head } = await fork.diff({ paths: changed });
  if (!output.isJson) {
    say('');
    for (const line of statLines(paths, output)) say(line);
    say(output.errorStyle.dim(`${sumText(paths)}; exit code ${code}`));
  }
  const decision = await decisionOf(call, fork, code);
  if (decision === 'discard') {
    await fork.discard();
    return {
      code,
      lines: output.isQuiet ? [] : ['Discarded. Your disk is as it was.'],
      json: json('discarded', { paths: paths.map(pathJson) }),
    };
  }
  if (decision === 'keep') {
    const kept = `Kept as attempt ${fork.name}. Your disk and the current attempt are as they were: \`undo\` has nothing to do with it.`;
    const rows = [
      ['diff', 'shows it'],
      ['accept', 'writes it to your disk'],
      ['switch', 'goes on there'],
      ['discard', 'throws it away'],
    ].map(([word = '', what = '']) => [`  ${commandLine(call, [word, fork.name], null)}`, style.dim(what)]);
    const lines = [...output.wrapped(kept), ...alignColumns(rows)];
    return { code, lines: output.isQuiet ? [] : lines, json: json('kept', { paths: paths.map(pathJson) }) };
  }
  const done = await interrupts.orderly(() => fork.accept({ paths: changed, expect: head }));
  const accepted = acceptResult(done, { name: fork.name, isCurrent: false, size: changed.length }, call);
  const isAccepted = accepted.code === ExitCode.ok;
  return {
    code: isAccepted || code !== 0 ? code : (accepted.code ?? code),
    lines: accepted.lines ?? [],
    json: json(isAccepted ? 'accepted' : 'kept', { paths: paths.map(pathJson), accept: accepted.json }),
  };

  async function decisionOf(
    { output: { isInteractive } }: Call,
    attempt: Attempt,
    exitCode: number,
  ): Promise<'accept' | 'keep' | 'discard'> {
    if (options.flag('accept')) return exitCode === 0 ? 'accept' : 'keep';
    if (options.flag('keep') || !isInteractive) return 'keep';
    for (;;) {
      const key = await askKey(
        'What now?',
        {
          a: 'accept: write the changes to your disk',
          k: 'keep the attempt for later',
          d: 'discard the changes',
          s: 'show the changed lines',
        },
        call,
      );
      if (key === 'a') return 'accept';
      if (key === 'k') return 'keep';
      if (key === 'd') return 'discard';
      const diff = await attempt.diff({ paths: changed, hunks: true });
      for (const path of diff.paths) for (const line of patchLines(path, output)) output.line(line);
    }
  }
}
