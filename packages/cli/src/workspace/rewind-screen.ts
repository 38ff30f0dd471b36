import type { Operation } from '@scratchfs/workspace';
import { cutTo, foldText, widthOf } from '../terminal/columns.js';
import { escapeText } from '../terminal/escape.js';
import { timeText } from '../terminal/quantities.js';
import type { Screen, ScreenSize } from '../terminal/screen.js';
import type { Style } from '../terminal/style.js';

/** A state to go back to: after an operation, or before the first. */
export interface RewindState {
  readonly id: number;
  /** Line of the list. */
  readonly text: string;
  /** Title of the state, with the whole summary of its operation. */
  readonly title: string;
}

/** Changes that going back to a state would make, without colours. */
export interface RewindChanges {
  readonly sum: string;
  readonly lines: readonly string[];
}

/** Returns the state after each of the operations, which are newest first, and the state before the first. */
export function statesOf(operations: readonly Operation[], now: number): RewindState[] {
  const width = String(operations[0]?.id ?? 0).length;
  const number = (id: number): string => String(id).padStart(width);
  return [
    ...operations.map(({ id, at, summary }) => ({
      id,
      text: `${number(id)}  ${timeText(at, now)}  ${escapeText(summary)}`,
      title: `After ${id}: ${escapeText(summary)}`,
    })),
    { id: 0, text: `${number(0)}  before the first operation`, title: 'Before the first operation' },
  ];
}

/**
 * From this width on, the changes are beside the list, otherwise under it: with 80 columns, a list beside them would
 * show only a few letters of each summary.
 */
const MIN_COLUMNS_BESIDE = 90;
const MAX_LIST_COLUMNS = 50;

export interface RewindScreenOptions {
  readonly title: string;
  readonly states: readonly RewindState[];
  readonly style: Style;
  readonly load: (id: number) => Promise<RewindChanges>;
  readonly redraw: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * A list of states, with the changes of the chosen one. Its result is the id of the state to go back to; `q` or
 * `interrupt` if the user leaves.
 */
export class RewindScreen implements Screen<number | 'q' | 'interrupt'> {
  readonly #options: RewindScreenOptions;
  readonly #loaded = new Map<number, RewindChanges>();
  #chosen: number;
  #scrolled = 0;
  #isAsking = false;
  #isLoading = false;

  constructor(options: RewindScreenOptions) {
    this.#options = options;
    this.#chosen = Math.min(1, options.states.length - 1);
    void this.#load();
  }

  get #id(): number {
    return this.#options.states[this.#chosen]?.id ?? 0;
  }

  async #load(): Promise<void> {
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      for (let id = this.#id; !this.#loaded.has(id); id = this.#id) {
        this.#loaded.set(id, await this.#options.load(id));
        this.#options.redraw();
      }
    } catch (error) {
      this.#options.fail(error);
    } finally {
      this.#isLoading = false;
    }
  }

  key(name: string, size: ScreenSize): number | 'q' | 'interrupt' | undefined {
    if (name === 'interrupt') return name;
    if (this.#isAsking) {
      // A yes does not count before the changes have been shown.
      if (name === 'y') return this.#loaded.has(this.#id) ? this.#id : undefined;
      this.#isAsking = false;
      return undefined;
    }
    const last = this.#options.states.length - 1;
    const page = Math.max(1, changesSize(size).rows - 1);
    if (name === 'q' || name === 'escape') return 'q';
    if (name === 'enter') this.#isAsking = true;
    else if (name === 'up' || name === 'k') this.#choose(this.#chosen - 1);
    else if (name === 'down' || name === 'j') this.#choose(this.#chosen + 1);
    else if (name === 'home') this.#choose(0);
    else if (name === 'end') this.#choose(last);
    else if (name === 'page-down' || name === 'space') this.#scroll(page, size);
    else if (name === 'page-up' || name === 'b') this.#scroll(-page, size);
    return undefined;
  }

  #choose(index: number): void {
    this.#chosen = Math.max(0, Math.min(this.#options.states.length - 1, index));
    this.#scrolled = 0;
    void this.#load();
  }

  #scroll(rows: number, size: ScreenSize): void {
    const { columns, rows: shown } = changesSize(size);
    const hidden = this.#changes(columns).length - shown;
    this.#scrolled = Math.max(0, Math.min(hidden, this.#scrolled + rows));
  }

  lines(size: ScreenSize): string[] {
    const { title, style } = this.#options;
    const [list, changes] = [listSize(size), changesSize(size)];
    const states = this.#listLines(list);
    const changed = this.#changeLines(changes);
    const body = isBeside(size)
      ? Array.from({ length: changes.rows }, (_, row) => {
          const cell = states[row] ?? ' '.repeat(list.columns);
          return `${cell} ${style.dim('|')} ${changed[row] ?? ''}`;
        })
      : [...states, style.dim('-'.repeat(size.columns)), ...changed];
    const foot = this.#isAsking
      ? style.heading(cutTo(`Go back to the state after ${this.#id}? [y,n] (undo takes it back)`, size.columns))
      : style.dim(cutTo('Up/Down choose  PgUp/PgDn scroll the changes  Enter goes back  q leaves', size.columns));
    return [style.heading(cutTo(title, size.columns)), ...body, foot];
  }

  #listLines({ columns, rows }: ScreenSize): string[] {
    const { states, style } = this.#options;
    const first = Math.max(0, Math.min(this.#chosen - Math.floor(rows / 2), states.length - rows));
    return states.slice(first, first + rows).map(({ text }, index) => {
      const isChosen = first + index === this.#chosen;
      const cut = cutTo(`${isChosen ? '>' : ' '} ${text}`, columns);
      const line = cut + ' '.repeat(Math.max(0, columns - widthOf(cut)));
      return isChosen ? style.name(line) : line;
    });
  }

  #changeLines({ columns, rows }: ScreenSize): string[] {
    return this.#changes(columns).slice(this.#scrolled, this.#scrolled + rows);
  }

  /** Returns the whole title of the chosen state and the sum, on as many lines as they need, then the changed lines. */
  #changes(columns: number): string[] {
    const { states, style } = this.#options;
    const title = foldText(states[this.#chosen]?.title ?? '', columns).map((line) => style.heading(line));
    const loaded = this.#loaded.get(this.#id);
    if (loaded === undefined) return [...title, '…'];
    const lines = loaded.lines.map((line) => painted(cutTo(line, columns), style));
    return [...title, ...foldText(loaded.sum, columns), ...(lines.length === 0 ? [] : ['', ...lines])];
  }
}

function painted(line: string, style: Style): string {
  if (/^(?:diff |--- |\+\+\+ )/.test(line)) return style.heading(line);
  if (line.startsWith('@@')) return style.moved(line);
  if (line.startsWith('+')) return style.added(line);
  return line.startsWith('-') ? style.removed(line) : line;
}

const isBeside = ({ columns }: ScreenSize): boolean => columns >= MIN_COLUMNS_BESIDE;

/** Returns the number of rows between the first line and the last. */
const bodyRows = ({ rows }: ScreenSize): number => Math.max(1, rows - 2);

function listSize(size: ScreenSize): ScreenSize {
  if (isBeside(size))
    return { columns: Math.min(MAX_LIST_COLUMNS, Math.floor(size.columns * 0.4)), rows: bodyRows(size) };
  return { columns: size.columns, rows: Math.max(1, Math.floor(bodyRows(size) / 3)) };
}

function changesSize(size: ScreenSize): ScreenSize {
  const list = listSize(size);
  if (isBeside(size)) return { columns: Math.max(1, size.columns - list.columns - 3), rows: bodyRows(size) };
  return { columns: size.columns, rows: Math.max(0, bodyRows(size) - list.rows - 1) };
}
