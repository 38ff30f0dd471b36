import type { PutObjectCommand } from '@aws-sdk/client-s3';

/** Errors of requests of which no attempt has reached the store. */
const UNSENT = new WeakSet<object>();

/** Makes a failure of the request known to {@link wasUnsent} if no attempt of the SDK could connect to the store. */
export function noteConnections(command: PutObjectCommand): void {
  let mayBeSent = false;
  command.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        mayBeSent ||= !isConnectionFailure(error);
        if (!mayBeSent) UNSENT.add(error as object);
        throw error;
      }
    },
    // After the SDK's middleware that repeats requests, so once for each attempt.
    { step: 'finalizeRequest', priority: 'low', name: 'scratchfsConnections' },
  );
}

/** Reports whether the request of this error has surely not reached the store. */
export function wasUnsent(error: unknown): boolean {
  return typeof error === 'object' && error !== null && UNSENT.has(error);
}

/** Reports whether Node could not connect, or found no address. Node tries several addresses of a name in turn. */
function isConnectionFailure(error: unknown): boolean {
  const { syscall, errors } = (error ?? {}) as { readonly syscall?: unknown; readonly errors?: unknown };
  if (Array.isArray(errors)) return errors.length > 0 && errors.every(isConnectionFailure);
  return syscall === 'connect' || syscall === 'getaddrinfo';
}
