import { dirname } from 'node:path';
import { type FileSystem, FsError, isFsError, parentPath, type Stats } from '@scratchfs/core';
import type { Sandbox } from '@scratchfs/sandbox';
import { hashOf } from './content.js';
import { targetInside, targetOutside } from './link-targets.js';
import type { Step } from './plan.js';
import { type ChangedFile, type CopiedFile, isSame } from './staged-copy.js';
import { isRefusal, type Undo } from './undo.js';

/** An entry of the filesystem. */
interface Found {
  readonly stat: Stats;
  /** Content of a file or link to compare, unchanged from the filesystem. */
  readonly body?: Uint8Array | string;
  readonly file?: CopiedFile;
}

/** Applies the steps of a plan to a filesystem. A step that is refused changes nothing. */
export class StepRunner {
  readonly #entered = new Set<string>();

  /** @param directories those that the command was given or has added: no link that replaced one of them is followed */
  constructor(
    readonly sandbox: Sandbox,
    readonly fileSystem: FileSystem,
    readonly directories: ReadonlySet<string>,
  ) {}

  /**
   * Applies a step. Succeeds if the path is already as the command left it; throws an FsError and changes nothing if it
   * is neither that nor what the command was given.
   */
  async run(step: Step, undo: Undo): Promise<void> {
    const place = this.sandbox.locate(step.path);
    await this.#enter(dirname(step.path));
    const found = await this.#look(place, step);
    if (isAs(found, step.to)) return;
    if (!isAs(found, step.from)) throw inTheWay(place, step);
    const { mark } = undo;
    try {
      await this.#make(place, found, step.to, undo);
    } catch (error) {
      if (isRefusal(error)) {
        await undo.back(mark).catch((cause: unknown) => {
          throw new Error('The previous entry of a refused path could not be restored', { cause });
        });
      }
      throw error;
    }
  }

  async #enter(directory: string): Promise<void> {
    if (!this.directories.has(directory) || this.#entered.has(directory)) return;
    await this.#enter(dirname(directory));
    const place = this.sandbox.locate(directory);
    const stat = await this.#lstat(place);
    if (stat?.isSymbolicLink() === true)
      throw new FsError('EBUSY', {
        syscall: 'copy',
        path: place,
        hint: 'A link has replaced a directory of the command',
      });
    this.#entered.add(directory);
  }

  async #lstat(place: string): Promise<Stats | undefined> {
    return this.fileSystem.lstat(place).catch((error: unknown) => {
      if (isFsError(error, 'ENOENT') || isFsError(error, 'ENOTDIR')) return undefined;
      throw error;
    });
  }

  /** Reads an entry, with its content only if its kind matches one side of the step. */
  async #look(place: string, { path, from, to }: Step): Promise<Found | undefined> {
    const stat = await this.#lstat(place);
    if (stat === undefined) return undefined;
    const isLink = stat.isSymbolicLink();
    const isComparable = [from, to].some((file) => typeof file === 'object' && file.isLink === isLink);
    if (stat.isDirectory() || !isComparable) return { stat };
    const body = isLink ? await this.fileSystem.readlink(place) : await this.fileSystem.readFile(place);
    const bytes = typeof body === 'string' ? Buffer.from(targetInside(this.sandbox, body)) : body;
    const isExecutable = (stat.mode & 0o100) !== 0;
    return { stat, body, file: { path, isLink, isExecutable, hash: hashOf(bytes), size: bytes.length } };
  }

  async #make(place: string, found: Found | undefined, to: Step['to'], undo: Undo): Promise<void> {
    if (to === 'directory') return this.#makeDirectories(place, undo);
    if (to === undefined) return this.#remove(place, found as Found, undo);
    const target = to.isLink ? targetOutside(this.sandbox, Buffer.from(to.body).toString('utf8')) : undefined;
    await this.#makeDirectories(parentPath(place), undo);
    if (target === undefined && found?.stat.isFile() === true) return this.#write(place, found, to, undo);
    if (found !== undefined) await this.#remove(place, found, undo);
    if (target === undefined) return this.#write(place, undefined, to, undo);
    await undo.does(
      () => this.fileSystem.symlink(target, place),
      () => this.#takeAway(place, to),
    );
  }

  async #makeDirectories(place: string, undo: Undo): Promise<void> {
    let first: string | undefined;
    await undo.does(
      async () => {
        first = await this.fileSystem.mkdir(place, { recursive: true });
      },
      async () => {
        for (let at = place; first !== undefined && at.length >= first.length; at = parentPath(at)) {
          // Entries that another client has created in it concurrently stay.
          await this.fileSystem.rmdir(at).catch((error: unknown) => {
            if (!isFsError(error, 'ENOENT') && !isFsError(error, 'ENOTEMPTY')) throw error;
          });
        }
      },
    );
  }

  async #remove(place: string, found: Found, undo: Undo): Promise<void> {
    await undo.does(
      () => (found.stat.isDirectory() ? this.fileSystem.rmdir(place) : this.fileSystem.rm(place)),
      async () => {
        if ((await this.#lstat(place)) === undefined) await this.#putBack(place, found);
      },
    );
  }

  async #write(place: string, found: Found | undefined, to: ChangedFile, undo: Undo): Promise<void> {
    await undo.does(
      () => this.fileSystem.writeFile(place, to.body),
      async () => {
        if (found === undefined) await this.#takeAway(place, to);
        else if (await this.#holds(place, to)) await this.#putBack(place, found);
      },
    );
    const mode = found === undefined ? 0o644 : found.stat.mode & 0o777;
    const wanted = to.isExecutable ? mode | 0o111 : mode & ~0o111;
    if (wanted !== mode || found === undefined) await this.fileSystem.chmod(place, wanted);
  }

  /** Reports whether an applied change is still there. If another client has changed it since, it is not undone. */
  async #holds(place: string, to: ChangedFile): Promise<boolean> {
    const found = await this.#look(place, { path: to.path, from: undefined, to });
    return found?.file !== undefined && found.file.isLink === to.isLink && found.file.hash === to.hash;
  }

  async #takeAway(place: string, to: ChangedFile): Promise<void> {
    if (await this.#holds(place, to)) await this.fileSystem.rm(place);
  }

  async #putBack(place: string, { stat, body }: Found): Promise<void> {
    const { fileSystem } = this;
    if (typeof body === 'string') await fileSystem.symlink(body, place);
    else if (body === undefined) await fileSystem.mkdir(place);
    else await fileSystem.writeFile(place, body);
    if (typeof body !== 'string') await fileSystem.chmod(place, stat.mode & 0o7777);
    await fileSystem.lutimes(place, stat.atimeMs / 1000, stat.mtimeMs / 1000);
  }
}

function isAs(found: Found | undefined, wanted: Step['from']): boolean {
  if (wanted === undefined || found === undefined) return found === wanted;
  if (wanted === 'directory') return found.stat.isDirectory();
  return found.file !== undefined && isSame(found.file, wanted);
}

function inTheWay(path: string, { from }: Step): FsError {
  if (from !== undefined)
    return new FsError('EBUSY', { syscall: 'copy', path, hint: 'Another client has changed it concurrently' });
  const hint = 'The existing entry stays: the command has not seen it, or may not remove it';
  return new FsError('EEXIST', { syscall: 'copy', path, hint });
}
