import { EventEmitter } from 'node:events';
import { type Given, toOptions } from '../arguments/options.js';
import { checkSignal } from '../arguments/values.js';
import type { Any } from '../forms.js';
import type { Facade } from '../node-function.js';
import { watchError } from '../promise-watch.js';
import { toWatchCall, type WatchCall, watchEvents } from '../watch-events.js';
import { KeepAlive } from './keep-alive.js';

/** Result of `watch`: emits `change` with the event type and the name, `error`, and `close`. */
export class FSWatcher extends EventEmitter {
  readonly #ending = new AbortController();
  readonly #keepAlive = new KeepAlive();

  /** @internal Starts listening. If the storage is synchronous, a missing path throws immediately. */
  begin(facade: Facade, call: WatchCall, isPersistent: boolean): void {
    const { driver } = facade;
    if (isPersistent) this.#keepAlive.begin();
    let running: Promise<void>;
    try {
      const listening = driver.map(driver.fs.realpath(call.path), (path) =>
        watchEvents(facade, { ...call, path }, this.#ending.signal),
      );
      running = this.#listen(listening);
    } catch (error) {
      this.#keepAlive.end();
      throw watchError(error, call.path);
    }
    running.catch((error: unknown) => {
      this.#keepAlive.end();
      setImmediate(() => this.emit('error', watchError(error, call.path)));
    });
  }

  /** Does nothing: it has already started. */
  start(): void {}

  close(): void {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort();
    this.#keepAlive.end();
    process.nextTick(() => this.emit('close'));
  }

  ref(): this {
    this.#keepAlive.ref();
    return this;
  }

  unref(): this {
    this.#keepAlive.unref();
    return this;
  }

  async #listen(events: ReturnType<typeof watchEvents> | Promise<ReturnType<typeof watchEvents>>): Promise<void> {
    for await (const { eventType, filename } of await events) {
      // A listener's exception must not end the watcher.
      setImmediate(() => {
        if (!this.#ending.signal.aborted) this.emit('change', eventType, filename);
      });
    }
  }
}

/** `watch`: (path, listener) or (path, options, listener). */
export function watchFunction(facade: Facade): Any {
  return function watch(filename, options, listener) {
    const given = toOptions(options, facade.platform) as Given;
    const tell = typeof options === 'function' ? options : listener;
    const signal = checkSignal(given['signal']);
    const call = toWatchCall(filename, given);
    const watcher = new FSWatcher();
    watcher.begin(facade, call, given['persistent'] !== false);
    if (typeof tell === 'function') watcher.on('change', tell as (...change: unknown[]) => void);
    closeWith(watcher, signal);
    return watcher;
  };
}

function closeWith(watcher: FSWatcher, signal: AbortSignal | undefined): void {
  if (signal === undefined) return;
  const close = (): void => watcher.close();
  if (signal.aborted) {
    process.nextTick(close);
    return;
  }
  signal.addEventListener('abort', close, { once: true });
  watcher.once('close', () => signal.removeEventListener('abort', close));
}
