import { type Dump, differences, dumpSync, type ModelFileSystem, type Outcome } from '@scratchfs/testkit';
import { type HistoryStep, playOnModel } from './history-steps.js';

/** One operation as its client saw it. */
export interface Event {
  readonly client: number;
  readonly step: HistoryStep;
  /** The number of commits applied when it began, and when it ended. */
  readonly began: number;
  ended: number;
  outcome: Outcome | undefined;
  /** The positions of its own commits among all. */
  readonly commits: number[];
}

/**
 * Returns the outcomes that no order explains; empty if the history is linearizable. Replays the commits in order on
 * the model and looks for a position for every other operation between its call and its return.
 */
export function explain(model: ModelFileSystem, events: readonly Event[], order: readonly Event[]): string[] {
  const problems: string[] = [];
  const states: ModelFileSystem[] = [model.fork()];
  for (const [place, event] of order.entries()) {
    const outcome = playOnModel(model, event.step);
    states.push(model.fork());
    const heard = event.outcome;
    if (heard === undefined) continue;
    if (isUnknown(heard)) continue;
    if (!same(heard, outcome))
      problems.push(`${describe(event)} was applied as commit ${place}: the model answers ${JSON.stringify(outcome)}`);
  }
  for (const event of events) {
    const { outcome, commits } = event;
    if (outcome === undefined) continue;
    if (commits.length > 1) problems.push(`${describe(event)} was applied ${commits.length} times`);
    if (commits.length > 0) {
      if ((commits[0] as number) < event.began) problems.push(`${describe(event)} was applied before it began`);
      if (!isUnknown(outcome) && (commits[0] as number) >= event.ended)
        problems.push(`${describe(event)} was applied after it had been answered`);
      continue;
    }
    if (isUnknown(outcome)) continue;
    let found = false;
    for (let place = event.began; place <= event.ended && !found; place++) {
      const before = states[place] as ModelFileSystem;
      const state = before.fork();
      found = same(outcome, playOnModel(state, event.step));
      // Without a commit, the operation must have had nothing to do.
      if (found && !('error' in outcome))
        found = differences(plain(dumpSync(before)), plain(dumpSync(state))).length === 0;
    }
    if (!found) problems.push(`${describe(event)} has no place between commits ${event.began} and ${event.ended}`);
    if (problems.length > 5) break;
  }
  return problems;
}

export function isUnknown(outcome: Outcome): boolean {
  return 'error' in outcome && (outcome.error.startsWith('storage:') || outcome.error === 'AbortError');
}

export function same(a: Outcome, b: Outcome): boolean {
  return JSON.stringify(a, withoutTimes) === JSON.stringify(b, withoutTimes);
}

/**
 * Times are not compared: the clock is read during an operation, and concurrent operations read it in no defined order.
 */
function withoutTimes(key: string, value: unknown): unknown {
  return /^(accessed|modified|changed|created)At$/.test(key) ? 0 : value;
}

function describe(event: Event): string {
  return `client ${event.client} ${JSON.stringify(event.step)} -> ${JSON.stringify(event.outcome)}`;
}

/** Returns a state without its times. */
export function plain(state: Dump): Dump {
  return JSON.parse(JSON.stringify(state, withoutTimes)) as Dump;
}
