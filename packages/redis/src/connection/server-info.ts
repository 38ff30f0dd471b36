import { StorageError } from '@scratchfs/core';
import type { Settings } from '../options.js';
import type { Connection } from './connection.js';

/** The reply to `INFO`: lines of `name:value`. */
type Info = ReadonlyMap<string, string>;

const MIN_MAJOR_VERSION = 7;

/**
 * Refuses a server that is too old or may evict keys, unless the options accept it.
 * @throws StorageError `unsupported`; those of the connection
 */
export async function inspectServer(connection: Connection, key: string, settings: Settings): Promise<void> {
  const info = parseInfo(await connection.callOwner(key, 'INFO'));
  const version = info.get('redis_version');
  if (!settings.acceptOldServer && !(Number.parseInt(version ?? '', 10) >= MIN_MAJOR_VERSION))
    throw new StorageError(
      'unsupported',
      `RedisStorage needs Redis ${MIN_MAJOR_VERSION}.0 or newer, and this server says ${version === undefined ? 'nothing of its version' : `it is ${version}`}. \`acceptOldServer: true\` tries it all the same`,
    );
  const policy = info.get('maxmemory_policy') ?? '';
  if (!settings.acceptEviction && mayEvict(policy))
    throw new StorageError(
      'unsupported',
      `This Redis server drops keys when its memory is full (maxmemory-policy ${policy}), and with them files, or what operations came to. Set it to noeviction, or accept that with \`acceptEviction: true\``,
    );
}

/** The server's persistence settings. A setting that the server does not tell is undefined. */
export interface Durability {
  /** True if writes go to an append-only log. */
  readonly appendOnly: boolean | undefined;
  /** When that log is flushed to disk: `always` (before each reply), `everysec` or `no`. */
  readonly fsync: string | undefined;
  /** The `save` setting: seconds and changes after which a snapshot is written. Empty: never. */
  readonly save: string | undefined;
  /** Number of connected replicas. They receive writes after these were acknowledged. */
  readonly replicas: number | undefined;
  /** A phrase that says which acknowledged writes may be lost if the server is killed or its machine goes down. */
  readonly mayLose: string;
}

export async function readDurability(connection: Connection, key: string): Promise<Durability> {
  const info = parseInfo(await connection.callOwner(key, 'INFO'));
  const setting = async (name: string): Promise<string | undefined> => {
    // Hosted servers often refuse CONFIG.
    const reply = await connection.callOwner(key, 'CONFIG', 'GET', name).catch(() => undefined);
    return Array.isArray(reply) && typeof reply[1] === 'string' ? reply[1] : undefined;
  };
  const [fsync, save] = [await setting('appendfsync'), await setting('save')];
  const aof = info.get('aof_enabled');
  const appendOnly = aof === undefined ? undefined : aof === '1';
  const replicas = info.get('connected_slaves');
  return {
    appendOnly,
    fsync,
    save,
    replicas: replicas === undefined ? undefined : Number(replicas),
    mayLose: describeLoss(appendOnly, fsync, save),
  };
}

export function describeLoss(
  appendOnly: boolean | undefined,
  fsync: string | undefined,
  save: string | undefined,
): string {
  if (appendOnly === undefined) return 'unknown: the server does not say how it persists';
  if (!appendOnly)
    return save === ''
      ? 'everything: the server writes nothing to disk'
      : 'everything since its last snapshot: the append-only log is off';
  if (fsync === 'always') return 'nothing that was acknowledged';
  if (fsync === 'everysec')
    return 'nothing when only the server is killed; about the last second when the machine goes down';
  return fsync === 'no'
    ? 'nothing when only the server is killed; what the system had not written yet when the machine goes down'
    : 'nothing when only the server is killed; unknown when the machine goes down';
}

/**
 * `volatile-*` drops only keys that expire. Results of operations do, and without its result an operation may be
 * applied twice.
 */
function mayEvict(policy: string): boolean {
  return policy.startsWith('allkeys-') || policy.startsWith('volatile-');
}

export function parseInfo(text: unknown): Info {
  const lines = String(text)
    .split(/\r?\n/)
    .filter((line) => line.includes(':') && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}
