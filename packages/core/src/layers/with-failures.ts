/** Returns the work of a transaction, which reports its own errors. */
export function withFailures<A extends readonly unknown[], R>(
  work: (...args: A) => R,
  report: (error: unknown) => void,
): (...args: A) => R {
  const failed = (error: unknown): never => {
    report(error);
    throw error;
  };
  return (...args) => {
    try {
      const result = work(...args);
      return result instanceof Promise ? (result.catch(failed) as R) : result;
    } catch (error) {
      return failed(error);
    }
  };
}
