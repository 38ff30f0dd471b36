import type { FileSystem } from '@scratchfs/core';
import {
  applySync,
  differences,
  dumpSync,
  type ModelFileSystem,
  type Outcome,
  type Random,
  type Step,
} from '@scratchfs/testkit';

/** One operation as its client saw it. */
export interface Event {
  readonly client: number;
  readonly step: Step;
  /** How many commits had been applied when it began, and when it was answered. */
  readonly began: number;
  ended: number;
  outcome: Outcome | undefined;
  /** The places of its own commits in the order of all. */
  readonly commits: number[];
}

/**
 * What no order explains; empty where the history is linearizable. Replays the commits in their order on the model, and looks for a
 * place for everything else between its call and its answer.
 */
export function explain(model: ModelFileSystem, events: readonly Event[], order: readonly Event[]): string[] {
  const problems: string[] = [];
  const states: ModelFileSystem[] = [model.fork()];
  for (const [place, event] of order.entries()) {
    const outcome = applySync(model, event.step, new Map());
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
      const state = (states[place] as ModelFileSystem).fork();
      const before = dumpSync(state);
      found = same(outcome, applySync(state, event.step, new Map()));
      // What was not committed must be nothing to do.
      if (found && !('error' in outcome)) found = differences(plain(before), plain(dumpSync(state))).length === 0;
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
  return JSON.stringify(a) === JSON.stringify(b);
}

function describe(event: Event): string {
  return `client ${event.client} ${JSON.stringify(event.step)} -> ${JSON.stringify(event.outcome)}`;
}

/** Times are not compared: the moment of an operation is within it, the order of two is not said. */
export function plain(state: ReturnType<typeof dumpSync>): ReturnType<typeof dumpSync> {
  const entries = state.entries.map((entry) => ({
    ...entry,
    accessedAt: 0,
    modifiedAt: 0,
    changedAt: 0,
    createdAt: 0,
  }));
  return { entries, stats: state.stats };
}

const DIRECTORIES = ['/a', '/b', '/a/c'];
const NAMES = ['x', 'y', 'z', 'c'];

export async function plant(fs: FileSystem): Promise<void> {
  await fs.mkdir('/a/c', { recursive: true });
  await fs.mkdir('/b');
  await fs.writeFile('/log', '');
}
export function plantModel(model: ModelFileSystem): void {
  model.mkdir('/a/c', { recursive: true });
  model.mkdir('/b');
  model.writeFile('/log', '');
}

/** Few names, so that clients meet; each value is written once in a history. */
export function randomStep(random: Random, value: string): Step {
  const path = (): string => (random.chance(0.2) ? '/log' : `${random.pick(DIRECTORIES)}/${random.pick(NAMES)}`);
  const both = { mode: 0o644 } as const;
  switch (random.below(16)) {
    case 0:
    case 1:
    case 2:
      return { op: 'appendFile', args: { path: '/log', data: `${value} ` } };
    case 3:
    case 4:
      return { op: 'writeFile', args: { path: path(), data: value, flag: 'w', ...both } };
    case 5:
      return { op: 'writeFile', args: { path: path(), data: value, flag: 'wx', ...both } };
    case 6:
      return { op: 'appendFile', args: { path: path(), data: `${value} ` } };
    case 7:
      return { op: 'rename', args: { from: path(), to: path() } };
    case 8:
      return { op: 'rename', args: { from: random.pick(['/a/c', '/b']), to: random.pick(['/a/c', '/b', '/b/c']) } };
    case 9:
      return { op: 'unlink', args: { path: path() } };
    case 10:
      return {
        op: 'mkdir',
        args: { path: random.pick(['/a/c', '/b', '/b/c']), recursive: random.chance(0.5), mode: 0o755 },
      };
    case 11:
      return random.chance(0.5)
        ? { op: 'rmdir', args: { path: random.pick(['/a/c', '/b', '/b/c']) } }
        : { op: 'rm', args: { path: random.pick(['/a/c', '/b']), recursive: true, force: random.chance(0.5) } };
    case 12:
      return { op: 'cp', args: { from: path(), to: path(), recursive: true, force: true, errorOnExist: false } };
    case 13:
      return { op: 'readdir', args: { path: random.pick([...DIRECTORIES, '/']) } };
    default:
      return { op: 'readFile', args: { path: path() } };
  }
}
