import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FileSystem, isFsError } from '@scratchfs/core';

/** Returns a function that returns whole numbers from 0 to below its argument; the same ones for a seed. */
export function seeded(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 13), 0x297a2d39);
    return ((mixed ^ (mixed >>> 16)) >>> 0) % below;
  };
}

/** Fills a directory of the disk with files, links, and a file with two names. */
export function fillDirectory(directory: string): void {
  for (const folder of ['a', 'a/b', 'c', 'c/d', 'c/d/e']) {
    mkdirSync(join(directory, folder));
    for (const name of ['x', 'y']) writeFileSync(join(directory, folder, name), `${folder}/${name}\nline\n`);
  }
  symlinkSync('a/x', join(directory, 'link'));
  linkSync(join(directory, 'a/y'), join(directory, 'c/linked'));
}

/** Returns what a filesystem shows, one line for each path, with the times of files only. */
export async function dump(fs: FileSystem): Promise<string[]> {
  const lines: string[] = [];
  const pending = ['/'];
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const { path, kind, mode, size, target, modifiedAt, content } of await fs.entries(directory, {
      content: true,
    })) {
      if (kind === 'directory') pending.push(path);
      const data = kind === 'file' ? Buffer.from(content).toString('latin1') : (target ?? '');
      lines.push(JSON.stringify([path, kind, mode, size, data, kind === 'file' ? modifiedAt : 0]));
    }
  }
  return lines.sort();
}

/** Runs one random operation that succeeds. @param before what the filesystem shows */
export async function changeSomething(
  fs: FileSystem,
  random: (below: number) => number,
  step: number,
  before: readonly string[],
): Promise<void> {
  const entries = before.map((line) => JSON.parse(line) as [string, string]);
  for (;;) {
    const any = (kind?: string): string => {
      const some = entries.filter(([, one]) => kind === undefined || one === kind);
      return some[random(some.length)]?.[0] ?? '/';
    };
    const fresh = (): string => `${random(3) === 0 ? '' : any('directory')}/n${random(40)}`.replace('//', '/');
    try {
      // A tree that grows without end makes the rest slow.
      if (entries.length > 120) await fs.rm(any('directory'), { recursive: true });
      else await oneOf(fs, random, step, any, fresh);
      return;
    } catch (error) {
      if (!isFsError(error)) throw error;
    }
  }
}

function oneOf(
  fs: FileSystem,
  random: (below: number) => number,
  step: number,
  any: (kind?: string) => string,
  fresh: () => string,
): Promise<unknown> {
  const body = `step ${step}\n${'x'.repeat(random(50))}`;
  switch (random(14)) {
    case 0:
    case 1:
      return fs.writeFile(fresh(), body);
    case 2:
    case 3:
      return fs.writeFile(any('file'), body);
    case 4:
      return fs.appendFile(any('file'), body);
    case 5:
      return fs.truncate(any('file'), random(20));
    case 6:
      return random(3) === 0 ? fs.rm(any(), { recursive: true }) : fs.rm(any('file'));
    case 7:
      return fs.rename(any('file'), random(2) === 0 ? fresh() : any('file'));
    case 8:
      return fs.rename(any('directory'), fresh());
    case 9:
      return fs.mkdir(`${fresh()}/deeper`, { recursive: true });
    case 10:
      return fs.chmod(any('file'), random(2) === 0 ? 0o755 : 0o600);
    case 11:
      return fs.link(any('file'), fresh());
    case 12:
      return random(2) === 0 ? fs.symlink(any().slice(1) || '.', fresh()) : fs.cp(any(), fresh(), { recursive: true });
    default:
      return fs.transaction(async (tx) => {
        await tx.writeFile(fresh(), body);
        await tx.rename(any('file'), fresh());
        await tx.rm(any('file'), { force: true });
      });
  }
}
