import { lstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { quote } from '@scratchfs/core';
import { WorkspaceError } from './errors.js';

/** Value of HEAD: a branch, or a commit, with the branch that a rebase in progress will move. */
export type Head =
  | { readonly kind: 'branch'; readonly name: string }
  | { readonly kind: 'detached'; readonly during?: string | undefined };

const MAX_HEAD_BYTES = 4096;

/**
 * Returns what HEAD names in the work tree around a directory, linked work trees and submodules included. Undefined if
 * there is no work tree, HEAD cannot be read as a small file, or the repository uses reftable. Starts no program.
 */
export function currentHead(directory: string): Head | undefined {
  const git = gitDirectoryAround(directory);
  if (git === undefined) return undefined;
  const head = headText(join(git, 'HEAD'));
  if (head === undefined) return undefined;
  const branch = /^ref: *refs\/heads\/(.+)$/.exec(head)?.[1];
  // In a repository with reftable, HEAD is stored elsewhere, and this file holds a name that no branch can have.
  if (branch === '.invalid') return undefined;
  if (branch !== undefined) return { kind: 'branch', name: branch };
  return { kind: 'detached', during: rebaseIn(git) };
}

/**
 * Checks that HEAD still names the branch that an attempt belongs to. Another commit on a detached HEAD does not count
 * as a switch, nor does a repository that was created or removed since.
 * @throws WorkspaceError `branch-switched`, with what can be done
 */
export function checkBranch(attempt: string, start: Head | undefined, directory: string): void {
  if (start === undefined) return;
  const now = currentHead(directory);
  if (now === undefined || isSame(start, now)) return;
  const [from, to] = [textOf(start), textOf(now)];
  const rebase = now.kind === 'detached' ? now.during : undefined;
  const back =
    rebase !== undefined
      ? `finish the rebase of ${quote(rebase)}`
      : start.kind === 'branch'
        ? `switch back with: git switch ${/^[\w./-]+$/.test(start.name) ? start.name : quote(start.name)}`
        : 'check out the commit again';
  throw new WorkspaceError(
    'branch-switched',
    `The repository is on ${to} now, and the attempt ${attempt} began on ${from}: its changes belong to the other ` +
      `files. Reading goes on. To change or accept it, ${back}; or start another attempt here with fork; or take ` +
      'this one along with: scratchfs refresh --onto',
  );
}

function isSame(a: Head, b: Head): boolean {
  return a.kind === 'branch' ? b.kind === 'branch' && a.name === b.name : b.kind === 'detached';
}

function textOf(head: Head): string {
  return head.kind === 'branch' ? `the branch ${quote(head.name)}` : 'a detached HEAD';
}

/**
 * Returns git's directory for the work tree that contains a directory, for a linked work tree its own one; undefined if
 * there is none.
 */
export function gitDirectoryAround(directory: string): string | undefined {
  for (let at = resolve(directory); ; at = dirname(at)) {
    const found = gitDirectoryAt(at);
    if (found !== undefined || dirname(at) === at) return found;
  }
}

/** Like {@link gitDirectoryAround}, only for a work tree whose top is the directory. */
export function gitDirectoryAt(directory: string): string | undefined {
  const path = join(directory, '.git');
  let stat: Stats | undefined;
  try {
    stat = lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // The path is not a directory, or cannot be entered.
  }
  if (stat === undefined) return undefined;
  if (stat.isFile()) {
    const target = /^gitdir: (.+)$/.exec(smallFile(path) ?? '')?.[1];
    return target === undefined ? undefined : resolve(directory, target);
  }
  // git follows a link named `.git` too.
  return headText(join(path, 'HEAD')) === undefined ? undefined : path;
}

/**
 * Returns the branch that a rebase in progress will move, without `refs/heads/`, or git's words `detached HEAD`;
 * undefined if there is no rebase.
 */
function rebaseIn(git: string): string | undefined {
  for (const folder of ['rebase-merge', 'rebase-apply']) {
    const name = smallFile(join(git, folder, 'head-name'));
    if (name !== undefined) return name.replace(/^refs\/heads\//, '');
  }
  return undefined;
}

/** Returns the text of HEAD. In old repositories it is a link to the file of the branch. */
function headText(path: string): string | undefined {
  try {
    if (lstatSync(path).isSymbolicLink()) return `ref: ${readlinkSync(path)}`;
  } catch {
    return undefined;
  }
  return smallFile(path);
}

/** Returns the text of a file without the line end; undefined if it is not a regular file, too large, or unreadable. */
function smallFile(path: string): string | undefined {
  try {
    const stat = lstatSync(path);
    if (stat.size > MAX_HEAD_BYTES || !stat.isFile()) return undefined;
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch {
    return undefined;
  }
}
