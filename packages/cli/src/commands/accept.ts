import type { AcceptOptions, Attempt, Workspace } from '@scratchfs/workspace';
import { ExitCode, usageError } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { checkOutput, writeOutput } from '../target/output-file.js';
import { escapeText } from '../terminal/escape.js';
import { acceptResult } from '../workspace/accept-text.js';
import { isAttemptWord, knownPaths, withAttempt } from '../workspace/open.js';
import { pickHunks } from '../workspace/pick-hunks.js';

export async function run(call: Call): Promise<Result> {
  const { options, output, signal } = call;
  const as = target(call);
  const isPicked = options.flag('hunks');
  if (isPicked && !output.isInteractive)
    throw usageError('-p needs a terminal.', 'In scripts, name the paths: scratchfs accept -- PATH…');
  const file = options.text('patch') ?? '-';
  if (as === 'patch' && file !== '-') await checkOutput(call, file);
  return withAttempt(call, async (current, workspace) => {
    const { attempt, isCurrent, paths } = await named(call, current, workspace);
    const given: AcceptOptions = {
      as,
      signal,
      branch: options.text('branch'),
      message: options.text('message'),
      onConflict: options.flag('skip-conflicts') ? 'skip' : 'fail',
      dryRun: options.flag('dry-run'),
      ...(paths.length === 0 ? {} : { paths }),
    };
    if (!isPicked) return finish(call, { attempt, isCurrent }, given);
    const diff = await attempt.diff({ hunks: true, signal, ...(paths.length === 0 ? {} : { paths }) });
    if (diff.paths.length === 0) return finish(call, { attempt, isCurrent }, { ...given, expect: diff.head });
    const picked = await pickHunks(diff.paths, call);
    return finish(call, { attempt, isCurrent }, { ...given, ...picked, expect: diff.head });
  });
}

async function finish(
  call: Call,
  { attempt, isCurrent }: { readonly attempt: Attempt; readonly isCurrent: boolean },
  options: AcceptOptions,
): Promise<Result> {
  const { interrupts, output, signal } = call;
  const result = await interrupts.orderly(() => output.progress('Accepting', () => attempt.accept(options)));
  const size = result.success ? 0 : (await attempt.diff({ paths: options.paths, signal })).paths.length;
  const named = { name: attempt.name, isCurrent, size };
  const { patch } = result;
  if (options.as !== 'patch' || patch === undefined) return acceptResult(result, named, call);
  const file = call.options.text('patch') ?? '-';
  if (file === '-' && !output.isJson) {
    if (output.isTerminal) await output.bytes(Buffer.from(output.content(new TextDecoder().decode(patch))));
    else await output.bytes(patch);
    return { code: ExitCode.ok };
  }
  const { lines = [], ...rest } = acceptResult(result, named, call);
  if (file === '-') return { ...rest, json: { ...rest.json, patch: Buffer.from(patch).toString('base64') } };
  await writeOutput(call, file, patch);
  return {
    ...rest,
    lines: output.isQuiet ? [] : [...lines, `Wrote ${escapeText(file)}; take it with: git apply ${escapeText(file)}`],
  };
}

/**
 * Returns the target that an option names, by default `apply`. @throws CliError if several do, or for `-p` with
 * `--merge` or `--branch`
 */
function target({ options }: Call): NonNullable<AcceptOptions['as']> {
  const given = (['apply', 'merge', 'branch', 'patch'] as const).filter((name) => options.flag(name));
  if (given.length > 1) throw usageError(`Choose one of ${given.map((name) => `--${name}`).join(' and ')}.`);
  if (options.flag('hunks') && (given[0] === 'merge' || given[0] === 'branch'))
    throw usageError(`-p goes with --apply and --patch, not with --${given[0]}.`);
  return given[0] ?? 'apply';
}

/** Splits the arguments into an attempt, by default `current`, and paths. */
async function named(call: Call, current: Attempt, workspace: Workspace) {
  const [first] = call.args;
  const isAttempt = first !== undefined && (await isAttemptWord(call, 0, current, workspace));
  const attempt = isAttempt ? await workspace.attempt(first, { signal: call.signal }) : current;
  const paths = await knownPaths(call, isAttempt ? 1 : 0, attempt, workspace);
  return { attempt, isCurrent: !isAttempt && call.options.text('attempt') === undefined, paths };
}
