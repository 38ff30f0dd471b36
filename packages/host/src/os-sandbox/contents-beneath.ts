import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { DirectoryHandle } from '../directory-handle.js';
import { isCode } from '../host-error.js';
import type { RawName } from '../path-handle.js';
import { contentOf, hashOf } from './content.js';

/**
 * Returns the keys of the contents of files and links at a name in a copy, and under it, if their size is wanted. The
 * command must have ended. Links are not followed. Entries that may not be read are left out.
 *
 * @param above the directory of that name, which is reached without links
 */
export async function contentsBeneath(
  copy: string,
  above: string,
  name: RawName,
  isWanted: (size: number) => boolean,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  using directory = descend(copy, above);
  const contents: string[] = [];
  const pending = [Buffer.concat([Buffer.from(`${directory.path}/`), Buffer.from(name)])];
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    await setImmediate();
    signal?.throwIfAborted();
    try {
      const stat = lstatSync(place);
      const isLink = stat.isSymbolicLink();
      if (stat.isDirectory()) {
        for (const one of readdirSync(place, { encoding: 'buffer' }))
          pending.push(Buffer.concat([place, Buffer.from('/'), one]));
      } else if ((isLink || stat.isFile()) && isWanted(stat.size)) {
        const body = isLink ? readlinkSync(place, { encoding: 'buffer' }) : readFileSync(place);
        contents.push(contentOf({ isLink, hash: hashOf(body) }));
      }
    } catch (error) {
      if (!isCode(error, 'EACCES', 'ENAMETOOLONG')) throw error;
    }
  }
  return contents;
}

function descend(copy: string, path: string): DirectoryHandle {
  let at = DirectoryHandle.at(copy);
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    using above = at;
    at = above.enter(name);
  }
  return at;
}
