import { FsError, isFsError } from '../../errors.js';
import type { Checkpoint, FileSystem } from '../../file-system.js';
import { type CallSequence, invoke } from '../call-sequence.js';
import { changeableIn } from './abilities.js';
import type { Namespace } from './namespace.js';

interface Held {
  readonly checkpoint: Checkpoint;
  /** Checkpoint of each filesystem that can be changed. */
  readonly parts: ReadonlyMap<FileSystem, Checkpoint>;
  /** True if some parts were dropped and others could not be. */
  readonly isPartial?: boolean;
}

/**
 * Checkpoints of a mount. Each has a part in every filesystem that can be changed through the mount: an unnamed
 * checkpoint there. The name is only known here.
 */
export class Checkpoints {
  readonly #held = new Map<string, Held>();

  constructor(readonly space: Namespace) {}

  *create(name: string | undefined): CallSequence<Checkpoint> {
    this.#require('checkpoint', 'checkpoints');
    if (name !== undefined && this.#named(name) !== undefined)
      throw new FsError('EEXIST', { syscall: 'checkpoint', path: name, hint: 'A checkpoint has this name' });
    const parts = yield* takeParts(changeableIn(this.space));
    const [part] = parts.values() as Iterable<Checkpoint> as [Checkpoint];
    const id = `mount-${part.id}`;
    const { createdAt } = part;
    const checkpoint: Checkpoint = Object.freeze({ id, ...(name === undefined ? {} : { name }), createdAt });
    this.#held.set(id, { checkpoint, parts });
    return checkpoint;
  }

  *list(): CallSequence<Checkpoint[]> {
    return [...this.#held.values()].map(({ checkpoint }) => checkpoint);
  }

  /**
   * Rolls back every filesystem that has a part. If one fails, those already rolled back return to their state before;
   * one that cannot return keeps a checkpoint of that state.
   */
  *rollback(which: Checkpoint | string): CallSequence<undefined> {
    this.#require('rollback', 'rollback');
    const { checkpoint, parts } = this.#find(which, 'rollback');
    for (const [fileSystem, part] of parts) {
      const held = yield* invoke<Checkpoint[]>(fileSystem, 'checkpoints', []);
      if (!held.some(({ id }) => id === part.id)) throw partLost(checkpoint, 'rollback');
    }
    // One filesystem rolls back all or nothing by itself.
    const before = parts.size > 1 ? yield* takeParts(parts.keys()) : new Map<FileSystem, Checkpoint>();
    const begun: FileSystem[] = [];
    try {
      for (const [fileSystem, part] of parts) {
        begun.push(fileSystem);
        yield* invoke(fileSystem, 'rollback', [part]);
      }
    } catch (error) {
      // An FsError tells that the last one is unchanged; after another error it may have rolled back.
      if (isFsError(error)) begun.pop();
      for (const fileSystem of begun)
        if (!(yield* succeeds(fileSystem, 'rollback', before.get(fileSystem)))) before.delete(fileSystem);
      throw error;
    } finally {
      yield* dropParts(before);
    }
    return undefined;
  }

  /** Drops the part of every filesystem. If some fail, throws the first error; another call tries those again. */
  *drop(which: Checkpoint | string): CallSequence<undefined> {
    const { checkpoint, parts, isPartial = false } = this.#find(which, 'drop');
    const left = new Map<FileSystem, Checkpoint>();
    const errors: unknown[] = [];
    for (const [fileSystem, part] of parts) {
      try {
        yield* invoke(fileSystem, 'drop', [part]);
      } catch (error) {
        if (isFsError(error, 'ENOENT')) continue;
        left.set(fileSystem, part);
        errors.push(error);
      }
    }
    if (left.size === 0) this.#held.delete(checkpoint.id);
    else this.#held.set(checkpoint.id, { checkpoint, parts: left, isPartial: isPartial || left.size < parts.size });
    if (errors.length > 0) throw errors[0];
    return undefined;
  }

  #named(name: string): Held | undefined {
    return this.#held.get(name) ?? [...this.#held.values()].find(({ checkpoint }) => checkpoint.name === name);
  }

  #find(which: Checkpoint | string, syscall: string): Held {
    const wanted = typeof which === 'string' ? which : which?.id;
    if (typeof wanted !== 'string') throw new TypeError('A checkpoint, its id or its name is needed');
    const held = typeof which === 'string' ? this.#named(wanted) : this.#held.get(wanted);
    if (held?.isPartial === true && syscall !== 'drop') throw partLost(held.checkpoint, syscall);
    if (held !== undefined) return held;
    const hint = 'This mount holds no such checkpoint: it was dropped, or belongs to another filesystem';
    throw new FsError('ENOENT', { syscall, path: wanted, hint });
  }

  /** Returns the parts of a checkpoint: one of each filesystem that could be changed when it was made. */
  parts(which: Checkpoint | string, syscall: string): ReadonlyMap<FileSystem, Checkpoint> {
    return this.#find(which, syscall).parts;
  }

  /** Returns the part of a checkpoint that belongs to one filesystem. @throws FsError ENOENT if there is none */
  part(which: Checkpoint | string, fileSystem: FileSystem, syscall: string): Checkpoint {
    const { checkpoint, parts } = this.#find(which, syscall);
    const part = parts.get(fileSystem);
    if (part !== undefined) return part;
    const hint = 'This checkpoint was made while the filesystem to compare was read-only';
    throw new FsError('ENOENT', { syscall, path: checkpoint.name ?? checkpoint.id, hint });
  }

  #require(syscall: string, ability: 'checkpoints' | 'rollback'): void {
    const changeable = changeableIn(this.space);
    const lacking = this.space.all.find(
      ({ fileSystem }) => changeable.includes(fileSystem) && !fileSystem.capabilities[ability],
    );
    if (lacking === undefined && changeable.length > 0) return;
    const hint =
      lacking === undefined
        ? 'Every filesystem in this mount is read-only, so there is no state to keep'
        : `The filesystem mounted at ${lacking.point} does not support ${syscall}`;
    throw new FsError('ENOTSUP', { syscall, hint });
  }
}

function partLost({ id, name }: Checkpoint, syscall: string): FsError {
  const hint = 'One of the filesystems has dropped its part of this checkpoint';
  return new FsError('ENOENT', { syscall, path: name ?? id, hint });
}

/** Takes a checkpoint of each filesystem. If one fails, drops those already taken. */
function* takeParts(fileSystems: Iterable<FileSystem>): CallSequence<Map<FileSystem, Checkpoint>> {
  const parts = new Map<FileSystem, Checkpoint>();
  try {
    for (const fileSystem of fileSystems)
      parts.set(fileSystem, yield* invoke<Checkpoint>(fileSystem, 'checkpoint', [undefined]));
  } catch (error) {
    yield* dropParts(parts);
    throw error;
  }
  return parts;
}

/** Drops each checkpoint; one whose drop fails stays in its filesystem. */
function* dropParts(parts: ReadonlyMap<FileSystem, Checkpoint>): CallSequence<void> {
  for (const [fileSystem, part] of parts) yield* succeeds(fileSystem, 'drop', part);
}

/** Calls a method even if the caller has aborted, and reports whether it succeeded. */
function* succeeds(
  fileSystem: FileSystem,
  name: 'rollback' | 'drop',
  part: Checkpoint | undefined,
): CallSequence<boolean> {
  if (part === undefined) return false;
  try {
    yield { fileSystem, name, args: [part] };
    return true;
  } catch {
    return false;
  }
}
