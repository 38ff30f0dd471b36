import { lstat, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { GitDirectory, History } from '@scratchfs/history';
import { hostFileSystem, nodePrimitives } from '@scratchfs/host';
import { CliError, ExitCode } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { withTarget } from '../target/target.js';
import { fillDirectory, inParts } from '../target/unfinished.js';
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
  const isMissing = await checkFolder(folder, repository);
  return withTarget(call, 'read', async ({ fileSystem }) => {
    const message = options.text('message') ?? 'Files of scratchfs';
    const commitIn = async (place: string): Promise<string> => {
      const host = hostFileSystem(place, { git: 'writable' });
      try {
        const git = await GitDirectory.init(host, { path: '/', primitives: nodePrimitives, branch });
        try {
          const history = new History({ repository: git, primitives: nodePrimitives });
          return await output.progress('Committing', () => history.commit(fileSystem, { message, branch, signal }));
        } finally {
          await git.close();
        }
      } finally {
        await host.close();
      }
    };
    const work = (): Promise<string> => commitIn(folder);
    const commit = await (isMissing ? fillDirectory(call, folder, commitIn) : inParts(call, repository, work));
    const lines = output.isQuiet
      ? []
      : [`Committed ${commit.slice(0, 12)} to ${escapeText(branch)} of ${escapeText(repository)}`];
    return { lines, json: { commit, branch, repository: folder } };
  });
}

/**
 * Reports whether a directory is missing.
 * @throws CliError if it exists and is neither an empty directory nor a bare repository
 */
async function checkFolder(folder: string, name: string): Promise<boolean> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): undefined => {
    if (error.code === 'ENOTDIR') throw notBare(name);
    if (error.code !== 'ENOENT') throw error;
  });
  if (names === undefined) return true;
  if (names.length === 0) return false;
  const isBare = await lstat(join(folder, 'objects')).then(
    () => names.includes('HEAD') && names.includes('refs'),
    () => false,
  );
  if (isBare) return false;
  throw notBare(name);
}

function notBare(name: string): CliError {
  return new CliError(
    ExitCode.refused,
    `${name} is not a bare repository.`,
    'Name a new directory, then: git fetch DIRECTORY main',
  );
}
