import type { ArgumentSpec, CommandSpec, OptionSpec, SharedOption } from './command-spec.js';

const WORKSPACE: readonly SharedOption[] = ['store', 'attempt'];
const READS: readonly SharedOption[] = ['store', 'attempt', 'at'];
const PATHS: ArgumentSpec = {
  name: 'PATH',
  help: 'Only these paths and what is under them',
  isOptional: true,
  isRepeated: true,
  complete: 'file',
};
const COMMAND: ArgumentSpec = { name: 'CMD', help: 'Command and its arguments', isRepeated: true };
const ATTEMPT: ArgumentSpec = {
  name: 'ATTEMPT',
  help: 'Default: the current one',
  isOptional: true,
  complete: 'attempt',
};
const OPERATION: ArgumentSpec = {
  name: 'OP',
  help: 'Number of an operation, as `log` lists them',
  complete: 'operation',
};
const STAT: OptionSpec = { name: 'stat', help: 'Show numbers of lines only' };
const NAME_ONLY: OptionSpec = { name: 'name-only', help: 'Show paths only, one per line' };
const ACTOR: OptionSpec = { name: 'actor', value: 'NAME', help: 'Who does it, for the log. Default: user' };
const YES: OptionSpec = { name: 'yes', short: 'y', help: 'Do not ask' };
const NETWORK: OptionSpec = { name: 'network', help: 'Let the command use the network' };
const TIMEOUT: OptionSpec = {
  name: 'timeout',
  value: 'SECONDS',
  help: 'End the command after this time. Default: 600',
};
const INSTALL: OptionSpec = { name: 'install', help: 'Give the command a writable copy of the dependencies' };

/** Commands on the attempts of a workspace. */
export const WORKSPACE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'run',
    group: 'Work',
    summary: 'Run a command on the files, then decide about its changes',
    details: [
      'Makes a fork of the attempt and runs the command on it, held by the operating system: it cannot change your disk. Then shows what it changed and asks whether to accept it into the directory, keep the fork for later, or discard it. Without a terminal, or with --no-input, the fork is kept.',
      "The exit code is the command's own.",
    ],
    arguments: [COMMAND],
    options: [
      { name: 'accept', help: 'Accept without asking if the command succeeds' },
      { name: 'keep', help: 'Keep the fork without asking' },
      NETWORK,
      INSTALL,
      TIMEOUT,
    ],
    takes: WORKSPACE,
    endsOptions: true,
    examples: [
      { command: 'scratchfs run -- npm test', help: 'Run the tests; what they write stays in the attempt' },
      { command: 'scratchfs run --network -- claude', help: 'Let an agent work, then review' },
    ],
    load: () => import('../commands/run.js'),
  },
  {
    name: 'try',
    group: 'Work',
    summary: 'Run a command in N forks side by side, compare, pick one',
    arguments: [{ name: 'N', help: 'Number of forks, 1 to 16' }, COMMAND],
    options: [
      { name: 'test', value: 'CMD', help: 'Shell command that judges each fork: exit code 0 is a pass' },
      NETWORK,
      INSTALL,
      TIMEOUT,
    ],
    takes: WORKSPACE,
    endsOptions: true,
    examples: [{ command: "scratchfs try 3 --test 'npm test' -- ./agent.sh", help: 'Three tries, each tested' }],
    load: () => import('../commands/try.js'),
  },
  {
    name: 'mcp',
    group: 'Work',
    summary: 'Start or install the MCP server; see `mcp --help`',
    details: [
      'Everything after `mcp` goes to `scratchfs-mcp`, which serves the workspace to agents over stdio or HTTP.',
    ],
    arguments: [{ name: 'ARGS', help: 'Arguments of scratchfs-mcp', isOptional: true, isRepeated: true }],
    passesOn: true,
    examples: [{ command: 'scratchfs mcp install claude', help: 'Register the server with Claude Code' }],
    load: () => import('../commands/mcp.js'),
  },
  {
    name: 'status',
    group: 'Look',
    summary: 'Show what the attempt has changed, and its conflicts',
    takes: WORKSPACE,
    load: () => import('../commands/status.js'),
  },
  {
    name: 'log',
    group: 'Look',
    summary: 'List operations, newest first',
    arguments: [{ ...PATHS, isRepeated: false, help: 'Only operations that changed this path' }],
    options: [
      { name: 'patch', short: 'p', help: 'Show the changed lines of each' },
      { name: 'tool', value: 'NAME', help: 'Only those of a tool, such as run or edit_file' },
      { name: 'actor', value: 'NAME', help: 'Only those of an actor' },
      { name: 'limit', short: 'n', value: 'N', help: 'At most N. Default: 50' },
      { name: 'before', value: 'OP', help: 'Only those older than OP', complete: 'operation' },
      { name: 'numbers', help: 'Print numbers only' },
    ],
    takes: WORKSPACE,
    load: () => import('../commands/log.js'),
  },
  {
    name: 'show',
    group: 'Look',
    summary: 'Show an operation with its changed lines',
    arguments: [OPERATION],
    options: [STAT],
    takes: WORKSPACE,
    load: () => import('../commands/show.js'),
  },
  {
    name: 'diff',
    group: 'Look',
    summary: 'Show changed lines: against the disk, or between states',
    details: [
      'Without arguments: what accept would write. With A: from the state after operation A to now, or from the disk to attempt A. With A and B: from operation A to operation B, or from attempt A to attempt B. What follows `--` is always a path.',
    ],
    arguments: [
      { name: 'A', help: 'Operation or attempt', isOptional: true, complete: 'attempt' },
      { name: 'B', help: 'Operation or attempt', isOptional: true, complete: 'attempt' },
      PATHS,
    ],
    options: [STAT, NAME_ONLY],
    takes: WORKSPACE,
    examples: [
      { command: 'scratchfs diff 3 7 -- src', help: 'What operations 4 to 7 did to src' },
      { command: 'scratchfs diff calm-otter late-fox', help: 'Two attempts' },
    ],
    load: () => import('../commands/diff.js'),
  },
  {
    name: 'watch',
    group: 'Look',
    summary: 'Print operations, attempts and approvals as they happen',
    takes: ['store'],
    load: () => import('../commands/watch.js'),
  },
  {
    name: 'undo',
    group: 'Take back',
    summary: 'Take back the last operations',
    details: [
      'Of the current attempt, or of the one that --attempt names. The undo of an accept, and of each operation of a live attempt, changes your disk: a terminal asks first, everything else needs --yes. If there are fewer than N, nothing is done.',
    ],
    arguments: [{ name: 'N', help: 'Number of operations. Default: 1', isOptional: true }],
    options: [ACTOR, YES],
    takes: WORKSPACE,
    examples: [{ command: 'scratchfs undo 3', help: 'Back three steps; `scratchfs redo` goes forward' }],
    load: () => import('../commands/undo.js'),
  },
  {
    name: 'redo',
    group: 'Take back',
    summary: 'Make the last operations that were undone again',
    details: [
      'The redo of an accept, and of each operation of a live attempt, changes your disk: a terminal asks first, everything else needs --yes. If there are fewer than N, nothing is done.',
    ],
    arguments: [{ name: 'N', help: 'Number of operations. Default: 1', isOptional: true }],
    options: [ACTOR, YES],
    takes: WORKSPACE,
    load: () => import('../commands/redo.js'),
  },
  {
    name: 'restore',
    group: 'Take back',
    summary: 'Bring back the state after an operation, whole or by path',
    details: [
      'With `disk` in place of OP, the attempt drops its changes of the paths and shows your disk again, which ends a conflict there.',
      'In a live attempt this changes your disk: a terminal asks first, everything else needs --yes.',
    ],
    arguments: [
      { ...OPERATION, help: 'Number of an operation; 0: the state before the first; or the word disk' },
      PATHS,
    ],
    options: [ACTOR, YES],
    takes: WORKSPACE,
    examples: [
      { command: 'scratchfs restore 12 src/parser.ts', help: 'One file as it was after operation 12' },
      { command: 'scratchfs restore disk src/parser.ts', help: 'One file as your disk has it' },
    ],
    load: () => import('../commands/restore.js'),
  },
  {
    name: 'rewind',
    group: 'Take back',
    summary: 'Choose a state to go back to, with its changes beside it',
    takes: WORKSPACE,
    load: () => import('../commands/rewind.js'),
  },
  {
    name: 'accept',
    group: 'Accept',
    summary: 'Bring changes of an attempt to the disk, a branch or a patch',
    details: [
      'By default writes the changed files into the directory, all or nothing, only where the disk still holds what the attempt began from. Paths follow the attempt. What follows `--` is always a path.',
    ],
    arguments: [ATTEMPT, PATHS],
    options: [
      { name: 'apply', help: 'Write into the directory. The default' },
      { name: 'merge', help: 'Merge into the branch that is checked out, with your git' },
      { name: 'branch', value: 'NAME', help: 'Commit to a branch without checking it out' },
      { name: 'patch', value: 'FILE', help: 'Write a patch for `git apply`; - is standard output', complete: 'file' },
      { name: 'force', short: 'f', help: 'Replace the FILE of --patch' },
      { name: 'hunks', short: 'p', help: 'Choose hunk by hunk' },
      { name: 'message', short: 'm', value: 'TEXT', help: 'Message of the commit' },
      { name: 'skip-conflicts', help: 'Accept everything else if paths have conflicts' },
      { name: 'dry-run', short: 'n', help: 'Say what would happen' },
    ],
    takes: ['store', 'attempt'],
    examples: [
      { command: 'scratchfs accept -- src docs/guide.md', help: 'Only these paths' },
      { command: 'scratchfs accept -p', help: 'Decide for each hunk' },
    ],
    load: () => import('../commands/accept.js'),
  },
  {
    name: 'refresh',
    group: 'Accept',
    summary: 'Take over what changed on the disk meanwhile; list conflicts',
    options: [{ name: 'onto', help: 'Go on although another branch is checked out now' }],
    takes: WORKSPACE,
    load: () => import('../commands/refresh.js'),
  },
  {
    name: 'approvals',
    group: 'Accept',
    summary: 'List requests that wait for your yes or no',
    options: [{ name: 'all', help: 'Also those that are settled' }],
    takes: ['store'],
    load: () => import('../commands/approvals.js'),
  },
  {
    name: 'approve',
    group: 'Accept',
    summary: 'Say yes to a request of an agent',
    arguments: [{ name: 'N', help: 'Number of the request', isRepeated: true }],
    takes: ['store'],
    load: () => import('../commands/approve.js'),
  },
  {
    name: 'deny',
    group: 'Accept',
    summary: 'Say no to a request of an agent',
    arguments: [{ name: 'N', help: 'Number of the request', isRepeated: true }],
    takes: ['store'],
    load: () => import('../commands/deny.js'),
  },
  {
    name: 'attempts',
    group: 'Attempts',
    summary: 'List attempts',
    options: [
      { name: 'all', help: 'Also discarded ones' },
      { name: 'names', help: 'Print names only' },
    ],
    takes: ['store'],
    load: () => import('../commands/attempts.js'),
  },
  {
    name: 'fork',
    group: 'Attempts',
    summary: 'Make a new attempt that begins with the changes of this one',
    arguments: [{ name: 'NAME', help: 'Default: two words', isOptional: true }],
    options: [{ name: 'switch', short: 's', help: 'Make it the current attempt' }],
    takes: READS,
    load: () => import('../commands/fork.js'),
  },
  {
    name: 'switch',
    group: 'Attempts',
    summary: 'Make an attempt the current one',
    arguments: [{ name: 'ATTEMPT', help: 'Name', complete: 'attempt' }],
    takes: ['store'],
    load: () => import('../commands/switch.js'),
  },
  {
    name: 'discard',
    group: 'Attempts',
    summary: 'End attempts without accepting them',
    arguments: [{ name: 'ATTEMPT', help: 'Names', isRepeated: true, complete: 'attempt' }],
    options: [YES],
    takes: ['store'],
    load: () => import('../commands/discard.js'),
  },
  {
    name: 'doctor',
    group: 'Maintenance',
    summary: 'Check this machine and the workspace; say what is missing',
    options: [{ name: 'adopt', help: 'Keep the attempts although another directory lies at the path now' }],
    takes: ['store'],
    load: () => import('../commands/doctor.js'),
  },
  {
    name: 'gc',
    group: 'Maintenance',
    summary: 'Delete contents that no attempt needs any more',
    takes: ['store'],
    load: () => import('../commands/gc.js'),
  },
];
