import type { CommandSpec } from './command-spec.js';
import { FILE_COMMANDS } from './file-commands.js';
import { WORKSPACE_COMMANDS } from './workspace-commands.js';

/** Every command. Parsing, help and completion are made from this table. */
export const COMMANDS: readonly CommandSpec[] = [
  ...WORKSPACE_COMMANDS,
  ...FILE_COMMANDS,
  {
    name: 'completion',
    group: 'Maintenance',
    summary: 'Print a completion script for a shell',
    arguments: [{ name: 'SHELL', help: 'bash, zsh or fish', complete: ['bash', 'zsh', 'fish'] }],
    examples: [{ command: 'source <(scratchfs completion bash)', help: 'In ~/.bashrc' }],
    load: () => import('../commands/completion.js'),
  },
  {
    name: 'help',
    group: 'Maintenance',
    summary: 'Explain a command, `exit-codes` or `stores`',
    arguments: [{ name: 'TOPIC', help: 'Command or topic', isOptional: true, isRepeated: true }],
    load: () => import('../commands/help.js'),
  },
];
