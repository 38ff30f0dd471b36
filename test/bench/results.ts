import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { SubjectName } from './subjects/index.js';
import type { Measured } from './worker.js';

/** Figures of all rounds, or the reason why there are none. */
export type Cell = readonly number[] | string;

interface Kept {
  readonly cells: Record<string, Partial<Record<SubjectName, Cell>>>;
  readonly sharing: readonly SubjectName[];
}

/**
 * Measured figures, row by row; kept in a file if one is named, so that a long table can be measured in several runs.
 */
export class Results {
  readonly #cells: Kept['cells'];
  readonly #sharing: Set<SubjectName>;

  constructor(readonly file: string | undefined) {
    const kept: Kept =
      file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { cells: {}, sharing: [] };
    this.#cells = kept.cells;
    this.#sharing = new Set(kept.sharing);
  }

  /** Subjects that keep callers' bytes or return their own, which saves a copy. */
  get sharing(): ReadonlySet<SubjectName> {
    return this.#sharing;
  }

  get(title: string, name: SubjectName): Cell | undefined {
    return this.#cells[title]?.[name];
  }

  has(title: string): boolean {
    return this.#cells[title] !== undefined;
  }

  /** Returns the number of rounds: a number, or the least and the most. */
  get rounds(): string {
    const cells = Object.values(this.#cells).flatMap((row) => Object.values(row));
    const counts = cells.flatMap((cell) => (typeof cell === 'string' ? [] : [cell.length]));
    const [least, most] = [Math.min(...counts), Math.max(...counts)];
    return least === most ? String(most) : `${least} to ${most}`;
  }

  add(title: string, name: SubjectName, outcome: Measured | string): void {
    this.#cells[title] ??= {};
    const row = this.#cells[title];
    const before = row[name] ?? [];
    row[name] =
      typeof outcome === 'string' || typeof before === 'string' ? (outcome as string) : [...before, outcome.figure];
    if (typeof outcome === 'object' && outcome.isSharing) this.#sharing.add(name);
    if (this.file !== undefined)
      writeFileSync(this.file, JSON.stringify({ cells: this.#cells, sharing: [...this.#sharing] } satisfies Kept));
  }
}
