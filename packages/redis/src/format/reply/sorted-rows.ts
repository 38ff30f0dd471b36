import { compareNames, type NodeRecord } from '@scratchfs/core';

/** Names and their nodes, in the same order. */
export interface Rows {
  readonly names: readonly string[];
  readonly nodes: readonly NodeRecord[];
}

/**
 * Collects parts of a listing into one sorted listing. Each part is sorted when it arrives and merged with parts of
 * similar length, so that each row is merged O(log n) times.
 */
export class SortedRows {
  /** Sorted runs, each more than twice as long as the next. */
  readonly #runs: Rows[] = [];

  add(rows: Rows): void {
    let run = sortRows(rows);
    for (let last = this.#runs.at(-1); last !== undefined; last = this.#runs.at(-1)) {
      if (last.names.length > 2 * run.names.length) break;
      this.#runs.pop();
      run = merge(last, run);
    }
    this.#runs.push(run);
  }

  all(): Rows {
    return this.#runs.reduceRight<Rows>((behind, run) => merge(run, behind), { names: [], nodes: [] });
  }
}

/** Returns the rows sorted by name. */
export function sortRows({ names, nodes }: Rows): Rows {
  const order = names.map((_, i) => i).sort((a, b) => compareNames(names[a] as string, names[b] as string));
  return { names: order.map((i) => names[i] as string), nodes: order.map((i) => nodes[i] as NodeRecord) };
}

function merge(left: Rows, right: Rows): Rows {
  if (right.names.length === 0) return left;
  const names: string[] = [];
  const nodes: NodeRecord[] = [];
  const take = (from: Rows, at: number): void => {
    names.push(from.names[at] as string);
    nodes.push(from.nodes[at] as NodeRecord);
  };
  let i = 0;
  for (let j = 0; j < right.names.length; j++) {
    const name = right.names[j] as string;
    for (; i < left.names.length && compareNames(left.names[i] as string, name) < 0; i++) take(left, i);
    take(right, j);
  }
  for (; i < left.names.length; i++) take(left, i);
  return { names, nodes };
}
