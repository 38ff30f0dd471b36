import { isStorageError, StorageError } from '@scratchfs/core';
import { corruptReply } from '../format/reply/corrupt.js';

/** Error replies after which the same request may succeed later. */
const TEMPORARY =
  /^(LOADING|BUSY|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|READONLY|NOREPLICAS|OOM|MISCONF|UNBLOCKED|MOVED|ASK)\b/;
/** Error replies about credentials and permissions. */
const REFUSED = /^(NOAUTH|WRONGPASS|NOPERM|NOPROTO)\b/;
/** Error codes for TLS certificates that are not accepted. */
const UNTRUSTED = /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT_)/;
/** Errors of ioredis 5 and 6 for replies that their parsers reject. */
const UNPARSABLE = /^Protocol error|Please report this\.$/;
/** Errors that our scripts raise. */
const SCRIPT_ERROR = /^SCRATCHFS (LOST|CORRUPT|STALE) (.*?)(?: script: .*)?$/s;

/**
 * Converts an error of a request. The result has none of the properties that ioredis adds: a command's arguments are
 * among them, and those of AUTH are credentials.
 */
export function toStorageError(error: unknown): StorageError {
  if (error instanceof StorageError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const cause = plainCause(error);
  if (UNTRUSTED.test(String((error as { code?: unknown } | undefined)?.code)))
    return new StorageError('unavailable', 'The certificate of the Redis server is not accepted', {
      retryable: false,
      cause,
    });
  const scriptError = SCRIPT_ERROR.exec(message);
  if (scriptError !== null) {
    const [, kind, what] = scriptError;
    if (kind === 'STALE') return new StorageError('unavailable', `It took too long: ${what} has expired`, { cause });
    return kind === 'LOST'
      ? new StorageError('lost', `Part of the filesystem is gone from the server: ${what}`, { cause })
      : new StorageError('corrupt', `The server holds something else than was stored: ${what}`, { cause });
  }
  if (UNPARSABLE.test(message)) return corruptReply('no Redis protocol', true, cause);
  const word = /^[A-Z]{3,}\b/.exec(message)?.[0];
  if (message.startsWith('OOM'))
    return new StorageError('unavailable', 'The Redis server has no memory left (maxmemory): free some, or raise it', {
      cause,
    });
  if (TEMPORARY.test(message))
    return new StorageError('unavailable', `The Redis server cannot serve this now (${word})`, { cause });
  if (REFUSED.test(message))
    return new StorageError('unavailable', `The Redis server refuses these credentials or this command (${word})`, {
      retryable: false,
      cause,
    });
  if (word === 'WRONGTYPE')
    return new StorageError('corrupt', 'A key of this filesystem holds a value of another type', { cause });
  if (word === 'ERR') return new StorageError('corrupt', 'The Redis server failed to run a script', { cause });
  return new StorageError('unavailable', 'The Redis server could not be reached, or its reply was lost', { cause });
}

/**
 * Returns an error with the given `mayHaveHappened` if {@link isWithoutReply} accepts it. Returns any other error as it
 * is.
 */
export function withMayHaveHappened(error: unknown, mayHaveHappened: boolean): unknown {
  if (!isWithoutReply(error) || error.mayHaveHappened === mayHaveHappened) return error;
  const { kind, message, retryable, cause } = error;
  return new StorageError(kind, message, { retryable, mayHaveHappened, cause });
}

/**
 * Reports whether an error is `unavailable` or `timeout`, as when the server was not reached, refused the request, or
 * did not reply.
 */
export function isTemporary(error: unknown): error is StorageError {
  return isStorageError(error, 'unavailable') || isStorageError(error, 'timeout');
}

/** Reports whether an error is `unavailable`, `timeout` or `closed`. */
export function isWithoutReply(error: unknown): error is StorageError {
  return isTemporary(error) || isStorageError(error, 'closed');
}

/** Reports whether an error is `corrupt` or `lost`: stored data is damaged or gone. Other data may be whole. */
export function isDamage(error: unknown): boolean {
  return isStorageError(error, 'corrupt') || isStorageError(error, 'lost');
}

/** Copies name, message and code of an error, without credentials in URLs. */
function plainCause(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  const plain = new Error(withoutCredentials(error.message));
  plain.name = error.name;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string') Object.assign(plain, { code });
  return plain;
}

/** Removes user and password from URLs in a text. They may contain `@` and `/`, but no white space. */
export function withoutCredentials(text: string): string {
  return text.replace(/(\w+:\/\/)\S*@/g, '$1');
}
