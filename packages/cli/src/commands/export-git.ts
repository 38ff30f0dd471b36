import { lstat, mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { GitDirectory, History } from '@scratchfs/history';
import { hostFileSystem, nodePrimitives } from '@scratchfs/host';
import { CliError, ExitCode } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { withTarget } from '../target/target.js';
import { escapeText } from '../terminal/escape.js';

export async function run(call: Call): Promise<Result> {
  const {
    args: [repository = ''],
    options,
    directory,
    output,
    signal,
  } = call;
  const folder = resolve(directory, repository);
  const branch = options.text('branch') ?? 'main';
  await checkFolder(folder, repository);
  return withTarget(call, 'read', async ({ fileSystem }) => {
    await mkdir(folder, { recursive: true });
    const host = hostFileSystem(folder, { git: 'writable' });
    try {
      const git = await GitDirectory.init(host, { path: '/', primitives: nodePrimitives, branch });
      try {
        const history = new History({ repository: git, primitives: nodePrimitives });
        const message = options.text('message') ?? 'Files of scratchfs';
        const commit = await output.progress('Committing', () =>
          history.commit(fileSystem, { message, branch, signal }),
        );
        const lines = output.isQuiet
          ? []
          : [`Committed ${commit.slice(0, 12)} to ${escapeText(branch)} of ${escapeText(repository)}`];
        return { lines, json: { commit, branch, repository: folder } };
      } finally {
        await git.close();
      }
    } finally {
      await host.close();
    }
  });
}

/** @throws CliError unless the directory is missing, empty or a bare repository */
async function checkFolder(folder: string, name: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (names.length === 0) return;
  const isBare = await lstat(join(folder, 'objects')).then(
    () => names.includes('HEAD') && names.includes('refs'),
    () => false,
  );
  if (isBare) return;
  throw new CliError(
    ExitCode.refused,
    `${name} is not a bare repository.`,
    'Name a new directory, then: git fetch DIRECTORY main',
  );
}
