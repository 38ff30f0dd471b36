let open = 0;

/**
 * Calls somebody outside in the middle of an operation: a guard, or the filesystem beneath an overlay. It may look at the
 * very filesystem that calls it, and must not disturb the operation.
 */
export function callOutside<R>(question: () => R): R {
  open += 1;
  try {
    return question();
  } finally {
    open -= 1;
  }
}

/** Whether somebody outside is called and has not answered yet. */
export function isCallingOutside(): boolean {
  return open > 0;
}
