import { DISK_OPERATIONS, type OperationName } from '@scratchfs/testkit';
import { KINDS, type Kind } from './host-folder.js';
import { isRoot, ROOT_OPERATIONS } from './unprivileged.js';

/** Operations that take paths, with the names of the arguments whose kinds are counted. */
export const PATH_ARGUMENTS: ReadonlyMap<OperationName, readonly ('path' | 'from' | 'to')[]> = new Map(
  DISK_OPERATIONS.filter((operation) => !/^(read|write|close|handle.*)$/.test(operation))
    .filter((operation) => isRoot || !ROOT_OPERATIONS.includes(operation))
    .map((operation) => [
      operation,
      ['cp', 'copyFile', 'rename', 'link'].includes(operation) ? ['from', 'to'] : ['path'],
    ]),
);

/** Operations on an open file, counted by the state of their file. */
export const HANDLE_OPERATIONS: readonly OperationName[] = DISK_OPERATIONS.filter((operation) =>
  /^(read|write|handle.*)$/.test(operation),
);

export const HANDLE_STATES = ['plain', 'renamed', 'unlinked', 'append'] as const;
export type HandleState = (typeof HANDLE_STATES)[number];

/** Kinds of entries. For every pair of them, one is renamed onto the other. */
export const RENAME_KINDS: readonly Kind[] = [
  'missing',
  'file',
  'hard-linked',
  'empty-directory',
  'full-directory',
  'link-to-file',
  'link-to-directory',
  'dangling-link',
];

/** A copy, by `cp -r`, of a directory that contains links; the destination does not exist. */
export const COPY_OF_LINKS = 'cp tree of links';

export interface Cell {
  readonly name: string;
  readonly count: number;
}

/** Counts how often each operation met each kind of target. */
export class Coverage {
  readonly #counts = new Map<string, number>();

  constructor() {
    for (const [operation, names] of PATH_ARGUMENTS) {
      for (const name of names) for (const kind of KINDS) this.#counts.set(`${operation} ${name} ${kind}`, 0);
    }
    for (const operation of HANDLE_OPERATIONS) {
      for (const state of HANDLE_STATES) this.#counts.set(`${operation} handle ${state}`, 0);
    }
    this.#counts.set(COPY_OF_LINKS, 0);
    for (const from of RENAME_KINDS)
      for (const to of RENAME_KINDS) this.#counts.set(`rename pair ${from} onto ${to}`, 0);
  }

  add(name: string): void {
    const count = this.#counts.get(name);
    if (count !== undefined) this.#counts.set(name, count + 1);
  }

  addPaths(operation: OperationName, kinds: Readonly<Record<string, readonly Kind[]>>): void {
    for (const [argument, list] of Object.entries(kinds))
      for (const kind of list) this.add(`${operation} ${argument} ${kind}`);
    if (operation !== 'rename') return;
    for (const from of kinds.from ?? []) for (const to of kinds.to ?? []) this.add(`rename pair ${from} onto ${to}`);
  }

  /** Returns all cells, the rarest first. */
  cells(): Cell[] {
    return [...this.#counts].map(([name, count]) => ({ name, count })).sort((a, b) => a.count - b.count);
  }

  get minimum(): number {
    return Math.min(...this.#counts.values());
  }
}
