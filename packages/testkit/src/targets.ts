import type { ModelFileSystem } from './model/model-file-system.js';
import type { ModelHandle } from './model/model-handle.js';
import { HOSTILE_NAMES, LONG_NAMES, TOO_LONG_NAMES } from './names.js';
import type { Step, TargetKind } from './operations.js';
import type { Random } from './random.js';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
const MAX_DEPTH = 5;

type Listed = ReturnType<ModelFileSystem['nodes']>[number];

/** Finds a path of a given kind in the state of the model, or emits the steps that create one. */
export class Targets {
  #nodes: Listed[] = [];

  constructor(
    private readonly model: ModelFileSystem,
    private readonly handles: ReadonlyMap<number, unknown>,
    private readonly random: Random,
    private readonly largeSize: number,
    private readonly emit: (step: Step) => void,
  ) {}

  /** Reads the state again. Must be called before each step is aimed. */
  refresh(): void {
    this.#nodes = this.model.nodes();
  }

  get count(): number {
    return this.#nodes.length;
  }

  /** Returns a path of the kind. `first` is the other path of the operation, for kinds that relate to it. */
  aim(kind: TargetKind, first = '/'): string {
    const { random } = this;
    switch (kind) {
      case 'root':
        return '/';
      case 'file':
        return (
          this.#find(({ node }) => node.kind === 'file' && node.bytes.length > 0) ?? this.#makeFile('one\ntwo\r\nthree')
        );
      case 'empty-file':
        return this.#find(({ node }) => node.kind === 'file' && node.bytes.length === 0) ?? this.#makeFile('');
      case 'large-file':
        return (
          this.#find(({ node }) => node.bytes.length >= this.largeSize) ??
          this.#makeFile({ size: this.largeSize, fill: random.below(256) })
        );
      case 'executable':
        return (
          this.#find(({ node }) => node.kind === 'file' && (node.mode & 0o111) !== 0) ?? this.#makeFile('#!', 0o755)
        );
      case 'hard-link':
        return this.#find(({ node }) => this.#isLinked(node)) ?? this.#makeHardLink();
      case 'open-file':
        return this.#find(({ node }) => this.#isOpen(node)) ?? this.#makeOpenFile();
      case 'empty-directory':
        return (
          this.#find(({ node }) => node.kind === 'directory' && node.names.size === 0) ??
          this.#makeDirectory(this.fresh())
        );
      case 'full-directory':
        return this.#find(({ node }) => node.names.size > 0) ?? this.#makeFullDirectory();
      case 'deep-directory':
        return (
          this.#find(({ path, node }) => node.kind === 'directory' && depth(path) >= 3) ??
          this.#makeDirectory(`${this.fresh(2)}/x/y`, true)
        );
      case 'link-to-file':
        return this.#findLink((path) => this.model.isFile(path)) ?? this.#makeLink(this.aim('file'));
      case 'link-to-directory':
        return (
          this.#findLink((path) => this.model.isDirectory(path)) ??
          this.#makeLink(this.aim(random.pick(['empty-directory', 'full-directory'])))
        );
      case 'link-to-link':
        return (
          this.#findLink((_, target) => this.#isLink(target)) ??
          this.#makeLink(this.aim(random.pick(['link-to-file', 'link-to-directory'])))
        );
      case 'dangling-link':
        return (
          this.#findLink((path) => errorOf(() => this.model.stat(path)) === 'ENOENT') ??
          this.#makeLink(this.aim(random.pick(['missing', 'missing-parent'])))
        );
      case 'link-loop':
        return this.#findLink((path) => errorOf(() => this.model.stat(path)) === 'ELOOP') ?? this.#makeLoop();
      case 'long-link-chain':
        return this.#findLink((_, target) => target.length > 60) ?? this.#makeChain();
      case 'missing':
        return this.fresh();
      case 'missing-parent':
        return `${this.fresh(2)}/${this.name()}`;
      case 'through-file':
        return `${this.aim('file')}/${this.name()}`;
      case 'through-link':
        return `${this.aim('link-to-directory')}/${this.name()}`;
      case 'through-dangling':
        return `${this.aim('dangling-link')}/${this.name()}`;
      case 'through-loop':
        return `${this.aim('link-loop')}/${this.name()}`;
      case 'hostile-name':
        return this.#named(HOSTILE_NAMES);
      case 'long-name':
        return this.#named(LONG_NAMES);
      case 'too-long-name':
        return join(this.directory(), random.pick(TOO_LONG_NAMES));
      case 'own-ancestor':
        return first.slice(0, Math.max(first.lastIndexOf('/'), 1));
      case 'own-descendant':
        return join(first, this.name());
      case 'same':
        return first;
    }
  }

  /** Returns an existing directory less than `maxDepth` deep. */
  directory(maxDepth = MAX_DEPTH): string {
    return this.#find(({ path, node }) => node.kind === 'directory' && depth(path) < maxDepth, 0.8) ?? '/';
  }

  /** Returns an absent path in an existing directory. */
  fresh(maxDepth = MAX_DEPTH): string {
    for (let attempt = 0; ; attempt++) {
      const path = join(this.directory(maxDepth), attempt < 4 ? this.name() : `n${this.random.below(10000)}`);
      if (errorOf(() => this.model.lstat(path)) === 'ENOENT') return path;
    }
  }

  name(): string {
    return this.random.chance(0.12) ? this.random.pick(HOSTILE_NAMES) : this.random.pick(NAMES);
  }

  /** Returns the target text of a new link that leads, or would lead, to a path. */
  targetText(from: string, to: string, absolute: boolean): string {
    if (absolute) return to;
    const up = '../'.repeat(Math.max(depth(from) - 1, 0));
    return up + to.slice(1) || '.';
  }

  /** Returns a path that meets the condition, if there is one; undefined with a probability of `1 - probability`. */
  #find(condition: (listed: Listed) => boolean, probability = 0.92): string | undefined {
    if (!this.random.chance(probability)) return undefined;
    const count = this.#nodes.length;
    const start = count === 0 ? 0 : this.random.below(count);
    for (let i = 0; i < count; i++) {
      const listed = this.#nodes[(start + i) % count] as Listed;
      if (condition(listed)) return listed.path;
    }
    return undefined;
  }
  #findLink(condition: (path: string, target: string) => boolean): string | undefined {
    return this.#find(({ path, node }) => node.kind === 'symlink' && condition(path, node.target));
  }
  #isLink(target: string): boolean {
    return (
      target !== '' &&
      !target.startsWith('.') &&
      this.#nodes.some(({ path, node }) => node.kind === 'symlink' && path.endsWith(target) && this.model.exists(path))
    );
  }
  #isLinked(node: Listed['node']): boolean {
    return node.kind === 'file' && this.#nodes.filter((listed) => listed.node === node).length > 1;
  }
  #isOpen(node: Listed['node']): boolean {
    return [...this.handles.values()].some((handle) => (handle as ModelHandle).node === node);
  }

  #named(names: readonly string[]): string {
    const found = this.random.chance(0.6)
      ? this.#find(({ path }) => names.includes(path.slice(path.lastIndexOf('/') + 1)))
      : undefined;
    return found ?? join(this.directory(), this.random.pick(names));
  }

  #made(step: Step, path: string): string {
    this.emit(step);
    this.refresh();
    return path;
  }
  #makeFile(data: string | { size: number; fill: number }, mode = 0o644): string {
    const path = this.fresh();
    return this.#made({ op: 'writeFile', args: { path, data, flag: 'wx', mode }, target: 'missing' }, path);
  }
  #makeHardLink(): string {
    const from = this.aim('file');
    const to = this.fresh();
    return this.#made({ op: 'link', args: { from, to }, target: 'file', target2: 'missing' }, to);
  }
  #makeOpenFile(): string {
    const path = this.aim('file');
    return this.#made({ op: 'open', args: { slot: 0, path, flags: 'r+', mode: 0o644 }, target: 'file' }, path);
  }
  #makeDirectory(path: string, recursive = false): string {
    return this.#made(
      { op: 'mkdir', args: { path, recursive, mode: 0o755 }, target: recursive ? 'missing-parent' : 'missing' },
      path,
    );
  }
  #makeFullDirectory(): string {
    const path = this.#makeDirectory(this.fresh());
    const file = join(path, this.name());
    return this.#made(
      { op: 'writeFile', args: { path: file, data: 'inside\n', flag: 'w', mode: 0o644 }, target: 'missing' },
      path,
    );
  }
  #makeLink(to: string, text?: string): string {
    const path = this.fresh();
    const target = text ?? this.targetText(path, to, false);
    return this.#made({ op: 'symlink', args: { target, path }, target: 'missing' }, path);
  }
  #makeLoop(): string {
    const path = this.fresh();
    const target = path.slice(path.lastIndexOf('/') + 1);
    if (this.random.chance(0.5)) return this.#made({ op: 'symlink', args: { target, path }, target: 'missing' }, path);
    const back = this.#makeLink(path);
    return this.#made(
      { op: 'symlink', args: { target: this.targetText(path, back, false), path }, target: 'missing' },
      path,
    );
  }
  /** Creates a link to `.` and one that goes through it 37 to 41 times, around the limit of 40 links. */
  #makeChain(): string {
    const dot = this.#makeLink('/', '.');
    const path = this.fresh();
    const hops = 37 + this.random.below(5);
    const name = dot.slice(dot.lastIndexOf('/') + 1);
    const directory = dot.slice(0, dot.lastIndexOf('/')) || '/';
    const target = this.targetText(path, join(directory, `${name}/`.repeat(hops)), false);
    return this.#made(
      {
        op: 'symlink',
        args: { target: target + (this.random.chance(0.5) ? '.' : this.name()), path },
        target: 'missing',
      },
      path,
    );
  }
}

export function join(directory: string, name: string): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`;
}

function depth(path: string): number {
  return path === '/' ? 0 : path.split('/').length - 1;
}

function errorOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code ?? 'unknown';
  }
}
