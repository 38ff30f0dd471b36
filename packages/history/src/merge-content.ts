import type { ConflictKind } from './merge-conflicts.js';
import type { Favor, MergeOptions } from './merge-options.js';
import { type BothStages, type Entry, kindOf, type Names } from './merge-stages.js';
import type { ObjectId } from './object-id.js';
import type { ObjectReader } from './object-reader.js';
import { idOf } from './objects/git-object.js';
import type { NamedObject } from './repository.js';
import { isBinary } from './text/is-binary.js';
import { mergeText } from './text/merge-text.js';

/** Result of merging three versions of a file. The entry is undefined if nothing is left. */
export interface MergedContent {
  readonly entry: Entry;
  readonly conflict: ConflictKind | undefined;
}

/** Merges modes, texts, links and submodules. */
export class ContentMerge {
  readonly #made = new Map<ObjectId, NamedObject>();

  /**
   * @param depth 0 for the requested merge, more for merges of common ancestors. There, a conflict of binary files, links
   *   or submodules keeps the base, so that the requested merge still sees each side's change
   */
  constructor(
    readonly reader: ObjectReader,
    readonly options: MergeOptions,
    readonly depth: number,
  ) {}

  /** Blobs that the merge created. */
  get objects(): NamedObject[] {
    return [...this.#made.values()];
  }

  labelOf(side: 'ours' | 'theirs'): string {
    if (this.depth > 0) return `Temporary merge branch ${side === 'ours' ? 1 : 2}`;
    return this.options.labels?.[side] ?? side;
  }

  /**
   * @param mayNest true if the result may be merged again; longer conflict markers then distinguish nested conflicts
   */
  async merge(path: string, names: Names, stages: BothStages, mayNest = false): Promise<MergedContent> {
    const { base, ours, theirs } = stages;
    const untouched = idOfOneSide(stages);
    if (untouched === undefined && kindOf(ours.mode) !== 'file') return this.#whole(path, stages);
    const isOurMode = ours.mode !== theirs.mode && ours.mode !== base?.mode;
    const mode = isOurMode ? ours.mode : theirs.mode;
    // The modes differ and the base has no file, so neither mode is known to be right.
    const open = isOurMode && theirs.mode !== base?.mode ? 'add/add' : undefined;
    if (untouched !== undefined) return { entry: { id: untouched, mode }, conflict: open };
    const { id, conflict } = await this.#files(path, names, stages, mayNest);
    return { entry: { id, mode }, conflict: conflict ?? open };
  }

  #whole(path: string, { base, ours, theirs }: BothStages): MergedContent {
    const conflict = kindOf(ours.mode) === 'submodule' ? 'submodule' : 'binary';
    if (this.depth > 0) return { entry: base, conflict };
    // The commit of a submodule is not content: as in git, `favor` does not apply.
    if (conflict === 'submodule') return { entry: ours, conflict };
    const favor = this.#favorOf(path);
    return { entry: favor === 'theirs' ? theirs : ours, conflict: isSettled(favor) ? undefined : conflict };
  }

  async #files(
    path: string,
    names: Names,
    { base, ours, theirs }: BothStages,
    mayNest: boolean,
  ): Promise<{ readonly id: ObjectId; readonly conflict: ConflictKind | undefined }> {
    const of = base !== undefined && kindOf(base.mode) === 'file' ? base : undefined;
    const bodies = await Promise.all(
      [of, ours, theirs].map((entry) => (entry === undefined ? EMPTY : this.#body(entry.id))),
    );
    const [o, a, b] = bodies as [Uint8Array, Uint8Array, Uint8Array];
    const favor = this.#favorOf(path);
    if (bodies.some(isBinary)) {
      if (this.depth > 0) return { id: this.#write(o), conflict: 'binary' };
      return { id: favor === 'theirs' ? theirs.id : ours.id, conflict: isSettled(favor) ? undefined : 'binary' };
    }
    const isRenamed = names.base !== names.ours || names.base !== names.theirs;
    const label = (side: 'ours' | 'theirs'): string => this.labelOf(side) + (isRenamed ? `:${names[side]}` : '');
    const labels = { ours: label('ours'), theirs: label('theirs') };
    const markerSize = 7 + 2 * this.depth + Number(mayNest);
    const { bytes, conflicts } = mergeText(o, a, b, { favor, labels, markerSize });
    return {
      id: this.#write(bytes),
      conflict: conflicts === 0 ? undefined : base === undefined ? 'add/add' : 'content',
    };
  }

  #write(body: Uint8Array): ObjectId {
    const object = { type: 'blob', body } as const;
    const id = idOf(object, this.reader.store.format, this.reader.primitives);
    this.#made.set(id, { ...object, id });
    return id;
  }

  /** Returns the content of a blob. A blob that this merge has created is not in the store yet. */
  async #body(id: ObjectId): Promise<Uint8Array> {
    return this.#made.get(id)?.body ?? (await this.reader.blob(id, this.options));
  }

  #favorOf(path: string): Favor | undefined {
    if (this.depth > 0) return undefined;
    const { favor } = this.options;
    return typeof favor === 'function' ? favor(path) : favor;
  }
}

const EMPTY = new Uint8Array();

function isSettled(favor: Favor | undefined): boolean {
  return favor === 'ours' || favor === 'theirs';
}

/** Returns the id of the merged content. Undefined if the sides changed the content in different ways. */
function idOfOneSide({ base, ours, theirs }: BothStages): ObjectId | undefined {
  if (ours.id === theirs.id || ours.id === base?.id) return theirs.id;
  return theirs.id === base?.id ? ours.id : undefined;
}
