import { type FileSystem, isFsError } from '@scratchfs/core';
import { AttemptIndex } from './attempts/attempt-index.js';
import { decodeRecord } from './log/operation-record.js';
import type { Approval, Approvals, WorkspaceEvent } from './workspace-types.js';

/** Shortest pause between two looks at the store, in milliseconds, and as a multiple of the time that a look takes. */
const MIN_PAUSE_MS = 250;
const PAUSE_FACTOR = 20;

/** State of a store, as a listener has last seen it. */
interface Seen {
  /** Number of the last operation of each attempt; undefined for a discarded one. */
  readonly attempts: Map<string, number | undefined>;
  readonly approvals: Map<number, Approval['state']>;
  current: string | undefined;
}

/**
 * Events of a workspace, read from its store. A listener looks at the store when this process has changed something,
 * and from time to time for changes of other processes. One look costs a few reads for each attempt and approval.
 */
export class WorkspaceEvents {
  readonly #store: FileSystem;
  readonly #index: AttemptIndex;
  readonly #approvals: Approvals;
  readonly #wakeUps = new Set<() => void>();
  readonly #beginnings = new Set<Promise<unknown>>();
  readonly #closed = new AbortController();

  constructor(store: FileSystem, index: AttemptIndex, approvals: Approvals) {
    this.#store = store;
    this.#index = index;
    this.#approvals = approvals;
  }

  /** Resolves when each listener knows the state that its events begin after. To be called before a change. */
  async begun(): Promise<void> {
    if (this.#beginnings.size > 0) await Promise.allSettled(this.#beginnings);
  }

  /** Lets listeners look now, because this process has changed something. */
  wake(): void {
    for (const wakeUp of this.#wakeUps) wakeUp();
  }

  close(): void {
    this.#closed.abort();
  }

  /** Returns the events from the call on. They end with the signal, and when the workspace is closed. */
  listen(given?: AbortSignal): AsyncIterable<WorkspaceEvent> {
    const signal = given === undefined ? this.#closed.signal : AbortSignal.any([given, this.#closed.signal]);
    const beginning = this.#look(undefined);
    this.#beginnings.add(beginning);
    const forget = (): void => void this.#beginnings.delete(beginning);
    beginning.then(forget, forget);
    return this.#follow(beginning, signal);
  }

  async *#follow(beginning: Promise<Look>, signal: AbortSignal): AsyncGenerator<WorkspaceEvent, void, undefined> {
    let { seen } = await beginning;
    let isWoken = false;
    let wakeUp = (): void => {};
    const wake = (): void => {
      isWoken = true;
      wakeUp();
    };
    this.#wakeUps.add(wake);
    signal.addEventListener('abort', wake);
    try {
      // The first look finds what has happened between the call and the first request for an event.
      for (let pause = 0; !signal.aborted; ) {
        if (!isWoken && pause > 0) {
          let timer: NodeJS.Timeout | undefined;
          await new Promise<void>((resolve) => {
            wakeUp = resolve;
            timer = setTimeout(resolve, pause);
          });
          clearTimeout(timer);
        }
        if (signal.aborted) return;
        isWoken = false;
        const startedAt = performance.now();
        const look = await this.#look(seen);
        pause = Math.max(MIN_PAUSE_MS, PAUSE_FACTOR * (performance.now() - startedAt));
        seen = look.seen;
        for (const event of look.events) {
          if (signal.aborted) return;
          yield event;
        }
      }
    } finally {
      this.#wakeUps.delete(wake);
      signal.removeEventListener('abort', wake);
    }
  }

  /** Returns the state of the store and the events since `before`; no events without it. */
  async #look(before: Seen | undefined): Promise<Look> {
    const seen: Seen = { attempts: new Map(), approvals: new Map(), current: undefined };
    const events: WorkspaceEvent[] = [];
    for (const { name, state } of await this.#index.list()) {
      const isKnown = before?.attempts.has(name) === true;
      const last = before?.attempts.get(name);
      if (before !== undefined && !isKnown) events.push({ type: 'attempt', attempt: name, change: 'created' });
      let next = before === undefined ? await this.#lastOperation(name) : isKnown ? last : 0;
      if (before !== undefined && next !== undefined) {
        for (;;) {
          const operation = await this.#operation(name, next + 1);
          if (operation === undefined) break;
          next = operation.id;
          events.push({ type: 'operation', operation });
        }
      }
      if (before !== undefined && state === 'discarded' && (last !== undefined || !isKnown))
        events.push({ type: 'attempt', attempt: name, change: 'discarded' });
      seen.attempts.set(name, state === 'discarded' ? undefined : next);
    }
    seen.current = (await this.#index.current())?.name;
    if (before !== undefined && seen.current !== undefined && seen.current !== before.current)
      events.push({ type: 'attempt', attempt: seen.current, change: 'current' });
    for (const approval of [...(await this.#approvals.list())].reverse()) {
      seen.approvals.set(approval.id, approval.state);
      if (before !== undefined && before.approvals.get(approval.id) !== approval.state)
        events.push({ type: 'approval', approval });
    }
    return { seen, events };
  }

  async #lastOperation(attempt: string): Promise<number> {
    try {
      const names = await this.#store.readdir(`${AttemptIndex.directoryOf(attempt)}/operations`);
      return Math.max(0, ...names.map(Number).filter(Number.isSafeInteger));
    } catch (error) {
      if (isFsError(error, 'ENOENT')) return 0;
      throw error;
    }
  }

  async #operation(attempt: string, id: number) {
    const path = `${AttemptIndex.directoryOf(attempt)}/operations/${String(id).padStart(9, '0')}`;
    try {
      const text = await this.#store.readText(path);
      return decodeRecord(text, `Operation ${id} of attempt ${attempt}`).operation;
    } catch (error) {
      if (isFsError(error, 'ENOENT')) return undefined;
      throw error;
    }
  }
}

interface Look {
  readonly seen: Seen;
  readonly events: readonly WorkspaceEvent[];
}
