import type { OptionSpec, SharedOption } from './command-spec.js';

/** Options of every command. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { name: 'directory', short: 'C', value: 'DIR', help: 'Work as if started in DIR', complete: 'directory' },
  { name: 'json', help: 'Print one JSON object; schema: `help COMMAND --json`' },
  { name: 'quiet', short: 'q', help: 'Print results and errors only' },
  { name: 'no-input', help: 'Never ask; what needs an answer is declined' },
  { name: 'help', short: 'h', help: 'Show help' },
];

/** Options of those commands that name them in `takes`. */
export const SHARED_OPTIONS: Readonly<Record<SharedOption, OptionSpec>> = {
  store: { name: 'store', value: 'URL', help: 'Where files or attempts are kept: see `help stores`', complete: 'file' },
  attempt: {
    name: 'attempt',
    short: 'a',
    value: 'NAME',
    help: 'Attempt to use. Default: the current one',
    complete: 'attempt',
  },
  at: {
    name: 'at',
    value: 'OP',
    help: 'Read the state after operation OP (0: before the first)',
    complete: 'operation',
  },
};
