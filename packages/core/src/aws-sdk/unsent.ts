/** Errors of requests of which no attempt has reached the service. */
const UNSENT = new WeakSet<object>();

/**
 * Position of {@link noteConnections}: after the SDK's middleware that repeats requests, so it runs for each attempt.
 */
export const EACH_ATTEMPT = { step: 'finalizeRequest', priority: 'low', name: 'scratchfsConnections' } as const;

/**
 * Returns a middleware for one command of the SDK. It makes a failure known to {@link wasUnsent} if no attempt could
 * connect to the service.
 */
export function noteConnections(): <A, R>(next: (args: A) => Promise<R>) => (args: A) => Promise<R> {
  let mayBeSent = false;
  return (next) => async (args) => {
    try {
      return await next(args);
    } catch (error) {
      mayBeSent ||= !isConnectionFailure(error);
      if (!mayBeSent) UNSENT.add(error as object);
      throw error;
    }
  };
}

/** Reports whether the request of this error has surely not reached the service. */
export function wasUnsent(error: unknown): boolean {
  return typeof error === 'object' && error !== null && UNSENT.has(error);
}

/** Reports whether Node could not connect, or found no address. Node tries several addresses of a name in turn. */
function isConnectionFailure(error: unknown): boolean {
  const { syscall, errors } = (error ?? {}) as { readonly syscall?: unknown; readonly errors?: unknown };
  if (Array.isArray(errors)) return errors.length > 0 && errors.every(isConnectionFailure);
  return syscall === 'connect' || syscall === 'getaddrinfo';
}
