import type { OpenFlag } from '@scratchfs/core';
import type { Data } from './data.js';
import { ModelFileSystem } from './model/model-file-system.js';
import {
  DISK_OPERATIONS,
  type OperationName,
  SLOTS,
  type Step,
  type StepsOptions,
  TARGET_KINDS,
  type TargetKind,
} from './operations.js';
import { applySync, type Handles } from './play.js';
import { Random } from './random.js';
import { Targets } from './targets.js';

const RELATED: readonly TargetKind[] = ['own-ancestor', 'own-descendant', 'same'];
const FIRST_KINDS = TARGET_KINDS.filter((kind) => !RELATED.includes(kind));

const FILES: readonly TargetKind[] = [
  'file',
  'empty-file',
  'large-file',
  'hard-link',
  'executable',
  'open-file',
  'link-to-file',
  'link-to-link',
];
const DIRECTORIES: readonly TargetKind[] = [
  'empty-directory',
  'full-directory',
  'deep-directory',
  'root',
  'link-to-directory',
];
const FREE: readonly TargetKind[] = ['missing', 'missing', 'hostile-name', 'long-name', 'through-link'];
const LINKS: readonly TargetKind[] = [
  'link-to-file',
  'link-to-directory',
  'link-to-link',
  'dangling-link',
  'link-loop',
  'long-link-chain',
];
const ANY: readonly TargetKind[] = [...FILES, ...DIRECTORIES];

/**
 * Kinds of targets on which each operation probably succeeds: some steps aim there, the others at every kind in turn.
 */
const LIKELY: Partial<Record<OperationName, readonly TargetKind[]>> = {
  readlink: LINKS,
  lstat: [...ANY, ...LINKS],
  lchown: [...ANY, ...LINKS],
  lutimes: [...ANY, ...LINKS],
  readdir: DIRECTORIES,
  entries: DIRECTORIES,
  walk: DIRECTORIES,
  mkdir: FREE,
  symlink: FREE,
  rmdir: ['empty-directory'],
  unlink: [...FILES, ...LINKS],
  rm: ['file', 'empty-directory', 'full-directory', ...LINKS],
  access: ANY,
  realpath: ANY,
  stat: ANY,
  getEntry: ANY,
  chmod: ANY,
  chown: ANY,
  utimes: ANY,
  rename: [...FILES, 'empty-directory', 'full-directory', 'deep-directory', ...LINKS],
  cp: [...FILES, 'empty-directory', 'full-directory'],
};
const LIKELY_SECOND: readonly TargetKind[] = [...FREE, 'file', 'empty-directory', 'link-to-file'];

const MODES = [0o644, 0o600, 0o755, 0o777, 0o444, 0o000, 0o111, 0o640];
const TIMES = [0, 1, 1000, 1_000_000_000_000, 1_234_567_890_123, -1_000, 4_000_000_000_000];
const LENGTHS = [0, 1, 3, 10, 300, 5000, 70_000];
const POSITIONS = [null, null, 0, 1, 5, 100, 4096, 66_000];
const FLAGS: readonly OpenFlag[] = ['r', 'r+', 'w', 'wx', 'w+', 'wx+', 'a', 'ax', 'a+', 'ax+'];
const TEXTS = [
  '',
  'x',
  'one\ntwo\r\nthree',
  'needle',
  'needle in a needle\n',
  'ünïcödé 😀\n',
  '\r\n\r\n',
  '\ufeffmark',
  'a'.repeat(300),
];
const HANDLE_OPERATIONS: readonly OperationName[] = [
  'read',
  'write',
  'handleReadFile',
  'handleWriteFile',
  'handleTruncate',
  'handleStat',
  'handleChmod',
  'handleUtimes',
  'close',
];
const CHECKPOINTS = ['first', 'second', '__proto__'];

/**
 * Yields operations as plain data, always the same for a seed and options. Every operation on a path is aimed at every
 * kind of target in turn; the steps that prepare it are included and counted.
 */
export function* steps(seed: number, count: number, options: StepsOptions = {}): Generator<Step, void, undefined> {
  const writer = new StepWriter(new Random(seed), options);
  for (let made = 0; made < count; ) {
    for (const step of writer.write()) {
      if (made === count) return;
      made += 1;
      yield step;
    }
  }
}

class StepWriter {
  readonly #model = new ModelFileSystem();
  readonly #handles: Handles = new Map();
  readonly #targets: Targets;
  readonly #bags = new Map<string, unknown[]>();
  readonly #operations: readonly OperationName[];
  readonly #dressing: number;
  readonly #maxNodes: number;
  readonly #largeSize: number;
  #steps: Step[] = [];

  constructor(
    private readonly random: Random,
    private readonly options: StepsOptions,
  ) {
    this.#operations = options.operations ?? DISK_OPERATIONS;
    this.#dressing = options.dressing ?? 0.03;
    this.#maxNodes = options.maxNodes ?? 80;
    this.#largeSize = options.largeSize ?? 70_000;
    this.#targets = new Targets(this.#model, this.#handles, random, this.#largeSize, (step) => this.#emit(step));
  }

  /** Returns one aimed step, after the steps that prepare it or keep the tree small. */
  write(): Step[] {
    this.#steps = [];
    this.#targets.refresh();
    if (this.#targets.count > this.#maxNodes) this.#prune();
    this.#emit(this.#step(this.#draw('operation', this.#operations)));
    return this.#steps;
  }

  #emit(step: Step): void {
    this.#steps.push(step);
    applySync(this.#model, step, this.#handles);
  }

  #prune(): void {
    while (this.#targets.count > this.#maxNodes / 2) {
      const path = this.random.pick(this.#model.readdir('/') as string[]);
      this.#emit({ op: 'rm', args: { path: `/${path}`, recursive: true, force: false } });
      this.#targets.refresh();
    }
  }

  /** Draws an item without replacement: no item repeats before every other one was drawn. */
  #draw<T>(name: string, items: readonly T[]): T {
    let bag = this.#bags.get(name) as T[] | undefined;
    if (bag === undefined || bag.length === 0) this.#bags.set(name, (bag = [...items]));
    const index = this.random.below(bag.length);
    const [item] = bag.splice(index, 1);
    return item as T;
  }

  #first(op: OperationName): { path: string; target: TargetKind } {
    const likely = this.random.chance(0.4);
    const target = likely ? this.random.pick(LIKELY[op] ?? FILES) : this.#draw(`first ${op}`, FIRST_KINDS);
    return { path: this.#dress(this.#targets.aim(target)), target };
  }
  #pair(op: OperationName): { from: string; to: string; target: TargetKind; target2: TargetKind } {
    const target = this.random.chance(0.15)
      ? this.random.pick(LIKELY[op] ?? FILES)
      : this.#draw(`first ${op}`, FIRST_KINDS);
    const from = this.#targets.aim(target);
    const target2 = this.random.chance(0.6)
      ? this.random.pick(LIKELY_SECOND)
      : this.#draw(`second ${op}`, TARGET_KINDS);
    return { from: this.#dress(from), to: this.#dress(this.#targets.aim(target2, from)), target, target2 };
  }

  #step(op: OperationName): Step {
    const { random } = this;
    if (HANDLE_OPERATIONS.includes(op)) return this.#handleStep(op);
    switch (op) {
      case 'cp': {
        const { target, target2, ...paths } = this.#pair(op);
        const args = {
          ...paths,
          recursive: random.chance(0.8),
          force: random.chance(0.7),
          errorOnExist: random.chance(0.3),
        };
        return { op, args, target, target2 };
      }
      case 'copyFile': {
        const { target, target2, ...paths } = this.#pair(op);
        return { op, args: { ...paths, exclusive: random.chance(0.2) }, target, target2 };
      }
      case 'rename':
      case 'link': {
        const { target, target2, ...paths } = this.#pair(op);
        return { op, args: paths, target, target2 };
      }
      case 'stats':
        return { op, args: {} };
      case 'checkpoint':
      case 'rollback':
      case 'drop':
        return { op, args: { name: random.pick(CHECKPOINTS) } };
      default:
        return this.#pathStep(op);
    }
  }

  #pathStep(op: OperationName): Step {
    const { random } = this;
    const { path, target } = this.#first(op);
    switch (op) {
      case 'access':
        return { op, args: { path, mode: random.pick([0, 1, 2, 4, 7]) }, target };
      case 'writeFile':
        return {
          op,
          args: {
            path,
            data: this.#data(),
            flag: random.pick(['w', 'w', 'wx', 'r+', 'a', 'ax']),
            mode: random.pick(MODES),
          },
          target,
        };
      case 'writeLines':
        return { op, args: { path, lines: random.pick([[], [''], ['one', 'two'], ['ü', '', '😀']]) }, target };
      case 'appendFile':
        return { op, args: { path, data: this.#data() }, target };
      case 'editFile': {
        const search = random.pick(['needle', 'two', 'x', 'a', '\n', 'absent']);
        return {
          op,
          args: { path, search, replacement: random.pick(['', 'thread', '$&', 'needle']), all: random.chance(0.5) },
          target,
        };
      }
      case 'truncate':
        return { op, args: { path, length: random.pick(LENGTHS) }, target };
      case 'mkdir':
        return { op, args: { path, recursive: random.chance(0.5), mode: random.pick(MODES) }, target };
      case 'rm':
        return { op, args: { path, recursive: random.chance(0.6), force: random.chance(0.4) }, target };
      case 'symlink':
        return { op, args: { target: this.#linkText(path), path }, target };
      case 'chmod':
        return { op, args: { path, mode: random.pick(MODES) }, target };
      case 'chown':
      case 'lchown':
        return { op, args: { path, uid: random.pick([0, 1, 1000]), gid: random.pick([0, 1, 1000]) }, target };
      case 'utimes':
      case 'lutimes':
        return { op, args: { path, atime: random.pick(TIMES), mtime: random.pick(TIMES) }, target };
      case 'open':
        return {
          op,
          args: { slot: random.below(SLOTS), path, flags: this.#draw('flags', FLAGS), mode: random.pick(MODES) },
          target,
        };
      default:
        return { op, args: { path }, target } as Step;
    }
  }

  #handleStep(op: OperationName): Step {
    const { random } = this;
    if (this.#handles.size === 0 || random.chance(0.1)) this.#openSomething();
    const slot = this.#handles.size === 0 ? 0 : random.pick([...this.#handles.keys()]);
    switch (op) {
      case 'read':
        return { op, args: { slot, length: random.pick(LENGTHS), position: random.pick(POSITIONS) } };
      case 'write':
        return { op, args: { slot, data: this.#data(), position: random.pick(POSITIONS) } };
      case 'handleWriteFile':
        return { op, args: { slot, data: this.#data() } };
      case 'handleTruncate':
        return { op, args: { slot, length: random.pick(LENGTHS) } };
      case 'handleChmod':
        return { op, args: { slot, mode: random.pick(MODES) } };
      case 'handleUtimes':
        return { op, args: { slot, atime: random.pick(TIMES), mtime: random.pick(TIMES) } };
      default:
        return { op, args: { slot } } as Step;
    }
  }
  #openSomething(): void {
    const target = this.random.pick(FILES);
    const path = this.#targets.aim(target);
    const flags = this.random.pick<OpenFlag>(['r', 'r+', 'r+', 'w+', 'a', 'a+']);
    this.#emit({ op: 'open', args: { slot: this.random.below(SLOTS), path, flags, mode: 0o644 }, target });
  }

  #data(): Data {
    const { random } = this;
    if (random.chance(0.03)) return { size: this.#largeSize, fill: random.below(256) };
    return random.chance(0.3)
      ? { size: random.pick([1, 10, 255, 4096, 5000]), fill: random.below(256) }
      : random.pick(TEXTS);
  }
  #linkText(path: string): string {
    const { random } = this;
    const to = this.#targets.aim(this.#draw('link text', FIRST_KINDS));
    const absolute = (this.options.absoluteLinks ?? true) && random.chance(0.3);
    // A rewritten path may change where the text leads, which is fine.
    const text = this.#targets.targetText(path.startsWith('/') ? path : `/${path}`, to, absolute);
    return random.chance(0.1)
      ? random.pick(['.', '..', './.', '../..', 'a/../b', 'a/', '../a/./b', 'a//b', '__proto__'])
      : text;
  }

  /** Sometimes writes a path in another, equivalent spelling. */
  #dress(path: string): string {
    const { random } = this;
    if (!random.chance(this.#dressing)) return path;
    switch (random.below(6)) {
      case 0:
        return path.replaceAll('/', '//');
      case 1:
        return `/.${path}`;
      case 2:
        return `/nowhere/..${path}`;
      case 3:
        return `${path}/`;
      case 4:
        return path.replaceAll('/', '\\');
      default:
        return path === '/' ? '.' : path.slice(1);
    }
  }
}
