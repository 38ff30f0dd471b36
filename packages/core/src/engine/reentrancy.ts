/** Number of calls into foreign code that have not returned. */
let depth = 0;

/**
 * Calls foreign code in the middle of an operation, such as a guard, the filesystem under an overlay, or a function
 * that returns a file's content. That code may read the filesystem that is calling it. {@link isCallingOutside} shows
 * the executor that such a read must not disturb the operation.
 */
export function callOutside<R>(call: () => R): R {
  depth += 1;
  try {
    return call();
  } finally {
    depth -= 1;
  }
}

/** Reports whether foreign code is running in the middle of an operation. */
export function isCallingOutside(): boolean {
  return depth > 0;
}
