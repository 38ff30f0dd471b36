import type { BigIntStats } from 'node:fs';
import type { ObjectId } from '@scratchfs/history';
import type { WorktreeFile } from './worktree-file.js';

/** A file changed less than this long before it was read may change again without its times showing it. */
const SETTLED_MS = 2_500n;

interface Remembered {
  readonly identity: string;
  readonly id: ObjectId;
}

/**
 * Remembers the content ids of a work tree's files by their stats, as git's index does. A lost entry only costs time.
 */
export class WorktreeCache {
  #files: ReadonlyMap<string, Remembered> = new Map();

  get(path: string, stat: BigIntStats): ObjectId | undefined {
    const remembered = this.#files.get(path);
    return remembered?.identity === identityOf(stat) ? remembered.id : undefined;
  }

  /** Records the entries of one reading. They take effect with `keep`, to be called once all contents are stored. */
  record(): { readonly put: (file: WorktreeFile, id: ObjectId, now: number) => void; readonly keep: () => void } {
    const files = new Map<string, Remembered>();
    return {
      put: ({ path, stat }, id, now) => {
        if (stat.isFile() && BigInt(Math.trunc(now)) - stat.ctimeMs > SETTLED_MS)
          files.set(path, { identity: identityOf(stat), id });
      },
      keep: () => {
        this.#files = files;
      },
    };
  }
}

function identityOf({ dev, ino, size, mtimeNs, ctimeNs, mode }: BigIntStats): string {
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs} ${mode}`;
}
