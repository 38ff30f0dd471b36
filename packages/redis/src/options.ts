import type { AsyncStorageOptions } from '@scratchfs/core';

export interface RedisStorageOptions extends AsyncStorageOptions {
  /**
   * Name of the filesystem; one server holds any number of them. 1 to 200 characters (UTF-16 units) without `{`, `}`,
   * control characters and lone surrogates. Default `default`.
   */
  readonly namespace?: string | undefined;
  /** Prefix of every key, up to 200 characters like those of `namespace`. Default `scratchfs:`. */
  readonly keyPrefix?: string | undefined;
  /** Milliseconds after which an unused filesystem expires, at least 1,000. Default: never. */
  readonly ttlMs?: number | undefined;
  /** Milliseconds after which a request without a reply fails. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Create the filesystem if it does not exist. If false, a missing one is a `StorageError` of kind `lost`. Default
   * true.
   */
  readonly create?: boolean | undefined;
  /** Accept a server that drops keys when its memory is full (`maxmemory-policy`), which loses files. Default false. */
  readonly acceptEviction?: boolean | undefined;
  /** Accept a server older than 7.0, or one that does not tell its version. Default false. */
  readonly acceptOldServer?: boolean | undefined;
}

const OWN_OPTIONS = [
  'namespace',
  'keyPrefix',
  'ttlMs',
  'timeoutMs',
  'create',
  'acceptEviction',
  'acceptOldServer',
] as const;
const ENGINE_OPTIONS = ['retries', 'clock', 'random', 'timer'] as const;

/** Options of a RedisStorage. Defaults are filled in, except for those in `engine`. */
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
 * Validates the options that `keysOf` and the engine do not check themselves, and fills in defaults. Only own
 * properties count.
 * @throws TypeError for an unknown option, or a wrong type of a checked one; RangeError for a number out of range
 */
export function parseOptions(options: RedisStorageOptions = {}): Settings {
  if (typeof options !== 'object' || options === null)
    throw new TypeError('The options of a RedisStorage must be an object');
  const given: Record<string, unknown> = {};
  for (const key of Object.keys(options)) {
    if (!([...OWN_OPTIONS, ...ENGINE_OPTIONS] as readonly string[]).includes(key))
      throw new TypeError(
        `Unknown option ${JSON.stringify(key.slice(0, 100))} of a RedisStorage. Known are ${[...OWN_OPTIONS, ...ENGINE_OPTIONS].join(', ')}`,
      );
    given[key] = options[key as keyof RedisStorageOptions];
  }
  const timeoutMs = number(given['timeoutMs'], 'timeoutMs', 10_000, 1);
  const engine: Record<string, unknown> = { timeoutMs };
  for (const key of ENGINE_OPTIONS) if (given[key] !== undefined) engine[key] = given[key];
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

function number(value: unknown, name: string, fallback: number, min: number): number {
  if (value === undefined) return fallback;
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number, not ${typeof value}`);
  if (!Number.isSafeInteger(value) || value < min)
    throw new RangeError(`${name} must be a whole number of at least ${min}, not ${value}`);
  return value;
}

function flag(value: unknown, name: string, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (typeof value !== 'boolean') throw new TypeError(`${name} must be true or false, not ${typeof value}`);
  return value;
}
