import { isFsError, type SyncFileSystem } from '@scratchfs/core';
import type { Random } from '@scratchfs/testkit';
import type { SandboxConfig } from '../config.js';
import type { DeriveOptions } from '../derive.js';
import { Sandbox } from '../sandbox.js';
import { memory } from './memory.js';

type Child = Sandbox<SyncFileSystem>;

const NAMES = ['a', 'b', 'ab', 'a.md', 'b.ts', '.h', 'a_evil'];

/** Returns a path of up to four names; sometimes an invalid one. */
function somePath(random: Random): string {
  if (random.chance(0.03))
    return random.pick(['..', '/..', '/a/../..', '~', 'C:\\', '//a', '', '/', '.', 'n', 'm:a', '\0', '/a/./b']);
  const names = Array.from({ length: random.below(5) }, () => random.pick(NAMES));
  return `/${names.join(random.chance(0.03) ? '\\' : '/')}`;
}

/** Returns a tree of directories, files, links to anywhere, and sometimes a second name of a file. */
function someTree(random: Random): SyncFileSystem {
  const fileSystem = memory();
  for (let i = 0; i < 25; i++) change(fileSystem, random);
  return fileSystem;
}

/** Makes one change as the owner of the tree. */
export function change(fileSystem: SyncFileSystem, random: Random): void {
  const [path, other] = [somePath(random), somePath(random)];
  const changes: (() => unknown)[] = [
    () => fileSystem.mkdirSync(path, { recursive: true }),
    () => fileSystem.mkdirSync(path, { recursive: true }),
    () => fileSystem.writeFileSync(path, `content of ${path}`),
    () => fileSystem.writeFileSync(path, `content of ${path}`),
    () => fileSystem.symlinkSync(random.chance(0.5) ? other : `..${other}`, path),
    () => fileSystem.renameSync(path, other),
    () => fileSystem.linkSync(path, other),
    () => fileSystem.rmSync(path, { recursive: true }),
  ];
  try {
    random.pick(changes)();
  } catch (error) {
    if (!isFsError(error) && !(error instanceof TypeError)) throw error;
  }
}

/** Patterns for `deny`: by name, by path, with an exception, but not with exceptions only, which are refused. */
function someDeny(random: Random): string[] {
  const hiding = ['ab', '*.md', '/a/b', '/n/ab', '.h', '**/a/*.ts', 'A_*', '/b/**'];
  const others = Array.from({ length: random.below(3) }, () => random.pick([...hiding, '!a.md']));
  return [random.pick(hiding), ...others];
}

function someConfig(random: Random): SandboxConfig {
  const rest = random.chance(0.2) ? { suffixes: ['.md', ''] } : {};
  const deny = random.chance(0.3) ? someDeny(random) : undefined;
  const root = (): string => random.pick(['/', '/a', '/a/b', '/b']);
  if (random.chance(0.6)) return { root: { root: root(), readonly: random.chance(0.2), ...rest }, deny };
  const mode = (): 'ro' | 'rw' => random.pick(['ro', 'rw']);
  return {
    deny,
    paths: { n: { root: '/a', mode: mode(), ...rest }, m: { root: random.pick(['/b', '/a/b', '/']), mode: mode() } },
  };
}

/** Returns random options for `derive`, valid and invalid ones. */
function someOptions(random: Random): DeriveOptions {
  const entry = (): string => (random.chance(0.3) ? random.pick(['n', 'm', 'n/a', 'm:b', 'n:a/b']) : somePath(random));
  const entries = (): unknown => (random.chance(0.5) ? entry() : Array.from({ length: random.below(4) }, entry));
  const dressed = (value: unknown): unknown =>
    random.chance(0.02) ? random.pick(['false', 1, {}, [[]], new Proxy({}, {})]) : value;
  const options: Record<string, unknown> = {};
  if (random.chance(0.6)) options['allowRead'] = dressed(entries());
  if (random.chance(0.5)) options['allowWrite'] = dressed(entries());
  if (random.chance(0.3)) options['readonly'] = dressed(random.chance(0.7));
  if (random.chance(0.6)) options['inherit'] = dressed(true);
  if (random.chance(0.3)) options['deny'] = dressed(someDeny(random));
  return random.chance(0.02) ? (Object.create(options) as DeriveOptions) : (options as DeriveOptions);
}

/** Success of a call, and its result. */
interface Result {
  readonly isDone: boolean;
  readonly answer?: unknown;
}

function tried(work: () => unknown): Result {
  try {
    return { isDone: true, answer: work() };
  } catch (error) {
    if (isFsError(error) || error instanceof TypeError || error instanceof RangeError) return { isDone: false };
    throw error;
  }
}

type Look = (sandbox: Child, path: string, other: string) => unknown;

/** Probes that a child must not pass if its parent fails. Changes are made in forks, which carry the policy. */
const PROBES: readonly Look[] = [
  (sandbox, path) => sandbox.readSync(path).content,
  (sandbox, path) => sandbox.fileSystem.readTextSync(path),
  (sandbox, path) => sandbox.fileSystem.existsSync(path) || refuse(),
  (sandbox, path) => sandbox.fileSystem.lstatSync(path).kind,
  (sandbox, path) => sandbox.fileSystem.readlinkSync(path),
  (sandbox, path) => sandbox.fileSystem.realpathSync(path),
  (sandbox, path) => sandbox.fileSystem.readdirSync(path),
  (sandbox, path) => [...sandbox.fileSystem.walkSync(path)].map((each) => each.path),
  (sandbox, path) => sandbox.canReadSync(path) || refuse(),
  (sandbox, path) => sandbox.canWriteSync(path) || refuse(),
  (sandbox, path) => sandbox.resolveSync(path),
  (sandbox, path) => sandbox.listFilesSync(path),
  (sandbox, path) => sandbox.fileSystem.forkSync().writeFileSync(path, 'x'),
  (sandbox, path) => sandbox.fileSystem.forkSync().rmSync(path, { recursive: true }),
  (sandbox, path) => sandbox.fileSystem.forkSync().mkdirSync(path),
  (sandbox, path, other) => sandbox.fileSystem.forkSync().renameSync(path, other),
  (sandbox, path, other) => sandbox.fileSystem.forkSync().linkSync(path, other),
  (sandbox, path, other) => sandbox.fileSystem.forkSync().cpSync(path, other, { recursive: true }),
  (sandbox, path, other) => sandbox.fileSystem.forkSync().symlinkSync(other, path),
];

function refuse(): never {
  throw new TypeError('no');
}

/**
 * Reports whether a child's result is allowed: a list may be shorter with less access; any other result must be equal.
 */
function isWithinAnswer(child: unknown, parent: unknown): boolean {
  if (!Array.isArray(child) || !Array.isArray(parent)) return child === parent;
  return child.every((item) => parent.includes(item));
}

export interface Probed {
  readonly probes: number;
  /** Number of probes that succeeded for a child. */
  readonly allowed: number;
  readonly wrong: readonly string[];
}

/**
 * Probes one tree and one chain of sandboxes: compares a random child with its parent each time, and sometimes changes
 * the tree or lengthens the chain in between.
 */
export function probeChain(random: Random, count: number): Probed {
  const fileSystem = someTree(random);
  const chain: Child[] = [new Sandbox(fileSystem, someConfig(random))];
  const wrong: string[] = [];
  let allowed = 0;
  for (let probes = 0; probes < count; probes++) {
    if (random.chance(0.02)) change(fileSystem, random);
    if (chain.length < 2 || (chain.length < 6 && random.chance(0.01))) {
      const parent = chain.at(-1) as Child;
      const next = tried(() => parent.deriveSync(someOptions(random)));
      chain.push(next.isDone ? (next.answer as Child) : parent.deriveSync({ inherit: true }));
    }
    const at = 1 + random.below(chain.length - 1);
    const [path, other] = [somePath(random), somePath(random)];
    const index = random.below(PROBES.length);
    const ask = PROBES[index] as Look;
    const child = tried(() => ask(chain[at] as Child, path, other));
    if (!child.isDone) continue;
    allowed += 1;
    const parent = tried(() => ask(chain[at - 1] as Child, path, other));
    if (!parent.isDone || !isWithinAnswer(child.answer, parent.answer)) {
      wrong.push(`probe ${index} at ${path}, ${other}: child ${String(child.answer)}, parent ${String(parent.answer)}`);
    }
  }
  return { probes: count, allowed, wrong };
}
