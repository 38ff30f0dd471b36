import type { Place, NodeFact, Want } from '../backend.js';
import type { Unloaded } from '../tree/node.js';

/** Where a view finds what its tree does not know yet. `undefined` means: not here, load it first. */
export interface Source {
  entry(directory: Place, name: string): NodeFact | null | undefined;
  listing(directory: Place): { readonly names: readonly string[]; readonly nodes: readonly NodeFact[] } | undefined;
  content(file: Unloaded, size: number): Uint8Array | undefined;
}

/** Thrown where an operation touches what is not loaded; never seen by a caller of the filesystem. */
export class Missing {
  constructor(readonly wants: readonly Want[]) {}
}
