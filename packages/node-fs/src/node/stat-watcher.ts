import { EventEmitter } from 'node:events';
import { type Stats as CoreStats, normalizePath } from '@scratchfs/core';
import type { Given } from '../arguments/options.js';
import { toPath } from '../arguments/paths.js';
import { checkFunction, checkUint32 } from '../arguments/values.js';
import type { Any } from '../forms.js';
import type { Facade } from '../node-function.js';
import { BigIntStats, Stats, toBigIntStats, toStats } from '../results/stats.js';

const DEFAULT_INTERVAL_MS = 5007;
const COMPARED = ['mode', 'uid', 'gid', 'ino', 'dev', 'size', 'mtimeMs', 'ctimeMs', 'birthtimeMs'] as const;

interface StatWatchOptions {
  readonly interval: number;
  readonly persistent: boolean;
  readonly bigint: boolean;
}

/** Result of `watchFile`: checks a path periodically and emits `change` with the current and previous stats. */
export class StatWatcher extends EventEmitter {
  readonly #facade: Facade;
  readonly #path: string;
  readonly #bigint: boolean;
  readonly #timer: NodeJS.Timeout;
  /** Undefined before the first check, null if the last one failed, for example because the path does not exist. */
  #last: CoreStats | null | undefined;
  #isLooking = false;
  #isStopped = false;

  constructor(facade: Facade, path: string, { interval, persistent, bigint }: StatWatchOptions) {
    super();
    this.#facade = facade;
    this.#path = path;
    this.#bigint = bigint;
    this.#timer = setInterval(() => void this.#look(), Math.max(1, interval));
    if (!persistent) this.#timer.unref();
    void this.#look();
  }

  /** Does nothing: it has already started. */
  start(): void {}

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    clearInterval(this.#timer);
    process.nextTick(() => this.emit('stop'));
  }

  ref(): this {
    this.#timer.ref();
    return this;
  }

  unref(): this {
    this.#timer.unref();
    return this;
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const before = this.#last;
    const now = await this.#stat();
    this.#isLooking = false;
    this.#last = now;
    // The first check is the baseline; a missing path is reported as an event of its own.
    const isNews = before === undefined ? now === null : isDifferent(before, now);
    if (isNews) setImmediate(() => this.#tell(now, before ?? null));
  }

  async #stat(): Promise<CoreStats | null> {
    try {
      return await this.#facade.driver.fs.stat(this.#path);
    } catch {
      return null;
    }
  }

  #tell(now: CoreStats | null, before: CoreStats | null): void {
    if (this.#isStopped) return;
    this.emit('change', this.#answer(now), this.#answer(before));
  }

  #answer(stats: CoreStats | null): Stats | BigIntStats {
    if (stats === null) return this.#bigint ? noBigIntStats() : noStats();
    return this.#bigint ? toBigIntStats(stats) : toStats(stats);
  }
}

function isDifferent(a: CoreStats | null, b: CoreStats | null): boolean {
  if (a === null || b === null) return a !== b;
  return COMPARED.some((field) => a[field] !== b[field]);
}

function noStats(): Stats {
  return new Stats(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

function noBigIntStats(): BigIntStats {
  return new BigIntStats(0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n);
}

/** Creates `watchFile` and `unwatchFile`: all listeners of a path share one watcher. */
export function statWatchFunctions(facade: Facade): { watchFile: Any; unwatchFile: Any } {
  const watchers = new Map<string, StatWatcher>();
  return {
    watchFile(filename, options, listener) {
      const path = normalizePath(toPath(filename));
      const given = (typeof options === 'object' ? options : {}) as Given | null;
      const tell = checkFunction(
        options === null || typeof options === 'object' ? listener : options,
        'listener',
      ) as Any;
      const { interval = DEFAULT_INTERVAL_MS, persistent = true, bigint = false } = given ?? {};
      let watcher = watchers.get(path);
      if (watcher === undefined) {
        const how = {
          interval: checkUint32(interval, 'interval'),
          persistent: Boolean(persistent),
          bigint: Boolean(bigint),
        };
        watcher = new StatWatcher(facade, path, how);
        watchers.set(path, watcher);
      }
      return watcher.on('change', tell);
    },
    unwatchFile(filename, listener) {
      const path = normalizePath(toPath(filename));
      const watcher = watchers.get(path);
      if (watcher === undefined) return;
      if (typeof listener === 'function') watcher.removeListener('change', listener as Any);
      else watcher.removeAllListeners('change');
      if (watcher.listenerCount('change') > 0) return;
      watcher.stop();
      watchers.delete(path);
    },
  };
}
