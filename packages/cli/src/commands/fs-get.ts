import { chmod, lstat, readdir, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { baseName } from '@scratchfs/core';
import { CliError, ExitCode } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { type CopyCount, copyTree } from '../target/copy-tree.js';
import { withTarget } from '../target/target.js';
import { fillDirectory, inParts, underNewParents } from '../target/unfinished.js';
import { escapeText } from '../terminal/escape.js';
import { bytesText, count } from '../terminal/quantities.js';

export function run(call: Call): Promise<Result> {
  const { args, options, directory, output, signal } = call;
  const [name = '', local] = args;
  return withTarget(call, 'read', async ({ fileSystem, path }) => {
    const source = path(name);
    if (local === '-') {
      await output.bytes(await fileSystem.readFile(source, { signal }));
      return { json: { path: source } };
    }
    const own = source === '/' ? 'files' : baseName(source);
    const given = resolve(directory, local ?? own);
    const isInside = local !== undefined && (await isDirectory(given));
    const place = isInside && source !== '/' ? join(given, own) : given;
    const stats = await fileSystem.stat(source, { signal });
    const exists = await lstat(place).then(
      () => true,
      () => false,
    );
    if (exists && stats.isDirectory() && !(await isDirectory(place)))
      throw new CliError(ExitCode.conflict, `${place} is not a directory.`, 'Name another target.');
    const isFree = !exists || (isInside && source === '/' && (await readdir(place)).length === 0);
    if (!isFree && !options.flag('force'))
      throw new CliError(ExitCode.conflict, `${place} exists.`, '--force replaces files there; other files stay.');
    const real = await fileSystem.realpath(source, { signal });
    const { hostFileSystem } = await import('@scratchfs/host');
    const copyInto = async (folder: string, target: string): Promise<CopyCount> => {
      const host = hostFileSystem(folder);
      try {
        return await output.progress('Copying', (report) =>
          copyTree(fileSystem, real, host, target, { signal, onProgress: ({ files }) => report(count(files, 'file')) }),
        );
      } finally {
        await host.close();
      }
    };
    const copy = async (): Promise<CopyCount> => {
      if (!stats.isDirectory())
        return underNewParents(call, place, () => copyInto(dirname(place), `/${basename(place)}`));
      if (exists) return inParts(call, place, () => copyInto(place, '/'));
      const fill = async (temporary: string): Promise<CopyCount> => {
        const done = await copyInto(temporary, '/');
        await utimes(temporary, stats.atime, stats.mtime);
        await chmod(temporary, stats.mode & 0o7777);
        return done;
      };
      // Until the directory has its own mode, which may be as strict, only the user may look into it.
      return fillDirectory(call, place, fill, 0o700);
    };
    const copied = await copy();
    const lines = output.isQuiet
      ? []
      : [`Got ${escapeText(place)}: ${count(copied.files, 'file')}, ${bytesText(copied.bytes)}`];
    return { lines, json: { path: source, target: place, ...copied } };
  });
}

/** Reports whether a path of the disk is a directory, or a link to one. */
function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
