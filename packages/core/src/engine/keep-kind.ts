const examples: object[] = [];

/**
 * Keeps an object for good. An engine throws away what it has compiled for a kind of object when the last of them is
 * collected: a walk, a search or a snapshot lives shorter than from one collection to the next, and would be compiled
 * each time.
 */
export function keepKind(example: object): void {
  examples.push(example);
}
