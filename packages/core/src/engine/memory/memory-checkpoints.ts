import { FsError } from '../../errors.js';
import type { Checkpoint } from '../../file-system.js';
import type { TreeState } from '../../tree/tree.js';
import { checkNow } from '../arguments.js';
import type { Context } from '../context.js';
import { randomId } from '../defaults.js';
import { limitError } from '../view/limit-error.js';
import { noCheckpoint, wantedCheckpoint } from '../wanted-checkpoint.js';

interface Held {
  readonly checkpoint: Checkpoint;
  readonly state: TreeState;
}

export class MemoryCheckpoints {
  readonly #held = new Map<string, Held>();
  /** Ids by name. */
  readonly #named = new Map<string, string>();
  #count = 0;
  #random: string | undefined;

  create(context: Context, name: string | undefined, freeze: () => TreeState): Checkpoint {
    if (name !== undefined && this.#find(name) !== undefined) {
      throw new FsError('EEXIST', { syscall: 'checkpoint', path: name, hint: 'A checkpoint has this name' });
    }
    const max = context.quota.limits.maxCheckpoints;
    const held = this.#held.size;
    if (max !== undefined && held >= max)
      throw limitError('ENOSPC', 'maxCheckpoints', held, held + 1, max, 'checkpoint', name ?? '');
    // The counter makes the id unique in this tree. The random part, drawn once, makes it unique across trees.
    this.#random ??= randomId(context.random);
    let id: string;
    do id = `checkpoint-${++this.#count}-${this.#random}`;
    while (this.#find(id) !== undefined);
    const checkpoint: Checkpoint = Object.freeze({
      id,
      ...(name === undefined ? {} : { name }),
      createdAt: checkNow(context.clock()),
    });
    this.#held.set(id, { checkpoint, state: freeze() });
    if (name !== undefined) this.#named.set(name, id);
    return checkpoint;
  }

  list(): Checkpoint[] {
    return [...this.#held.values()].map(({ checkpoint }) => checkpoint);
  }

  states(): TreeState[] {
    return [...this.#held.values()].map(({ state }) => state);
  }

  drop(checkpoint: Checkpoint | string): void {
    const { id, name } = this.get(checkpoint, 'drop').checkpoint;
    this.#held.delete(id);
    if (name !== undefined) this.#named.delete(name);
  }

  /** @throws FsError ENOENT if there is no such checkpoint; TypeError if `checkpoint` has no id */
  get(checkpoint: Checkpoint | string, syscall: string): Held {
    const wanted = wantedCheckpoint(checkpoint);
    const held = typeof checkpoint === 'string' ? this.#find(wanted) : this.#held.get(wanted);
    if (held === undefined) throw noCheckpoint(syscall, wanted);
    return held;
  }

  #find(nameOrId: string): Held | undefined {
    return this.#held.get(nameOrId) ?? this.#held.get(this.#named.get(nameOrId) ?? '');
  }
}
