import { StorageError } from '@scratchfs/core';
import type { Settings } from '../options.js';
import type { Connection } from './connection.js';

/** What a server says of itself, as `INFO` has it: `name:value` lines. */
type Info = ReadonlyMap<string, string>;

const OLDEST = 7;

/**
 * Refuses a server on which files would not be safe, unless the caller accepts that.
 * @throws StorageError `unsupported`
 */
export async function inspectServer(connection: Connection, key: string, settings: Settings): Promise<void> {
  const info = parseInfo(await connection.ask(key, 'INFO'));
  const version = info.get('redis_version');
  if (!settings.acceptOldServer && !(Number.parseInt(version ?? '', 10) >= OLDEST))
    throw new StorageError(
      'unsupported',
      `RedisStorage needs Redis ${OLDEST}.0 or newer, and this server says ${version === undefined ? 'nothing of its version' : `it is ${version}`}. \`acceptOldServer: true\` tries it all the same`,
    );
  const policy = info.get('maxmemory_policy') ?? '';
  if (!settings.acceptEviction && mayEvict(policy))
    throw new StorageError(
      'unsupported',
      `This Redis server drops keys when its memory is full (maxmemory-policy ${policy}), and with them files, or what operations came to. Set it to noeviction, or accept that with \`acceptEviction: true\``,
    );
}

/** What the server's settings may cost: nothing here is guessed, what cannot be asked for is undefined. */
export interface Durability {
  /** Whether what is written goes to an append-only log. */
  readonly appendOnly: boolean | undefined;
  /** When that log is forced to disk: `always` before each answer, `everysec`, or `no`. */
  readonly fsync: string | undefined;
  /** Seconds and changes after which a snapshot is written, as `save` has them; empty: never. */
  readonly save: string | undefined;
  /** Replicas that are connected; they hear of writes after they were acknowledged. */
  readonly replicas: number | undefined;
  /** Which acknowledged writes may be lost when the server is killed, in a sentence. */
  readonly mayLose: string;
}

export async function askDurability(connection: Connection, key: string): Promise<Durability> {
  const info = parseInfo(await connection.ask(key, 'INFO'));
  const setting = async (name: string): Promise<string | undefined> => {
    // Hosted servers often refuse CONFIG.
    const answer = await connection.ask(key, 'CONFIG', 'GET', name).catch(() => undefined);
    return Array.isArray(answer) && typeof answer[1] === 'string' ? answer[1] : undefined;
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
    mayLose: lossOf(appendOnly, fsync, save),
  };
}

export function lossOf(appendOnly: boolean | undefined, fsync: string | undefined, save: string | undefined): string {
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

/** `volatile-*` drops only keys that expire: what clients' operations came to always does, and without it one may be done twice. */
function mayEvict(policy: string): boolean {
  return policy.startsWith('allkeys-') || policy.startsWith('volatile-');
}

export function parseInfo(text: unknown): Info {
  const lines = String(text)
    .split(/\r?\n/)
    .filter((line) => line.includes(':') && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}
