import { StorageError } from '@scratchfs/core';
import type { Connection } from './connection.js';
import type { Settings } from './options.js';

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
  if (!settings.acceptEviction && mayEvict(policy, settings.ttlMs > 0))
    throw new StorageError(
      'unsupported',
      `This Redis server drops keys when its memory is full (maxmemory-policy ${policy}), and with them files. Set it to noeviction, or accept that with \`acceptEviction: true\``,
    );
}

/** `volatile-*` drops only keys that expire: ours do where there is a time to live. */
function mayEvict(policy: string, expires: boolean): boolean {
  return policy.startsWith('allkeys-') || (expires && policy.startsWith('volatile-'));
}

export function parseInfo(text: unknown): Info {
  const lines = String(text)
    .split(/\r?\n/)
    .filter((line) => line.includes(':') && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}
