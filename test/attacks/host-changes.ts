import { createHash } from 'node:crypto';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { FileSystem } from '@scratchfs/core';
import { applyChanges, type PathChange, recoverDirectory } from '@scratchfs/host';

/** Changes of a directory by name. `root` is the directory of `fs`. */
export type Changes = Readonly<Record<string, (fs: FileSystem, root: string) => Promise<unknown>>>;

/** Changes that are atomic for other processes that look at the disk, at whatever step they are cut short. */
export const CHANGES: Changes = {
  'a new file': (fs) => fs.writeFile('/dir/new', 'n'.repeat(10_000)),
  'a file with a mode': (fs) => fs.writeFile('/dir/new', 'n', { mode: 0o640 }),
  'a file written anew': (fs) => fs.writeFile('/dir/a', 'A'.repeat(20_000)),
  'an appended file': (fs) => fs.appendFile('/dir/a', 'A'.repeat(5_000)),
  'an edited file': (fs) => fs.editFile('/dir/a', 'old', 'new'),
  'a cut file': (fs) => fs.truncate('/dir/a', 100),
  'a file written anew, larger than what is changed in place': (fs) =>
    fs.writeFile('/dir/big', 'B'.repeat(17 * 2 ** 20)),
  'a file with other hard links written anew': (fs) => fs.writeFile('/dir/sub/c', 'C'.repeat(20_000)),
  'the mode of a file with other hard links': (fs) => fs.chmod('/dir/sub/c', 0o600),
  'a directory': (fs) => fs.mkdir('/dir/made'),
  'a link': (fs) => fs.symlink('a', '/dir/made'),
  'a second name': (fs) => fs.link('/dir/a', '/dir/made'),
  'a renamed file': (fs) => fs.rename('/dir/a', '/moved'),
  'a file renamed over another': (fs) => fs.rename('/dir/a', '/dir/b'),
  'a renamed directory': (fs) => fs.rename('/dir', '/moved'),
  'a copied file': (fs) => fs.copyFile('/dir/a', '/dir/copy'),
  'a copied directory': (fs) => fs.cp('/dir', '/copy', { recursive: true }),
  'a removed file': (fs) => fs.unlink('/dir/a'),
  'a removed directory': (fs) => fs.rm('/dir', { recursive: true }),
};

const file = (data: string, mode?: number) => ({ kind: 'file', data, mode }) as const;
const directory = { kind: 'directory' } as const;
const OLD = `old ${'a'.repeat(10_000)}`;

/** Changes to apply to what {@link fill} creates. */
const LISTS: Readonly<Record<string, readonly PathChange[]>> = {
  'one file': [{ path: '/dir/a', before: file(OLD), after: file('A') }],
  'files added, changed and removed': [
    { path: '/dir/a', before: file(OLD), after: file('A'.repeat(20_000), 0o600) },
    { path: '/dir/b', before: file('b', 0o600) },
    { path: '/new/deep/c', after: file('C') },
    { path: '/dir/link', before: { kind: 'symlink', target: '../dir/a' }, after: { kind: 'symlink', target: 'b' } },
  ],
  'a directory that becomes a file, and a file that becomes one': [
    { path: '/dir/a', before: file(OLD), after: directory },
    { path: '/dir/a/inner', after: file('inner') },
    { path: '/dir/sub', before: directory, after: file('sub') },
    { path: '/dir/sub/c', before: file('dir/sub/c') },
    { path: '/dir/sub/second', before: file('dir/sub/c') },
    { path: '/dir/sub/deep', before: directory },
    { path: '/dir/sub/deep/d', before: file('dir/sub/deep/d') },
    { path: '/dir/sub/deep/e', before: file('dir/sub/deep/e') },
  ],
  'modes, and a file with other hard links': [
    { path: '/dir/sub', before: directory, after: { ...directory, mode: 0o700 } },
    { path: '/dir/sub/second', before: file('dir/sub/c'), after: file('changed') },
    { path: '/empty', after: { ...directory, mode: 0o750 } },
  ],
};

/** Calls of `applyChanges`, which are complete or undone after a recovery, at whatever step they are cut short. */
export const APPLICATIONS: Changes = Object.fromEntries(
  Object.entries(LISTS).map(([name, changes]) => [name, (_, root) => applyChanges(changes, root)]),
);

export const RECOVERY = 'a recovery';
/** A recovery of the longest list has about this many steps. */
export const RECOVERY_STEPS = 20;
export const RECOVERIES: Changes = { [RECOVERY]: (_, root) => recoverDirectory(root) };

/** Creates files and directories for the changes. */
export function fill(root: string): void {
  mkdirSync(join(root, 'dir/sub/deep'), { recursive: true });
  writeFileSync(join(root, 'dir/a'), OLD);
  writeFileSync(join(root, 'dir/b'), 'b', { mode: 0o600 });
  writeFileSync(join(root, 'dir/big'), 'b');
  for (const name of ['dir/sub/c', 'dir/sub/deep/d', 'dir/sub/deep/e']) writeFileSync(join(root, name), name);
  linkSync(join(root, 'dir/sub/c'), join(root, 'dir/sub/second'));
  symlinkSync('../dir/a', join(root, 'dir/link'));
}

const TEMPORARY = '.scratchfs-tmp-';

/** Returns the contents of a directory as text, without unfinished files. */
export function told(root: string): string {
  const lines: string[] = [];
  const add = (path: string): void => {
    for (const name of readdirSync(join(root, path)).sort()) {
      if (name.startsWith(TEMPORARY)) continue;
      const child = join(path, name);
      const stat = lstatSync(join(root, child));
      if (stat.isSymbolicLink()) lines.push(`${child} -> ${readlinkSync(join(root, child))}`);
      else if (stat.isDirectory()) {
        lines.push(`${child}/`);
        add(child);
      } else lines.push(`${child} ${(stat.mode & 0o777).toString(8)} ${summary(readFileSync(join(root, child)))}`);
    }
  };
  add('.');
  return lines.join('\n');
}

/** Returns the names of unfinished files. */
export function leftovers(root: string): string[] {
  return readdirSync(root).filter((name) => name.startsWith(TEMPORARY));
}

/** Returns the length and a short digest of a content. */
function summary(content: Uint8Array): string {
  return `${content.length} ${createHash('sha256').update(content).digest('hex').slice(0, 16)}`;
}
