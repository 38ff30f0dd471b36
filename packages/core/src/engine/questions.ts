let open = 0;

/**
 * Asks a guard. It may look at the very filesystem that asks it: what it does there begins in the middle of an operation,
 * and must not disturb it.
 */
export function asking<R>(question: () => R): R {
  open += 1;
  try {
    return question();
  } finally {
    open -= 1;
  }
}

/** Whether a guard has been asked and has not answered yet. */
export function isAsking(): boolean {
  return open > 0;
}
