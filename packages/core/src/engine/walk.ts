import type { EntryInfo } from '../entry.js';
import { FsError } from '../errors.js';
import type { WalkOptions } from '../file-system.js';
import { joinPath } from '../paths.js';
import { DIRECTORY, type Node, type TreeNode } from '../tree/node.js';
import type { Location } from '../tree/tree.js';
import { checkInteger, checkOptions } from './arguments.js';
import type { Cursor } from './cursor.js';
import { keepOptimized } from './keep-optimized.js';
import { infoOf, present } from './operations/read.js';
import { type Siblings, siblingAt, siblingsIn } from './siblings.js';
import type { View } from './view.js';

/** An entry that a walk has reached. */
export interface Step {
  readonly path: string;
  readonly name: string;
  /** 1 for entries directly in the directory where the walk starts. */
  readonly depth: number;
  readonly entry: TreeNode;
  readonly node: Node;
}

interface Frame {
  readonly siblings: Siblings;
  at: number;
}

/**
 * Walks everything visible under a directory, parents first, siblings in UTF-8 order, without recursion. `enter`
 * decides which directories are entered; by default all.
 */
export class TreeWalk implements Cursor<Step> {
  readonly #frames: Frame[] = [];
  #next: Location | undefined;

  constructor(
    readonly view: View,
    start: Location,
    readonly enter: (step: Step) => boolean = everywhere,
  ) {
    this.#next = start;
  }

  next(): Step | undefined {
    // A missing listing throws here, before the walk has advanced.
    if (this.#next !== undefined) {
      this.#frames.push({ siblings: siblingsIn(this.view, this.#next), at: 0 });
      this.#next = undefined;
    }
    for (let frame = this.#frames.at(-1); frame !== undefined; frame = this.#frames.at(-1)) {
      if (frame.at < frame.siblings.names.length) return this.#step(frame);
      this.#frames.pop();
    }
    return undefined;
  }

  #step(frame: Frame): Step {
    const { siblings } = frame;
    const { location, names } = siblings;
    const at = frame.at++;
    const name = names[at] as string;
    const entry = siblingAt(siblings, at);
    const node = this.view.tree.resolve(entry) as Node;
    const step = { path: joinPath(location.path, name), name, depth: this.#frames.length, entry, node };
    if (node.kind === DIRECTORY && this.enter(step)) this.#next = this.view.tree.childLocation(location, name, node);
    return step;
  }
}

const everywhere = (): boolean => true;

class MappedCursor<A, B> implements Cursor<B> {
  #held: A | undefined;
  constructor(
    readonly source: Cursor<A>,
    readonly map: (item: A) => B | undefined,
  ) {}

  next(): B | undefined {
    for (;;) {
      const item = this.#held ?? this.source.next();
      if (item === undefined) return undefined;
      this.#held = item;
      const result = this.map(item);
      this.#held = undefined;
      if (result !== undefined) return result;
    }
  }
}

let isKept = false;

/** Maps the items of another cursor, and leaves out those that map to undefined. */
export function mapped<A, B>(source: Cursor<A>, map: (item: A) => B | undefined): Cursor<B> {
  // Not called at the top level of the module, which would keep the class in every bundle.
  if (!isKept) keepOptimized(new MappedCursor(undefined as never, everywhere));
  isKept = true;
  return new MappedCursor(source, map);
}

/** Returns the directory at a path, as a location. */
export function directoryAt(view: View, path: string, syscall = 'scandir'): Location {
  const node = present(view.find(path, true, 'read', syscall), syscall, path);
  if (node.kind !== DIRECTORY) throw new FsError('ENOTDIR', { syscall, path });
  return view.at.location(node);
}

/** The cursor of `walk`: the start is looked up at the first step. */
export class WalkCursor implements Cursor<EntryInfo> {
  #walk: TreeWalk | undefined;
  #held: Step | undefined;
  readonly #maxDepth: number;
  constructor(
    readonly view: View,
    readonly path: string,
    options?: WalkOptions,
  ) {
    const given = checkOptions(options, ['maxDepth'], 'walk');
    this.#maxDepth =
      given.maxDepth === undefined ? Number.POSITIVE_INFINITY : checkInteger(given.maxDepth, 'maxDepth', 1);
  }

  next(): EntryInfo | undefined {
    this.#walk ??= this.#start();
    // Kept until all of its data is loaded.
    this.#held ??= this.#walk.next();
    if (this.#held === undefined) return undefined;
    const { path, name, entry } = this.#held;
    const info = infoOf(this.view, path, name, entry);
    this.#held = undefined;
    return info;
  }

  #start(): TreeWalk {
    const start = directoryAt(this.view, this.path);
    const most = this.#maxDepth;
    // The default is one shared function: with a new function for each walk, V8 would optimize the walk anew each time.
    return new TreeWalk(this.view, start, most === Number.POSITIVE_INFINITY ? everywhere : ({ depth }) => depth < most);
  }
}

keepOptimized(new TreeWalk(undefined as never, undefined as never));
keepOptimized(new WalkCursor(undefined as never, '/'));
