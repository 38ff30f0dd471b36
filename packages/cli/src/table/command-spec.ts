import type { Interrupts } from '../terminal/interrupts.js';
import type { Output } from '../terminal/output.js';
import type { Options } from './options.js';

/**
 * Values that a shell offers for an argument or an option: files or directories of the disk, attempts of the workspace,
 * numbers of operations, or a fixed list.
 */
export type Completion = 'file' | 'directory' | 'attempt' | 'operation' | readonly string[];

export interface OptionSpec {
  /** Without `--`. */
  readonly name: string;
  /** One letter, without `-`. */
  readonly short?: string;
  /** Name of the value in help. Without one the option is a flag. */
  readonly value?: string;
  readonly help: string;
  readonly complete?: Completion;
}

export interface ArgumentSpec {
  /** Name in help, in capitals. */
  readonly name: string;
  readonly help: string;
  readonly isOptional?: boolean;
  /** True if the argument may be given several times. */
  readonly isRepeated?: boolean;
  readonly complete?: Completion;
}

/** Options that only some commands accept, those that name them in `takes`; the others refuse them. */
export type SharedOption = 'store' | 'attempt' | 'at';

/** Headings of the list of commands. */
export type Group = 'Work' | 'Look' | 'Take back' | 'Accept' | 'Attempts' | 'Files' | 'Maintenance';

/** One command: the source of parsing, help and completion. */
export interface CommandSpec {
  /** One or two words, such as `fs ls`. */
  readonly name: string;
  readonly group: Group;
  /** One line without a full stop. */
  readonly summary: string;
  /** Paragraphs of the manual, under the usage line. */
  readonly details?: readonly string[];
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  readonly takes?: readonly SharedOption[];
  /**
   * True if the arguments end with a command line of another program: everything from its first word on belongs to it.
   * `try` has a number before it.
   */
  readonly endsOptions?: boolean;
  /** True if everything after the command's name belongs to another program, options too. */
  readonly passesOn?: boolean;
  readonly examples?: readonly { readonly command: string; readonly help: string }[];
  readonly load: () => Promise<{ readonly run: Run }>;
}

/** Result of a command: `json` is printed with `--json`, `lines` without it. */
export interface Result {
  readonly json?: Readonly<Record<string, unknown>>;
  readonly lines?: readonly string[];
  /** Exit code. Default 0. */
  readonly code?: number;
  /**
   * Error that ended the command after a part of its work. It is reported after the lines, and in the object beside the
   * fields of `json`, and decides the exit code.
   */
  readonly failure?: unknown;
}

/** One call of a command: its arguments, options and surroundings. */
export interface Call {
  readonly spec: CommandSpec;
  /** All commands; for help and completion. */
  readonly table: readonly CommandSpec[];
  readonly args: readonly string[];
  /** Number of the arguments before `--`. `accept` and `diff` take those after it as paths only. */
  readonly plain: number;
  readonly options: Options;
  /** Absolute path of the directory to work in: `-C`, or the current one. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly output: Output;
  readonly interrupts: Interrupts;
  /** Aborts at the first signal that ends the program, such as Ctrl-C. */
  readonly signal: AbortSignal;
}

export type Run = (call: Call) => Promise<Result>;
