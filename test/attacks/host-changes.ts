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

/** Changes that are atomic for other processes that look at the disk, at whatever step they are cut short. */
export const CHANGES: Readonly<Record<string, (fs: FileSystem) => Promise<unknown>>> = {
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

/** Creates files and directories for the changes. */
export function fill(root: string): void {
  mkdirSync(join(root, 'dir/sub/deep'), { recursive: true });
  writeFileSync(join(root, 'dir/a'), `old ${'a'.repeat(10_000)}`);
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
