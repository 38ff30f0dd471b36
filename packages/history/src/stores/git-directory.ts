import { type FileSystem, isFsError, parentPath, quote } from '@scratchfs/core';
import { HistoryError } from '../errors.js';
import { isObjectId, type ObjectFormat, type ObjectId } from '../object-id.js';
import { checkId, type GitObject, headerOf, parseFramed } from '../objects/git-object.js';
import { concat, type Primitives, portablePrimitives } from '../primitives.js';
import type {
  NamedObject,
  PruneCall,
  Pruned,
  RefValue,
  Repository,
  RepositoryCall,
  StoredObject,
  SwapRefCall,
} from '../repository.js';
import { parseConfig } from './git-config.js';
import { GitRefs } from './git-refs.js';
import { PackReader } from './pack-reader.js';
import { writePack } from './pack-writer.js';

export interface GitDirectoryOptions extends RepositoryCall {
  /** Path of the repository. Default `/.git`; `/` for a filesystem that contains only the repository. */
  readonly path?: string | undefined;
  readonly primitives?: Primitives | undefined;
  /** Maximum bytes of an object to unpack. Default 256 MiB. */
  readonly maxObjectBytes?: number | undefined;
}

/** From this number of objects on, a write creates a pack instead of one file per object. */
const MIN_PACKED_OBJECTS = 100;
const MAX_OBJECT_BYTES = 256 * 2 ** 20;
const OBJECT_MODE = 0o444;
/** Maximum number of loose objects that a prune deletes together. */
const DELETED_AT_ONCE = 256;
/** Bytes and objects after which a prune writes a pack. */
const MAX_BATCH_BYTES = 8 * 2 ** 20;
const MAX_BATCH_OBJECTS = 2_000;
/** Names in a repository that git writes beside a work tree, for reflogs, and during its commands. */
const USED_BY_GIT = /^(?:index|logs|worktrees|modules|(?!HEAD$)[A-Z_]+)$/;
/** Files that may depend on packs, or on objects that no reference reaches. */
const GIT_CACHES = /^(?:commit-graphs?|multi-pack-index.*|.*\.(?:keep|promisor|bitmap|mtimes))$/;

/**
 * A repository in git's own layout on any filesystem. git can clone, log and check it. Objects that git has written can
 * be read, packs included. Keeps packs open; `close` closes them.
 */
export class GitDirectory implements Repository {
  readonly #refs: GitRefs;
  readonly #packs = new Map<string, PackReader>();
  #looking: Promise<PackReader[]> | undefined;
  #shallow: ReadonlySet<ObjectId> | undefined;
  /** Last result of `pruneCount()`. After a change, known packs may have been deleted. */
  #pruneCount = 0;

  private constructor(
    readonly fileSystem: FileSystem,
    /** Path of git's directory, without a trailing `/`; empty for the root. */
    readonly path: string,
    readonly format: ObjectFormat,
    readonly primitives: Primitives,
    readonly maxObjectBytes: number,
  ) {
    this.#refs = new GitRefs(fileSystem, path, format);
  }

  /**
   * Opens a repository.
   * @throws HistoryError `not-found` if it does not exist, `wrong-type` for an unsupported layout
   */
  static async open(fileSystem: FileSystem, options: GitDirectoryOptions = {}): Promise<GitDirectory> {
    const path = (options.path ?? '/.git').replace(/\/+$/, '');
    let text: string;
    try {
      text = await fileSystem.readText(`${path}/config`, { signal: options.signal });
    } catch (cause) {
      if (!isFsError(cause, 'ENOENT') && !isFsError(cause, 'ENOTDIR')) throw cause;
      if (await fileSystem.isFile(path))
        throw new HistoryError(
          'wrong-type',
          `${path} is a file: the path of the repository of a linked work tree or a submodule is in its line "gitdir:"`,
          { path, cause },
        );
      throw new HistoryError('not-found', `No repository exists at ${path || '/'}`, { path, cause });
    }
    const config = parseConfig(text);
    const version = config.get('core.repositoryformatversion') ?? '0';
    const format = config.get('extensions.objectformat') ?? 'sha1';
    const unknown = [...config.keys()].filter((key) => key.startsWith('extensions.') && !KNOWN_EXTENSIONS.has(key));
    if (
      !['0', '1'].includes(version) ||
      (version === '1' && unknown.length > 0) ||
      (format !== 'sha1' && format !== 'sha256')
    )
      throw new HistoryError(
        'wrong-type',
        `The repository uses unsupported features: ${unknown.join(', ') || format}`,
        { path },
      );
    if (await fileSystem.exists(`${path}/objects/info/alternates`))
      throw new HistoryError(
        'wrong-type',
        'The repository borrows objects from another one (objects/info/alternates)',
        { path },
      );
    const { primitives = portablePrimitives, maxObjectBytes = MAX_OBJECT_BYTES } = options;
    return new GitDirectory(fileSystem, path, format, primitives, maxObjectBytes);
  }

  /** Creates an empty bare repository, or opens an existing repository. */
  static async init(
    fileSystem: FileSystem,
    options: GitDirectoryOptions & { readonly format?: ObjectFormat; readonly branch?: string } = {},
  ): Promise<GitDirectory> {
    const { path = '/.git', format = 'sha1', branch = 'main', signal } = options;
    const at = path.replace(/\/+$/, '');
    if (!(await fileSystem.exists(`${at}/config`, { signal }))) {
      for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags'])
        await fileSystem.mkdir(`${at}/${folder}`, { recursive: true, signal });
      await fileSystem.writeFile(`${at}/HEAD`, `ref: refs/heads/${branch}\n`, { signal });
      const version = format === 'sha1' ? 0 : 1;
      const extension = format === 'sha1' ? '' : `[extensions]\n\tobjectformat = ${format}\n`;
      const core = `[core]\n\trepositoryformatversion = ${version}\n\tfilemode = true\n\tbare = true\n`;
      await fileSystem.writeFile(`${at}/config`, core + extension, { signal });
    }
    return GitDirectory.open(fileSystem, options);
  }

  async read(id: ObjectId, call?: RepositoryCall): Promise<GitObject | undefined> {
    return (await this.#readLoose(id, call)) ?? this.#readPacked(id, call);
  }

  async has(id: ObjectId, call?: RepositoryCall): Promise<boolean> {
    if (await this.fileSystem.exists(this.#loose(id), { signal: call?.signal })) return true;
    return (await this.#packHolding(id, call)) !== undefined;
  }

  async write(objects: readonly NamedObject[], call?: RepositoryCall): Promise<void> {
    if (objects.length >= MIN_PACKED_OBJECTS) return this.#writePack(objects, call);
    for (const object of objects) if (!(await this.#touch(object.id, call))) await this.#writeLoose(object, call);
  }

  async *list(prefix: string, call?: RepositoryCall): AsyncGenerator<StoredObject> {
    yield* this.#listLoose(prefix, call);
    await this.#lookAgain();
    for (const pack of [...this.#packs.values()]) {
      const writtenAt = await this.#packWrittenAt(pack, call);
      if (writtenAt !== undefined) yield* pack.list(prefix, writtenAt);
    }
  }

  async pruneCount(call?: RepositoryCall): Promise<number> {
    const count = await this.#refs.pruneCount(call);
    // A pack that is known here may have been deleted.
    if (count !== this.#pruneCount) await this.#forgetPacks();
    this.#pruneCount = count;
    return count;
  }

  /**
   * See {@link Repository.prune}. Packs are written again without the deleted objects.
   * @throws HistoryError `unsupported` for a repository with a work tree, reflogs, or files that depend on its packs:
   *   git itself knows what these need
   */
  async prune(
    select: (listed: readonly StoredObject[]) => Promise<ReadonlySet<ObjectId>>,
    { before, dryRun, signal }: PruneCall,
  ): Promise<Pruned> {
    await this.#refuseIfUsedByGit(signal);
    let deleted: StoredObject[] = [];
    const work = async (): Promise<void> => {
      await this.pruneCount({ signal });
      const listed: StoredObject[] = [];
      for await (const object of this.list('', { signal })) listed.push(object);
      const dead = await select(listed);
      const found = listed.filter(({ id, writtenAt }) => dead.has(id) && writtenAt < before);
      deleted = dryRun ? found : await this.#delete(found, before, signal);
    };
    await (dryRun ? work() : this.#refs.whilePruning(work, { signal }));
    return totalOf(deleted);
  }

  async shallow(call?: RepositoryCall): Promise<ReadonlySet<ObjectId>> {
    this.#shallow ??= await this.#readShallow(call);
    return this.#shallow;
  }

  readRef(name: string, call?: RepositoryCall): Promise<RefValue | undefined> {
    return this.#refs.readRef(name, call);
  }

  swapRef(
    name: string,
    expected: RefValue | undefined,
    next: RefValue | undefined,
    call?: SwapRefCall,
  ): Promise<boolean> {
    return this.#refs.swapRef(name, expected, next, call);
  }

  listRefs(prefix: string, call?: RepositoryCall): Promise<string[]> {
    return this.#refs.listRefs(prefix, call);
  }

  async close(): Promise<void> {
    await this.#forgetPacks();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #loose(id: ObjectId): string {
    return `${this.path}/objects/${id.slice(0, 2)}/${id.slice(2)}`;
  }

  async #readShallow(call?: RepositoryCall): Promise<ReadonlySet<ObjectId>> {
    const file = `${this.path}/shallow`;
    const there = await this.fileSystem.exists(file, { signal: call?.signal });
    const lines = there ? (await this.fileSystem.readText(file, { signal: call?.signal })).split('\n') : [];
    return new Set(lines.filter((line) => isObjectId(line, this.format)) as ObjectId[]);
  }

  async #readLoose(id: ObjectId, call?: RepositoryCall): Promise<GitObject | undefined> {
    let bytes: Uint8Array;
    try {
      bytes = await this.fileSystem.readFile(this.#loose(id), { signal: call?.signal });
    } catch (error) {
      if (isFsError(error, 'ENOENT') || isFsError(error, 'ENOTDIR')) return undefined;
      throw error;
    }
    return parseFramed(await this.primitives.inflate(bytes, this.maxObjectBytes + 32), id);
  }

  async #writeLoose(object: NamedObject, call?: RepositoryCall): Promise<void> {
    const path = this.#loose(object.id);
    const bytes = await this.primitives.deflate(concat([headerOf(object), object.body]));
    await this.fileSystem.mkdir(parentPath(path), { recursive: true, signal: call?.signal });
    // Relies on the filesystem to write a file in one step: it is then either complete or missing.
    await this.#writeOnce(path, bytes, call);
  }

  async #writePack(objects: readonly NamedObject[], call?: RepositoryCall): Promise<void> {
    const { name, pack, index } = await writePack(objects, this.format, this.primitives);
    const path = `${this.path}/objects/pack`;
    await this.fileSystem.mkdir(path, { recursive: true, signal: call?.signal });
    // A pack becomes visible with its index, so the index comes last.
    await this.#writeOnce(`${path}/pack-${name}.pack`, pack, call);
    await this.#writeOnce(`${path}/pack-${name}.idx`, index, call);
  }

  /**
   * Writes a file, or renews the time of the existing one. Its name is derived from the hash of its content, so an
   * existing file holds the same objects.
   */
  async #writeOnce(path: string, bytes: Uint8Array, call?: RepositoryCall): Promise<void> {
    do {
      try {
        return await this.fileSystem.writeFile(path, bytes, { flag: 'wx', mode: OBJECT_MODE, signal: call?.signal });
      } catch (error) {
        if (!isFsError(error, 'EEXIST')) throw error;
      }
      // A concurrent prune may delete the file before its time is renewed; then it is written again.
    } while (!(await this.#renewFile(path, call)));
  }

  /**
   * Sets a file's change time to the current time, so that a concurrent prune does not delete the file. Returns false if
   * it does not exist.
   */
  async #renewFile(path: string, call?: RepositoryCall): Promise<boolean> {
    try {
      await this.fileSystem.chmod(path, OBJECT_MODE, { signal: call?.signal });
      return true;
    } catch (error) {
      return unlessAbsent(error) ?? false;
    }
  }

  async #readPacked(id: ObjectId, call?: RepositoryCall): Promise<GitObject | undefined> {
    const pack = await this.#packHolding(id, call);
    try {
      return await pack?.read(id, (base) => this.read(base, call));
    } catch (error) {
      if (pack === undefined || (await this.#packWrittenAt(pack, call)) !== undefined) throw error;
      // Another client has deleted the pack and stored its living objects elsewhere.
      await this.#forgetPack(pack);
      return this.read(id, call);
    }
  }

  /**
   * Reports whether an object is stored. If it is, its time becomes the current time of the filesystem, so that a
   * concurrent prune does not delete it.
   */
  async #touch(id: ObjectId, call?: RepositoryCall): Promise<boolean> {
    if (await this.#renewFile(this.#loose(id), call)) return true;
    for (;;) {
      const pack = await this.#packHolding(id, call);
      if (pack === undefined) return false;
      if (await this.#renewFile(`${pack.path}.pack`, call)) return true;
      await this.#forgetPack(pack);
    }
  }

  /** Returns the time of the last change of a pack's file, or undefined if it was deleted. */
  async #packWrittenAt(pack: PackReader, call?: RepositoryCall): Promise<number | undefined> {
    const stats = await this.fileSystem.stat(`${pack.path}.pack`, { signal: call?.signal }).catch(unlessAbsent);
    return stats?.ctimeMs;
  }

  async #forgetPacks(): Promise<void> {
    await this.#looking?.catch(() => undefined);
    for (const pack of [...this.#packs.values()]) await this.#forgetPack(pack);
  }

  async #forgetPack(pack: PackReader): Promise<void> {
    for (const [name, known] of this.#packs) if (known === pack) this.#packs.delete(name);
    await pack.close().catch(() => undefined);
  }

  async #refuseIfUsedByGit(signal: AbortSignal | undefined): Promise<void> {
    const names = await namesIn(this.fileSystem, this.path || '/', signal);
    const caches = [
      ...(await namesIn(this.fileSystem, `${this.path}/objects/info`, signal)),
      ...(await namesIn(this.fileSystem, `${this.path}/objects/pack`, signal)),
    ];
    const used = [...names.filter((name) => USED_BY_GIT.test(name)), ...caches.filter((name) => GIT_CACHES.test(name))];
    if (used.length > 0)
      throw new HistoryError(
        'unsupported',
        `git uses this repository (${quote(used[0] as string)}), and knows what else its objects are needed for: run \`git gc --prune\` there`,
        { path: this.path || '/' },
      );
  }

  /** Deletes those objects that were not written again since `before`, and returns them. */
  async #delete(found: readonly StoredObject[], before: number, signal?: AbortSignal): Promise<StoredObject[]> {
    const dead = new Set(found.map(({ id }) => id));
    const deleted = await this.#deleteLoose([...dead], before, signal);
    for (const pack of [...this.#packs.values()])
      deleted.push(...(await this.#deletePacked(pack, dead, before, signal)));
    return deleted;
  }

  async #deleteLoose(
    ids: readonly ObjectId[],
    before: number,
    signal: AbortSignal | undefined,
  ): Promise<StoredObject[]> {
    const deleted: StoredObject[] = [];
    for (let at = 0; at < ids.length; at += DELETED_AT_ONCE) {
      const batch = ids.slice(at, at + DELETED_AT_ONCE);
      deleted.push(
        ...(await this.#together(async (fileSystem) => {
          const gone: StoredObject[] = [];
          for (const id of batch) {
            const stats = await fileSystem.stat(this.#loose(id)).catch(unlessAbsent);
            if (stats === undefined || stats.ctimeMs >= before) continue;
            await fileSystem.unlink(this.#loose(id));
            gone.push({ id, bytes: stats.size, writtenAt: stats.ctimeMs });
          }
          return gone;
        }, signal)),
      );
    }
    return deleted;
  }

  /** Replaces a pack by its living objects, unless it was written again since `before`. */
  async #deletePacked(
    pack: PackReader,
    dead: ReadonlySet<ObjectId>,
    before: number,
    signal: AbortSignal | undefined,
  ): Promise<StoredObject[]> {
    const writtenAt = (await this.#packWrittenAt(pack, { signal })) ?? before;
    const objects = [...pack.list('', writtenAt)];
    const gone = objects.filter(({ id }) => dead.has(id));
    if (writtenAt >= before || gone.length === 0) return [];
    let batch: NamedObject[] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      if (batch.length >= MIN_PACKED_OBJECTS) await this.#writePack(batch, { signal });
      else for (const object of batch) await this.#writeLoose(object, { signal });
      batch = [];
      bytes = 0;
    };
    for (const { id } of objects) {
      if (dead.has(id)) continue;
      const object = await this.read(id, { signal });
      if (object === undefined) throw new HistoryError('corrupt', `A packed object cannot be read: ${id}`, { id });
      batch.push({ ...checkId(object, id, this.format, this.primitives), id });
      bytes += object.body.length;
      if (bytes >= MAX_BATCH_BYTES || batch.length >= MAX_BATCH_OBJECTS) await flush();
    }
    await flush();
    const isDeleted = await this.#together(async (fileSystem) => {
      const stats = await fileSystem.stat(`${pack.path}.pack`).catch(unlessAbsent);
      if (stats === undefined || stats.ctimeMs >= before) return false;
      // A pack is found by its index, so that goes first.
      for (const suffix of ['idx', 'rev', 'pack']) await fileSystem.rm(`${pack.path}.${suffix}`, { force: true });
      return true;
    }, signal);
    if (!isDeleted) return [];
    await this.#forgetPack(pack);
    return gone;
  }

  /** Makes changes in one transaction if the filesystem supports transactions. */
  async #together<T>(change: (fileSystem: FileSystem) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    if (!this.fileSystem.capabilities.transactions) return change(this.fileSystem);
    return this.fileSystem.transaction(change, { signal });
  }

  /**
   * Finds the pack with an object. Reads the list of packs again if no known one has it, because git may have packed
   * concurrently.
   */
  async #packHolding(id: ObjectId, call?: RepositoryCall): Promise<PackReader | undefined> {
    call?.signal?.throwIfAborted();
    for (const pack of this.#packs.values()) if (pack.index.find(id) !== undefined) return pack;
    for (const pack of await this.#lookAgain()) if (pack.index.find(id) !== undefined) return pack;
    return undefined;
  }

  async *#listLoose(prefix: string, call?: RepositoryCall): AsyncGenerator<StoredObject> {
    const { signal } = call ?? {};
    const objects = `${this.path}/objects`;
    for (const folder of await namesIn(this.fileSystem, objects, signal)) {
      const start = prefix.slice(0, 2);
      if (folder.length !== 2 || !folder.startsWith(start)) continue;
      for (const name of await namesIn(this.fileSystem, `${objects}/${folder}`, signal)) {
        const id = folder + name;
        if (!id.startsWith(prefix) || !isObjectId(id, this.format)) continue;
        const stats = await this.fileSystem.stat(this.#loose(id), { signal }).catch(unlessAbsent);
        if (stats !== undefined) yield { id, bytes: stats.size, writtenAt: stats.ctimeMs };
      }
    }
  }

  /** Opens packs that were not known yet and returns them; concurrent calls share one search. */
  #lookAgain(): Promise<PackReader[]> {
    this.#looking ??= this.#lookForPacks().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Opens packs that were not known yet and returns them. */
  async #lookForPacks(): Promise<PackReader[]> {
    const path = `${this.path}/objects/pack`;
    const found: PackReader[] = [];
    if (!(await this.fileSystem.isDirectory(path))) return found;
    for (const file of await this.fileSystem.readdir(path)) {
      const name = file.endsWith('.idx') ? file.slice(0, -4) : undefined;
      if (name === undefined || this.#packs.has(name)) continue;
      const pack = await PackReader.open(this.fileSystem, `${path}/${name}`, this);
      this.#packs.set(name, pack);
      found.push(pack);
    }
    return found;
  }
}

/** Format extensions that this implementation supports or may ignore. */
const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set([
  'extensions.objectformat',
  'extensions.noop',
  'extensions.preciousobjects',
  'extensions.worktreeconfig',
]);

function totalOf(objects: readonly StoredObject[]): Pruned {
  const ids = new Set(objects.map(({ id }) => id));
  return { objects: ids.size, bytes: objects.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** Returns the names in a directory, none if it does not exist or is a file. */
async function namesIn(fileSystem: FileSystem, path: string, signal?: AbortSignal): Promise<string[]> {
  return (await fileSystem.readdir(path, { signal }).catch(unlessAbsent)) ?? [];
}

function unlessAbsent(error: unknown): undefined {
  if (!isFsError(error, 'ENOENT') && !isFsError(error, 'ENOTDIR')) throw error;
}
