import type { ArgumentSpec, CommandSpec, OptionSpec, SharedOption } from './command-spec.js';

const WORKSPACE: readonly SharedOption[] = ['store', 'attempt'];
const READS: readonly SharedOption[] = ['store', 'attempt', 'at'];
const RECURSIVE: OptionSpec = { name: 'recursive', short: 'r', help: 'Directories with everything in them' };
const STORED: ArgumentSpec = {
  name: 'PATH',
  help: 'Path in the storage; relative ones start at the current directory',
};
const STORED_MANY: ArgumentSpec = { ...STORED, isRepeated: true };
const FORCE: OptionSpec = { name: 'force', short: 'f', help: 'Replace what the target has' };
const INTO: OptionSpec = { name: 'to', value: 'DIR', help: 'Directory of the storage. Default: /' };
const FROM: OptionSpec = { name: 'from', value: 'DIR', help: 'Directory of the storage. Default: /' };

/** Commands on the files of a storage or an attempt. */
export const FILE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'fs ls',
    group: 'Files',
    summary: 'List directories',
    arguments: [{ ...STORED_MANY, isOptional: true }],
    options: [{ name: 'long', short: 'l', help: 'With mode, size and time' }],
    takes: READS,
    load: () => import('../commands/fs-ls.js'),
  },
  {
    name: 'fs tree',
    group: 'Files',
    summary: 'Show a directory as a tree',
    arguments: [{ ...STORED, isOptional: true }],
    options: [{ name: 'depth', short: 'd', value: 'N', help: 'Levels to show. Default: all' }],
    takes: READS,
    load: () => import('../commands/fs-tree.js'),
  },
  {
    name: 'fs cat',
    group: 'Files',
    summary: 'Print files',
    arguments: [STORED_MANY],
    takes: READS,
    load: () => import('../commands/fs-cat.js'),
  },
  {
    name: 'fs stat',
    group: 'Files',
    summary: 'Show kind, size, mode, times and version',
    arguments: [STORED_MANY],
    takes: READS,
    load: () => import('../commands/fs-stat.js'),
  },
  {
    name: 'fs find',
    group: 'Files',
    summary: 'List paths that match a pattern',
    arguments: [
      { name: 'PATTERN', help: 'Glob, such as `**/*.ts`. Default: everything', isOptional: true, isRepeated: true },
    ],
    options: [
      {
        name: 'type',
        short: 't',
        value: 'KIND',
        help: 'file, directory or symlink',
        complete: ['file', 'directory', 'symlink'],
      },
      { name: 'null', short: '0', help: 'End each path with NUL, for `xargs -0`' },
    ],
    takes: READS,
    load: () => import('../commands/fs-find.js'),
  },
  {
    name: 'fs grep',
    group: 'Files',
    summary: 'Print lines that contain a text',
    details: ['The exit code is 1 if nothing was found.'],
    arguments: [
      { name: 'TEXT', help: 'Literal text' },
      { ...STORED_MANY, isOptional: true },
    ],
    options: [
      { name: 'ignore-case', short: 'i', help: 'Letters of both cases are the same' },
      { name: 'files-with-matches', short: 'l', help: 'Print paths only' },
      { name: 'context', value: 'N', help: 'Lines around each match. Default: 0' },
      { name: 'glob', short: 'g', value: 'PATTERN', help: 'Only files that match' },
    ],
    takes: READS,
    load: () => import('../commands/fs-grep.js'),
  },
  {
    name: 'fs write',
    group: 'Files',
    summary: 'Write a file from a text or standard input',
    arguments: [STORED, { name: 'TEXT', help: 'Default: standard input', isOptional: true }],
    options: [{ name: 'append', help: 'Add to the end' }],
    takes: WORKSPACE,
    examples: [{ command: "echo 'a note' | scratchfs fs write notes.md --append", help: 'Add a line' }],
    load: () => import('../commands/fs-write.js'),
  },
  {
    name: 'fs edit',
    group: 'Files',
    summary: 'Replace a text in a file, or open the file in $EDITOR',
    arguments: [
      STORED,
      { name: 'OLD', help: 'Text that occurs exactly once', isOptional: true },
      { name: 'NEW', help: 'Text to put in its place', isOptional: true },
    ],
    options: [{ name: 'all', help: 'Replace every occurrence' }],
    takes: WORKSPACE,
    load: () => import('../commands/fs-edit.js'),
  },
  {
    name: 'fs put',
    group: 'Files',
    summary: 'Copy files of the disk into the storage',
    arguments: [
      { name: 'LOCAL', help: 'File or directory of the disk; - is standard input', complete: 'file' },
      { ...STORED, isOptional: true },
    ],
    takes: WORKSPACE,
    load: () => import('../commands/fs-put.js'),
  },
  {
    name: 'fs get',
    group: 'Files',
    summary: 'Copy files of the storage to the disk',
    arguments: [
      STORED,
      {
        name: 'LOCAL',
        help: 'Target; - is standard output. Default: the same name here',
        isOptional: true,
        complete: 'file',
      },
    ],
    options: [FORCE],
    takes: READS,
    load: () => import('../commands/fs-get.js'),
  },
  {
    name: 'fs rm',
    group: 'Files',
    summary: 'Remove files and directories',
    arguments: [STORED_MANY],
    options: [RECURSIVE, { name: 'force', short: 'f', help: 'Missing paths are no error' }],
    takes: WORKSPACE,
    load: () => import('../commands/fs-rm.js'),
  },
  {
    name: 'fs mv',
    group: 'Files',
    summary: 'Move a file or directory',
    arguments: [
      { ...STORED, name: 'FROM' },
      { ...STORED, name: 'TO' },
    ],
    options: [FORCE],
    takes: WORKSPACE,
    load: () => import('../commands/fs-mv.js'),
  },
  {
    name: 'fs cp',
    group: 'Files',
    summary: 'Copy a file or directory',
    arguments: [
      { ...STORED, name: 'FROM' },
      { ...STORED, name: 'TO' },
    ],
    options: [RECURSIVE, FORCE],
    takes: WORKSPACE,
    load: () => import('../commands/fs-cp.js'),
  },
  {
    name: 'copy',
    group: 'Files',
    summary: 'Copy everything from one storage to another',
    details: [
      'FROM and TO are URLs, snapshot files or directories. TO must be new or empty. Checkpoints are copied if both have',
      'them, with new ids. A copy that was interrupted starts again when the command is repeated.',
    ],
    arguments: [
      { name: 'FROM', help: 'Storage to read', complete: 'file' },
      { name: 'TO', help: 'Storage to fill; created if it does not exist', complete: 'file' },
    ],
    examples: [
      { command: "scratchfs copy 'redis://localhost?namespace=run-7' ./run-7", help: 'What an agent left in Redis' },
    ],
    load: () => import('../commands/copy.js'),
  },
  {
    name: 'import tar',
    group: 'Files',
    summary: 'Unpack a tar archive into the storage',
    arguments: [{ name: 'FILE', help: 'Archive, also with gzip; - is standard input', complete: 'file' }],
    options: [INTO],
    takes: WORKSPACE,
    load: () => import('../commands/import-tar.js'),
  },
  {
    name: 'import snapshot',
    group: 'Files',
    summary: 'Copy the files of a snapshot into the storage',
    arguments: [{ name: 'FILE', help: 'Snapshot; - is standard input', complete: 'file' }],
    options: [INTO],
    takes: WORKSPACE,
    load: () => import('../commands/import-snapshot.js'),
  },
  {
    name: 'import git',
    group: 'Files',
    summary: 'Copy the files of a git commit into the storage',
    details: [
      'Reads the HEAD of the repository. Ignored and uncommitted files are left out; nothing of the repository runs.',
    ],
    arguments: [{ name: 'REPOSITORY', help: 'Directory of a repository', complete: 'directory' }],
    options: [INTO],
    takes: WORKSPACE,
    load: () => import('../commands/import-git.js'),
  },
  {
    name: 'export tar',
    group: 'Files',
    summary: 'Pack the storage into a tar archive',
    arguments: [{ name: 'FILE', help: 'Archive; - is standard output', complete: 'file' }],
    options: [FROM, FORCE],
    takes: READS,
    load: () => import('../commands/export-tar.js'),
  },
  {
    name: 'export snapshot',
    group: 'Files',
    summary: 'Write the whole storage into a snapshot file',
    arguments: [{ name: 'FILE', help: 'Snapshot; - is standard output', complete: 'file' }],
    options: [FORCE],
    takes: READS,
    load: () => import('../commands/export-snapshot.js'),
  },
  {
    name: 'export git',
    group: 'Files',
    summary: 'Commit the storage to a branch of a bare git repository',
    arguments: [{ name: 'REPOSITORY', help: 'Bare repository; created if it does not exist', complete: 'directory' }],
    options: [
      { name: 'branch', value: 'NAME', help: 'Default: main' },
      { name: 'message', short: 'm', value: 'TEXT', help: 'Default: Files of scratchfs' },
    ],
    takes: READS,
    load: () => import('../commands/export-git.js'),
  },
];
