/** Returns the work of a transaction, which throws what `failed` returns for each of its own errors. */
export function withFailures<A extends readonly unknown[], R>(
  work: (...args: A) => R,
  failed: (error: unknown) => unknown,
): (...args: A) => R {
  const fail = (error: unknown): never => {
    throw failed(error);
  };
  return (...args) => {
    try {
      const result = work(...args);
      // A thenable of another library, or of another realm, is a promise too.
      const isPromise = typeof (result as { then?: unknown } | null | undefined)?.then === 'function';
      return isPromise ? (Promise.resolve(result).catch(fail) as R) : result;
    } catch (error) {
      return fail(error);
    }
  };
}
