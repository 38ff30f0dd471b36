/** Returns the path of a file in the first installed package of `names`. Throws if none is installed. */
export function fileOf(names: readonly string[], file: string, parent?: string): string;
