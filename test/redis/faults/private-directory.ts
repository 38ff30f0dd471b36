import type { FileSystem } from '@scratchfs/core';
import { type Dump, differences, dumpSync, ModelFileSystem, type Random } from '@scratchfs/testkit';
import { isUnknown, plain, same } from '../../faults/history.js';
import { type HistoryStep, play, playOnModel, randomStep } from '../../faults/history-steps.js';

const MAX_POSSIBLE_STATES = 64;

/**
 * A writer that is alone in its directory and therefore knows the expected content. An operation with a result has been
 * applied; an operation whose result was lost may or may not have been.
 */
export class PrivateDirectory {
  /** The possible states: one, until a result is lost. */
  #states: ModelFileSystem[];
  #operations = 0;
  acknowledged = 0;
  unanswered = 0;
  readonly problems: string[] = [];

  constructor(
    private readonly fs: FileSystem,
    readonly directory: string,
    private readonly random: Random,
  ) {
    this.#states = [new ModelFileSystem()];
  }

  /** Creates the directory, before any fault is injected. */
  async begin(): Promise<void> {
    for (const path of ['', '/a', '/a/c', '/b']) {
      await this.fs.mkdir(this.directory + path);
      this.#states[0]?.mkdir(this.directory + path);
    }
    await this.fs.writeFile(`${this.directory}/log`, '');
    this.#states[0]?.writeFile(`${this.directory}/log`, '');
  }

  /** Runs one random operation. */
  async step(): Promise<void> {
    this.#operations += 1;
    const step = within(this.directory, randomStep(this.random, `${this.directory}.${this.#operations}`));
    const outcome = await play(this.fs, step);
    const after = this.#states.map((state) => {
      const next = state.fork();
      return { next, answer: playOnModel(next, step) };
    });
    if (isUnknown(outcome)) {
      this.unanswered += 1;
      this.#states = distinct([...this.#states, ...after.map(({ next }) => next)]);
      return;
    }
    this.acknowledged += 1;
    const possible = after.filter(({ answer }) => same(answer, outcome));
    if (possible.length === 0)
      this.problems.push(
        `${JSON.stringify(step)} answered ${JSON.stringify(outcome)}, not ${JSON.stringify(after[0]?.answer)}`,
      );
    this.#states = distinct((possible.length === 0 ? after : possible).map(({ next }) => next));
  }

  /** Compares the expected content with the real state. */
  check(there: Dump): void {
    const mine = onlyIn(this.directory, there);
    const found = this.#states.map((state) => differences(onlyIn(this.directory, dumpSync(state)), mine));
    const index = found.findIndex((lines) => lines.length === 0);
    if (index < 0) this.problems.push(`${this.directory}: ${found[0]?.slice(0, 4).join('; ')}`);
    const state = this.#states[Math.max(index, 0)] as ModelFileSystem;
    this.#states = [state];
  }
}

function within(directory: string, step: HistoryStep): HistoryStep {
  const args = Object.entries(step.args).map(([key, value]) => {
    if (key === 'pattern') return [key, `${directory}/${value}`];
    return ['path', 'from', 'to'].includes(key)
      ? [key, value === '/' ? directory : `${directory}${value}`]
      : [key, value];
  });
  return { ...step, args: Object.fromEntries(args) } as HistoryStep;
}

const NOTHING = { totalSize: 0, fileCount: 0, directoryCount: 0, nodeCount: 0 };

function onlyIn(directory: string, state: Dump): Dump {
  const { entries } = plain(state);
  return {
    entries: entries.filter(({ path }) => path === directory || path.startsWith(`${directory}/`)),
    stats: NOTHING,
  };
}

function distinct(states: readonly ModelFileSystem[]): ModelFileSystem[] {
  const known = new Map(states.map((state) => [JSON.stringify(plain(dumpSync(state)).entries), state]));
  if (known.size > MAX_POSSIBLE_STATES) throw new Error('Too many answers were lost to say what may be there');
  return [...known.values()];
}
