import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CliError, ExitCode, type Failure, failureOf } from './errors.js';
import { COMMANDS } from './table/commands.js';
import { manual, overview } from './table/help.js';
import { Options } from './table/options.js';
import { parseLine } from './table/parse.js';
import { escapeText } from './terminal/escape.js';
import type { Interrupts } from './terminal/interrupts.js';
import { Output, type OutputStream } from './terminal/output.js';

/** Streams, environment and signals of a run of the program. */
export interface MainOptions {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly stdin: { readonly isTTY?: boolean | undefined };
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the current directory. */
  readonly directory: string;
  readonly interrupts: Interrupts;
}

/** Version of the objects that `--json` prints. Fields may be added to a version, never changed or removed. */
const JSON_VERSION = 1;

/** Runs one command line. Resolves to the exit code; errors are printed. */
export async function main(argv: readonly string[], options: MainOptions): Promise<number> {
  const { environment, interrupts } = options;
  const { signal } = interrupts;
  let given = new Options(new Map());
  const outputFor = (parsed: Options): Output =>
    new Output({
      ...options,
      isJson: parsed.flag('json'),
      isQuiet: parsed.flag('quiet'),
      mayAsk: !parsed.flag('no-input'),
    });
  try {
    const line = parseLine(COMMANDS, argv);
    given = line.options;
    const output = outputFor(given);
    const { spec } = line;
    if (spec === undefined && given.flag('version')) return await printVersion(output);
    if (spec === undefined) {
      const isAsked = given.flag('help');
      const prefix = line.words.map((word) => `${word} `).join('');
      const page = overview(COMMANDS, isAsked ? output.style : output.errorStyle, prefix);
      for (const text of page) isAsked ? output.line(text) : output.problem(text);
      return isAsked ? ExitCode.ok : ExitCode.usage;
    }
    if (given.flag('help')) {
      for (const text of manual(spec, output.style)) output.line(text);
      return ExitCode.ok;
    }
    const directory = resolve(options.directory, given.text('directory') ?? '.');
    const { run } = await spec.load();
    const {
      json,
      lines,
      code = ExitCode.ok,
      failure: cause,
    } = await run({
      spec,
      table: COMMANDS,
      args: line.args,
      plain: line.plain,
      options: given,
      directory,
      environment,
      output,
      interrupts,
      signal,
    });
    const failure = cause === undefined ? undefined : failureWithin(interrupts, cause);
    if (output.isJson && json !== undefined) {
      const ended = failure === undefined ? {} : { error: errorJson(failure) };
      output.line(JSON.stringify({ version: JSON_VERSION, command: spec.name, ...json, ...ended }));
    }
    if (!output.isJson) {
      for (const text of lines ?? []) output.line(text);
      if (failure !== undefined) report(failure, output);
    }
    // The exit code `refused` means that nothing was done, but here a part was.
    if (failure !== undefined) return failure.exitCode === ExitCode.refused ? ExitCode.failed : failure.exitCode;
    return interrupts.isTerminated ? interrupts.exitCode : code;
  } catch (error) {
    // A command line that could not be parsed may still ask for JSON.
    const end = argv.indexOf('--');
    const isJson = given.flag('json') || (end < 0 ? argv : argv.slice(0, end)).includes('--json');
    const output = new Output({ ...options, isJson });
    const failure = failureWithin(interrupts, error);
    report(failure, output);
    if (environment['SCRATCHFS_DEBUG'] !== undefined && error instanceof Error)
      output.problem(escapeText(String(error.stack)));
    return failure.exitCode;
  }
}

/**
 * Returns the failure to report for an error. After a signal, any error counts as its consequence: the failure is the
 * interruption, with the error's own message only if that is about the interruption.
 */
function failureWithin({ signal, exitCode }: Interrupts, error: unknown): Failure {
  const failure = failureOf(error);
  if (!signal.aborted) return failure;
  const isNamed = error instanceof CliError && error.exitCode === ExitCode.interrupted;
  return isNamed
    ? { ...failure, exitCode }
    : { exitCode, code: 'interrupted', message: 'Interrupted.', hint: undefined };
}

function errorJson({ code, message, hint }: Failure): Readonly<Record<string, string>> {
  return { code, message, ...(hint === undefined ? {} : { hint }) };
}

function report(failure: Failure, output: Output): void {
  if (output.isJson) {
    output.line(JSON.stringify({ version: JSON_VERSION, error: errorJson(failure) }));
    return;
  }
  const { message, hint } = failure;
  const { errorStyle } = output;
  for (const [index, line] of message.split('\n').map(escapeText).entries()) {
    const lines = output.wrapped(index === 0 ? `scratchfs: ${line}` : line, { isError: true });
    if (index === 0) lines[0] = lines[0]?.replace('scratchfs:', errorStyle.error('scratchfs:')) ?? '';
    for (const text of lines) output.problem(index === 0 ? text : `  ${text}`);
  }
  if (hint !== undefined) output.problem(`  ${errorStyle.dim(escapeText(hint))}`);
}

async function printVersion(output: Output): Promise<number> {
  const manifest = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(manifest) as { readonly version: string };
  output.line(output.isJson ? JSON.stringify({ version: JSON_VERSION, program: version }) : version);
  return ExitCode.ok;
}
