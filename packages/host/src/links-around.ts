import { readdir } from 'node:fs/promises';
import { joinPath, parentPath } from '@scratchfs/core';
import { isAutoRunDirectory, type KnownLink } from './auto-run-files.js';
import { ConfinedRoot } from './confined-root.js';
import { isTurnDue, nextTurn } from './event-loop.js';

/** Maximum number of directories that one call lists. */
const MAX_DIRECTORIES = 2_000;

/**
 * Returns the symlinks in the directories above paths, and in directories there with files that programs obey, such as
 * `.husky`. Skips directories that cannot be read, and all after the first {@link MAX_DIRECTORIES}.
 * @param top path with which absolute targets inside the root begin. Default: path of the root on the host
 */
export async function linksAround(
  root: ConfinedRoot,
  paths: Iterable<string>,
  top: string = root.hostPath,
): Promise<KnownLink[]> {
  const links: KnownLink[] = [];
  let count = 0;
  const list = async (directory: string, isObeyed: (path: string) => boolean): Promise<void> => {
    if (count++ >= MAX_DIRECTORIES) return;
    if (isTurnDue()) await nextTurn();
    using trail = root.walk(directory);
    if (!trail.complete || trail.last.kind !== 'directory') return;
    for (const entry of await readdir(`${trail.last.path}/.`, { withFileTypes: true })) {
      const path = joinPath(directory, entry.name);
      if (entry.isSymbolicLink()) links.push([path, within(trail.last.readLink(entry.name), top)]);
      else if (entry.isDirectory() && isObeyed(path)) await list(path, isObeyed).catch(() => {});
    }
  };
  for (const directory of directoriesAbove(paths)) {
    const above = directory === '/' ? '' : directory;
    // Another process may remove what is being listed, and a directory may refuse to be read.
    await list(directory, (path) => isAutoRunDirectory(path.slice(above.length))).catch(() => {});
  }
  return links;
}

/** Like {@link linksAround}, for a directory of the host. Returns none if that cannot be opened. */
export async function linksIn(directory: string, paths: Iterable<string>, top?: string): Promise<KnownLink[]> {
  let root: ConfinedRoot | undefined;
  try {
    root = new ConfinedRoot(directory);
    return await linksAround(root, paths, top);
  } catch {
    return [];
  } finally {
    root?.close();
  }
}

/** Returns the directories above paths, those nearest to the top first. */
function directoriesAbove(paths: Iterable<string>): string[] {
  const found = new Map<string, number>();
  for (const path of paths) {
    let at = path.startsWith('/') ? path : `/${path}`;
    while (at !== '/') {
      at = parentPath(at);
      if (found.has(at)) break;
      found.set(at, at === '/' ? 0 : at.split('/').length);
    }
  }
  return [...found].sort((a, b) => a[1] - b[1]).map(([path]) => path);
}

/**
 * Returns the target of a link. An absolute target at or under `top` becomes a path that begins there, any other {@link
 * LEADS_OUT}.
 */
function within(target: string, top: string): string {
  if (!target.startsWith('/')) return target;
  return target === top || target.startsWith(`${top}/`) ? target.slice(top.length) || '/' : LEADS_OUT;
}

/** A target above every directory. */
const LEADS_OUT = '/..';
