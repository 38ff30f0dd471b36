import type { Backend } from '../backend.js';
import type { Tree } from '../tree/tree.js';
import type { Change } from './changes.js';
import { OpenFiles } from './open-files.js';

type Listener = (changes: readonly Change[]) => void;
type OnFailure = (error: unknown) => void;

/** Passes changes on to open files, which follow them, and to watchers. */
export class ChangeFeed {
  readonly #listeners = new Map<Listener, OnFailure>();
  readonly #source: NonNullable<Backend['watch']> | undefined;
  #stopSource: (() => void) | undefined;

  constructor(
    readonly files = new OpenFiles(),
    /**
     * Reports the changes of all clients, including this one. Without a source, listeners get only the changes
     * published here.
     */
    source?: NonNullable<Backend['watch']> | undefined,
  ) {
    this.#source = source;
  }

  /** Reports whether changes must be recorded: a file is open, or a listener is registered. */
  get isNeeded(): boolean {
    return this.files.hasAny || this.#listeners.size > 0;
  }

  /** @param onFailure called if no more changes can come */
  listen(listener: Listener, onFailure: OnFailure = () => {}): () => void {
    this.#listeners.set(listener, onFailure);
    try {
      if (this.#stopSource === undefined) {
        const stop = this.#source?.(
          (changes) => this.#tell(changes),
          (error) => this.#fail(error),
        );
        // A source that failed during the call has removed the listener.
        if (this.#listeners.has(listener)) this.#stopSource = stop;
      }
    } catch (error) {
      this.#listeners.delete(listener);
      throw error;
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      const stop = this.#stopSource;
      this.#stopSource = undefined;
      stop?.();
    };
  }

  #tell(changes: readonly Change[]): void {
    for (const listener of [...this.#listeners.keys()]) listener(changes);
  }

  #fail(error: unknown): void {
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    this.#stopSource = undefined;
    for (const onFailure of listeners) onFailure(error);
  }

  /** Publishes changes that have taken effect in `tree`. With a source, listeners get them from there instead. */
  publish(changes: readonly Change[], tree: Tree): void {
    this.files.follow(changes, tree);
    if (this.#source === undefined) this.#tell(changes);
  }

  /** Marks all open files as lost. Without a source, also tells the listeners that the whole state was replaced. */
  reset(): void {
    this.files.reset();
    if (this.#source === undefined) this.#tell([{ type: 'reset', path: '/' }]);
  }
}
