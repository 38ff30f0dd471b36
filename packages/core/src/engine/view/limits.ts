import { FsError } from '../../errors.js';
import { MAX_DEPTH, MAX_PATH_BYTES, pathSegments, utf8Length } from '../../paths.js';
import type { DirectoryNode } from '../../tree/node.js';
import { measureDirectory } from '../../tree/tree.js';
import { ContentView } from './contents.js';
import { limitError, MAX_FILE_SIZE } from './limit-error.js';

/** Sums of sizes above this might no longer be exact. */
const EXACT = 2 ** 40;

/** What a filesystem has room for. To be asked before anything changes. */
export abstract class LimitView extends ContentView {
  /** Fails where the filesystem has no room for `bytes` more and `nodes` more names. */
  reserve(bytes: number, nodes: number, syscall: string, path: string): void {
    const { maxTotalSize, maxNodeCount } = this.context.limits;
    if (bytes > 0 && (maxTotalSize !== undefined || bytes > EXACT)) {
      const allowed = maxTotalSize ?? Number.MAX_SAFE_INTEGER;
      const used = this.#used(
        bytes,
        allowed,
        () => this.tree.root.size + this.tree.linkedSize + (this.hub?.detached.size ?? 0),
      );
      if (used + bytes > allowed)
        throw this.#shown(limitError('ENOSPC', 'maxTotalSize', used, used + bytes, allowed, syscall, path));
    }
    if (nodes > 0 && maxNodeCount !== undefined) {
      const used = this.#used(nodes, maxNodeCount, () => this.tree.root.files + this.tree.root.directories);
      if (used + nodes > maxNodeCount) {
        throw this.#shown(limitError('ENOSPC', 'maxNodeCount', used, used + nodes, maxNodeCount, syscall, path));
      }
    }
  }

  #shown(error: FsError): unknown {
    return this.context.guard === undefined ? error : this.context.guard.shown(error);
  }

  /** What is in use: before it makes an operation fail, it has to be what the storage holds now. */
  #used(more: number, allowed: number, count: () => number): number {
    if (count() + more > allowed) this.relyOnTotals();
    return count();
  }

  /** Fails where a single file of this size is not allowed. */
  checkFileSize(size: number, before: number, syscall: string, path: string): void {
    const allowed = this.context.limits.maxFileSize ?? MAX_FILE_SIZE;
    if (size > allowed && size > before) throw limitError('EFBIG', 'maxFileSize', before, size, allowed, syscall, path);
  }

  /** Fails where a directory with all beneath it would reach too deep, or have paths that are too long, at another place. */
  checkReach(directory: DirectoryNode, target: string, syscall: string, path: string): void {
    const depth = pathSegments(target).length;
    if (depth + directory.height <= MAX_DEPTH && (target.length + directory.reach) * 3 <= MAX_PATH_BYTES) return;
    const { levels, bytes } = measureDirectory(directory);
    const length = utf8Length(target) + bytes;
    if (depth + levels > MAX_DEPTH) {
      throw new FsError('ENAMETOOLONG', {
        syscall,
        path,
        limit: 'depth',
        requested: depth + levels,
        allowed: MAX_DEPTH,
      });
    }
    if (length > MAX_PATH_BYTES) {
      throw new FsError('ENAMETOOLONG', { syscall, path, limit: 'path', requested: length, allowed: MAX_PATH_BYTES });
    }
  }
}
