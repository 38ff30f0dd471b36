import { isUtf8 } from 'node:buffer';
import { execFile } from 'node:child_process';
import { chown, mkdir, mkdtemp, rmdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { checkName, type FileSystem, FsError, isFsError } from '@scratchfs/core';
import type { Sandbox } from '@scratchfs/sandbox';
import type { RawName } from '../path-handle.js';
import { removeTree } from '../remove-tree.js';
import { readWorktree, type Unrepresentable } from '../versions/read-worktree.js';
import { type Binding, NOBODY, OsSandboxUnavailableError } from './bubblewrap.js';
import { type Content, hashOf } from './content.js';
import { contentsBeneath } from './contents-beneath.js';
import type { AllLimits } from './limits.js';
import { INSIDE, targetInside } from './link-targets.js';

/** A file or link of the copy. */
export interface CopiedFile extends Content {
  /** Path as the sandbox writes it, without a leading `/`. */
  readonly path: string;
  readonly isExecutable: boolean;
  /** Bytes of the content. */
  readonly size: number;
}

export interface ChangedFile extends CopiedFile {
  readonly body: Uint8Array;
}

export interface RefusedName extends Unrepresentable {
  /** Keys of the contents at the name and under it, as far as they may have been moved from a path that has changed. */
  readonly contents: readonly string[];
}

/** Changes of a command to the copy. */
export interface StagedCopyChanges {
  readonly written: readonly ChangedFile[];
  readonly removed: readonly CopiedFile[];
  /** Added directories, each before those in it. */
  readonly addedDirectories: readonly string[];
  readonly removedDirectories: readonly string[];
  /** Entries that cannot come back because of their kind, name or link target. */
  readonly refused: readonly RefusedName[];
}

/** Copy on disk of what a sandbox may read, for one command. Only the command's user can reach it. */
export class StagedCopy implements AsyncDisposable {
  readonly files = new Map<string, CopiedFile>();
  readonly directories = new Set<string>();
  readonly #owner: number | undefined = process.getuid?.() === 0 ? NOBODY : undefined;

  private constructor(
    readonly sandbox: Sandbox,
    readonly directory: string,
  ) {}

  /**
   * Copies what the sandbox may read.
   * @throws FsError EFBIG if that is more than `limits.copyInBytes`, ENOTDIR if a root is a link;
   *   OsSandboxUnavailableError if the copy cannot be given to the command's user
   */
  static async copy(sandbox: Sandbox, limits: AllLimits, signal?: AbortSignal): Promise<StagedCopy> {
    const stagedCopy = new StagedCopy(sandbox, await mkdtemp(join(tmpdir(), 'scratchfs-os-')));
    try {
      await stagedCopy.#own(stagedCopy.directory);
      await stagedCopy.#own(await stagedCopy.#directory(''));
      let left = limits.copyInBytes;
      for (const root of sandbox.readableRoots) left = await stagedCopy.#copyRoot(root, left, signal);
      for (const root of sandbox.writableRoots) await stagedCopy.#directory(relative(root));
      return stagedCopy;
    } catch (error) {
      await stagedCopy[Symbol.asyncDispose]();
      throw error;
    }
  }

  get bindings(): Binding[] {
    const top = { host: join(this.directory, 'work'), inside: INSIDE, isWritable: false };
    const writable = this.sandbox.writableRoots.map(relative).map((path) => ({
      host: join(this.directory, 'work', path),
      inside: join(INSIDE, path),
      isWritable: true,
    }));
    return [top, ...writable.sort((a, b) => a.inside.length - b.inside.length)];
  }

  /**
   * Makes the copy readable and removable for an ordinary user, whatever modes a command has left; root does not need
   * that. The command has ended, so it cannot put links in the way, and none is followed. Entries that stay closed are
   * reported when they are read.
   */
  async #open(): Promise<void> {
    if (this.#owner !== undefined) return;
    await promisify(execFile)('/bin/chmod', ['-Rf', 'u+rwX', join(this.directory, 'work')]).catch(() => undefined);
  }

  /** Reads the changes. The command controlled the copy, so no link in it is followed. */
  async changes(limits: AllLimits, signal?: AbortSignal): Promise<StagedCopyChanges> {
    await this.#open();
    const gone = new Map(this.files);
    const goneDirectories = new Set(this.directories);
    const addedDirectories: string[] = [];
    const written: ChangedFile[] = [];
    const refused: (Unrepresentable & { readonly name: RawName })[] = [];
    let bytes = 0;
    const count = (): number => written.length + addedDirectories.length;
    const checkCount = (files: number): void => {
      if (files > limits.copyBackFiles) throw tooMuch('copyBackFiles', limits.copyBackFiles, files);
    };
    for (const root of this.sandbox.writableRoots.map(relative)) {
      const inRoot = (path: string): string => (root === '' ? path : `${root}/${path}`);
      const onUnrepresentable = ({ path, reason }: Unrepresentable, name: RawName): void => {
        refused.push({ path: inRoot(path), reason, name });
      };
      const onDirectory = (within: string): void => {
        const path = inRoot(within);
        if (goneDirectories.delete(path)) return;
        addedDirectories.push(path);
        checkCount(count());
      };
      // Read from the top of the copy, because a command can put a link in place of a directory above a root.
      const options = { within: root, checkName, onUnrepresentable, onDirectory, signal };
      const files = readWorktree(join(this.directory, 'work'), options);
      for await (const { path: within, mode, body = new Uint8Array() } of files) {
        const path = inRoot(within);
        const before = this.files.get(path);
        gone.delete(path);
        const isLink = mode === '120000';
        if (isLink && !isUtf8(body)) {
          onUnrepresentable({ path: within, reason: 'its target is not UTF-8' }, basename(within));
          continue;
        }
        const isExecutable = mode === '100755';
        const file = { path, isLink, isExecutable, hash: hashOf(body), size: body.length, body };
        if (before !== undefined && isSame(before, file)) continue;
        written.push(file);
        bytes += body.length;
        if (bytes > limits.copyBackBytes) throw tooMuch('copyBackBytes', limits.copyBackBytes, bytes);
        checkCount(count());
      }
    }
    const kept = new Set(refused.map(({ path }) => path));
    // A refused path, or a path under it, is not known to be gone, so it does not count as removed.
    const isRemoved = (path: string): boolean =>
      this.sandbox.writableRoots.map(relative).some((root) => root === '' || path.startsWith(`${root}/`)) &&
      !withParents(path).some((one) => kept.has(one));
    const removed = [...gone.values()].filter(({ path }) => isRemoved(path));
    const removedDirectories = [...goneDirectories].filter(isRemoved);
    checkCount(count() + removed.length + removedDirectories.length);
    const sizes = new Set(removed.map(({ size }) => size));
    for (const { path } of written) sizes.add(this.files.get(path)?.size ?? -1);
    const withContents: RefusedName[] = [];
    for (const { path, reason, name } of refused) {
      const copy = join(this.directory, 'work');
      const contents = await contentsBeneath(copy, dirname(path), name, (size) => sizes.has(size), signal);
      withContents.push({ path, reason, contents });
    }
    return { written, removed, addedDirectories, removedDirectories, refused: withContents };
  }

  /**
   * Deletes the copy. Files that cannot be removed stay in the temporary directory; an error would hide the result of
   * the command.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    let places = 0;
    try {
      await this.#open();
      await removeTree(join(this.directory, 'work'), async () => join(this.directory, String(places++)));
      await rmdir(this.directory);
    } catch {
      // See above.
    }
  }

  /** Copies what may be read under a root. Returns the number of bytes that may still be copied. */
  async #copyRoot(root: string, room: number, signal?: AbortSignal): Promise<number> {
    const { fileSystem } = this.sandbox;
    const top = this.sandbox.locate(root);
    let left = room;
    await checkRoot(fileSystem, top, root, signal);
    if (!(await fileSystem.isDirectory(top, { signal }).catch(() => false))) return left;
    for await (const { path, kind, size, target: leadsTo = '', mode } of fileSystem.walk(top, { signal })) {
      const shown = this.sandbox.show(path);
      if (shown === undefined) continue;
      const place = relative(shown);
      if (kind === 'directory') {
        await this.#directory(place);
        this.directories.add(place);
        continue;
      }
      const target = targetInside(this.sandbox, leadsTo);
      const bytes = kind === 'file' ? size : Buffer.byteLength(target);
      if (bytes > left) throw tooMuch('copyInBytes', room, room - left + bytes);
      const body = kind === 'file' ? await readIfAllowed(this.sandbox, path, signal) : Buffer.from(target);
      if (body === undefined) continue;
      left -= body.length;
      await this.#directory(dirname(place));
      const host = join(this.directory, 'work', place);
      if (kind === 'file') await writeFile(host, body, { mode: (mode & 0o100) === 0 ? 0o644 : 0o755, flag: 'wx' });
      else await symlink(target, host);
      if (kind === 'file') await this.#own(host);
      const isExecutable = kind === 'file' && (mode & 0o100) !== 0;
      const isLink = kind !== 'file';
      this.files.set(place, { path: place, isLink, isExecutable, hash: hashOf(body), size: body.length });
    }
    return left;
  }

  async #directory(path: string): Promise<string> {
    const host = join(this.directory, 'work', path);
    const first = await mkdir(host, { recursive: true, mode: 0o755 });
    for (let at = host; first !== undefined && at.length >= first.length; at = dirname(at)) await this.#own(at);
    return host;
  }

  /**
   * Gives a path to the command's user. If this process is root, the command runs as the user nobody, who must be able
   * to write.
   */
  async #own(host: string): Promise<void> {
    if (this.#owner === undefined) return;
    await chown(host, this.#owner, this.#owner).catch((cause: unknown) => {
      throw new OsSandboxUnavailableError(
        'The user root cannot become the user nobody here, so the command was not run',
        { cause },
      );
    });
  }
}

export function isSame(a: CopiedFile, b: CopiedFile): boolean {
  return a.hash === b.hash && a.isLink === b.isLink && (a.isLink || a.isExecutable === b.isExecutable);
}

/** @throws FsError ENOTDIR if a root of the sandbox is a link: what it leads to is outside the sandbox */
async function checkRoot(fileSystem: FileSystem, top: string, root: string, signal?: AbortSignal): Promise<void> {
  const stat = await fileSystem.lstat(top, { signal }).catch(() => undefined);
  if (stat?.isSymbolicLink() !== true) return;
  const hint = 'The root of the sandbox is a link, which is not followed: make the directory it leads to the root';
  throw new FsError('ENOTDIR', { syscall: 'copy', path: root, hint });
}

/** Reads a file; undefined if the policy forbids it by name or size, or if it is gone. */
async function readIfAllowed(
  { fileSystem }: Sandbox,
  path: string,
  signal?: AbortSignal,
): Promise<Uint8Array | undefined> {
  try {
    return await fileSystem.readFile(path, { signal });
  } catch (error) {
    if (isFsError(error, 'EACCES') || isFsError(error, 'EFBIG') || isFsError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Returns a path and the directories above it. */
function withParents(path: string): string[] {
  const names = path.split('/');
  return names.map((_, i) => names.slice(0, i + 1).join('/'));
}

function relative(shown: string): string {
  return shown.replace(/^\/+/, '').replace(/^\.$/, '');
}

function tooMuch(limit: string, allowed: number, requested: number): FsError {
  return new FsError('EFBIG', { syscall: 'copy', hint: `More than limits.${limit} allows`, limit, allowed, requested });
}
