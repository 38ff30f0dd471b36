import type { AsyncStorageOptions } from '@scratchfs/core';

export interface RedisStorageOptions extends AsyncStorageOptions {
  /** Which filesystem: any number live side by side on one server. 1 to 200 characters without `{` and `}`. Default `default`. */
  readonly namespace?: string | undefined;
  /** Before every key. Default `scratchfs:`. */
  readonly keyPrefix?: string | undefined;
  /** Milliseconds after which a filesystem that nobody uses is gone, at least 1,000. Default: it stays. */
  readonly ttlMs?: number | undefined;
  /** Milliseconds after which an unanswered request is given up. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Make the filesystem where there is none; false: `StorageError` of kind `lost` then. Default true. */
  readonly create?: boolean | undefined;
  /** Work on a server that may drop keys when its memory is full (`maxmemory-policy`), and lose files by it. Default false. */
  readonly acceptEviction?: boolean | undefined;
  /** Work on a server that is older than 7.0, or whose version cannot be asked for. Default false. */
  readonly acceptOldServer?: boolean | undefined;
}

const OWN = ['namespace', 'keyPrefix', 'ttlMs', 'timeoutMs', 'create', 'acceptEviction', 'acceptOldServer'] as const;
const ENGINE = ['retries', 'clock', 'random', 'timer'] as const;

/** Options after checking, with their defaults. */
export interface Settings {
  readonly namespace: string;
  readonly keyPrefix: string;
  readonly ttlMs: number;
  readonly timeoutMs: number;
  readonly create: boolean;
  readonly acceptEviction: boolean;
  readonly acceptOldServer: boolean;
  readonly engine: AsyncStorageOptions;
}

/**
 * Checks options as a caller gave them; own properties only.
 * @throws TypeError for a wrong kind or an unknown option; RangeError for a number out of range
 */
export function parseOptions(options: RedisStorageOptions = {}): Settings {
  if (typeof options !== 'object' || options === null)
    throw new TypeError('The options of a RedisStorage must be an object');
  const given: Record<string, unknown> = {};
  for (const key of Object.keys(options)) {
    if (!([...OWN, ...ENGINE] as readonly string[]).includes(key))
      throw new TypeError(
        `Unknown option ${JSON.stringify(key.slice(0, 100))} of a RedisStorage. Known are ${[...OWN, ...ENGINE].join(', ')}`,
      );
    given[key] = options[key as keyof RedisStorageOptions];
  }
  const timeoutMs = number(given['timeoutMs'], 'timeoutMs', 10_000, 1);
  const engine: Record<string, unknown> = { timeoutMs };
  for (const key of ENGINE) if (given[key] !== undefined) engine[key] = given[key];
  return {
    namespace: (given['namespace'] ?? 'default') as string,
    keyPrefix: (given['keyPrefix'] ?? 'scratchfs:') as string,
    ttlMs: number(given['ttlMs'], 'ttlMs', 0, 1_000),
    timeoutMs,
    create: flag(given['create'], 'create', true),
    acceptEviction: flag(given['acceptEviction'], 'acceptEviction', false),
    acceptOldServer: flag(given['acceptOldServer'], 'acceptOldServer', false),
    engine: engine as AsyncStorageOptions,
  };
}

function number(value: unknown, name: string, fallback: number, least: number): number {
  if (value === undefined) return fallback;
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number, not ${typeof value}`);
  if (!Number.isSafeInteger(value) || value < least)
    throw new RangeError(`${name} must be a whole number of at least ${least}, not ${value}`);
  return value;
}

function flag(value: unknown, name: string, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (typeof value !== 'boolean') throw new TypeError(`${name} must be true or false, not ${typeof value}`);
  return value;
}
