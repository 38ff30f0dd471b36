import {
  HOSTILE_NAMES,
  LONG_NAMES,
  type OperationName,
  type Random,
  SLOTS,
  type Step,
  TOO_LONG_NAMES,
} from '@scratchfs/testkit';
import { COPY_OF_LINKS, type Coverage, HANDLE_OPERATIONS, PATH_ARGUMENTS } from './coverage.js';
import type { Kind } from './host-folder.js';
import type { HostEntry, HostSubject } from './reference.js';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const MODES = [0o644, 0o600, 0o755, 0o777, 0o444, 0, 0o4755, 0o1644];
const DIRECTORY_MODES = [0o755, 0o700, 0o777, 0, 0o555];
const TIMES = [0, 1, 1500, 86_400_000, 1_234_567_890_123, 2_000_000_000_000];
const LENGTHS = [0, 1, 5, 4095, 4096, 4097, 65_536, 66_000];
const FLAGS = ['r', 'r+', 'w', 'wx', 'w+', 'wx+', 'a', 'ax', 'a+', 'ax+'] as const;
const WRITE_FLAGS = ['w', 'w', 'wx', 'r+', 'a', 'ax'] as const;
/** Written before or after a path to make it ill-formed. */
const ILL_FORMED = ['\ud800', 'x\udfff', '\udc00\ud800'];

/**
 * Generates endless steps for the rarest cells of the coverage table, in the actual state of the disk. If no entry has
 * the wanted kind, the steps that create one come first.
 */
export function* steer(
  host: HostSubject,
  coverage: Coverage,
  random: Random,
  maxNodes = 60,
): Generator<Step, never, undefined> {
  const writer = new Steerer(host, random);
  for (;;) {
    if (writer.refresh() > maxNodes) yield* writer.prune();
    const cells = coverage.cells();
    for (let i = 0; i < 16; i++) {
      // Not always the very rarest: an unreachable cell must not hold up the others.
      const cell = cells[random.chance(0.7) ? random.below(24) : random.below(cells.length)]?.name as string;
      if (i % 4 === 0) writer.refresh();
      yield* writer.stepsFor(cell);
    }
  }
}

/** Entry kind required by a kind. Other kinds require none. */
const ENTRY_KINDS: Partial<Record<Kind, HostEntry['kind']>> = {
  file: 'file',
  'hard-linked': 'file',
  'empty-directory': 'directory',
  'full-directory': 'directory',
  'link-to-file': 'symlink',
  'link-to-directory': 'symlink',
  'dangling-link': 'symlink',
  'link-loop': 'symlink',
};

class Steerer {
  #entries: HostEntry[] = [];

  constructor(
    private readonly host: HostSubject,
    private readonly random: Random,
  ) {}

  refresh(): number {
    this.#entries = this.host.entries();
    return this.#entries.length;
  }

  *prune(): Generator<Step, void, undefined> {
    for (const { path } of this.#entries) {
      if (path.lastIndexOf('/') === 0 && path !== '/' && this.random.chance(0.6)) {
        yield { op: 'rm', args: { path, recursive: true, force: true } };
      }
    }
    this.refresh();
  }

  *stepsFor(cell: string): Generator<Step, void, undefined> {
    const pair = /^rename pair (.*) onto (.*)$/.exec(cell);
    if (pair) {
      const from = yield* this.#aim(pair[1] as Kind);
      const to = yield* this.#aim(pair[2] as Kind);
      yield { op: 'rename', args: { from, to } };
      return;
    }
    if (cell === COPY_OF_LINKS) {
      const [from, to] = [yield* this.#treeOfLinks(), this.#fresh()];
      yield { op: 'cp', args: { from, to, recursive: true, force: true, errorOnExist: false } };
      return;
    }
    const [op, argument, kind] = cell.split(' ') as [OperationName, string, string];
    if (argument === 'handle') {
      yield* this.#handleSteps(op, kind);
      return;
    }
    const names = PATH_ARGUMENTS.get(op) as readonly string[];
    const paths: Record<string, string> = {};
    for (const name of names) paths[name] = yield* this.#aim(name === argument ? (kind as Kind) : this.#anyKind());
    for (const name of names) paths[name] = this.#dress(paths[name] as string);
    yield this.#step(op, paths);
  }

  /** Creates a directory whose links also resolve from a copy of it, with names that UTF-16 sorts differently. */
  *#treeOfLinks(): Generator<Step, string, undefined> {
    const path = this.#fresh();
    yield { op: 'mkdir', args: { path, recursive: false, mode: 0o755 } };
    yield { op: 'writeFile', args: { path: `${path}/inside`, data: this.#data(), flag: 'w', mode: 0o640 } };
    for (const name of ['\uffee', '😀', 'link']) {
      yield { op: 'symlink', args: { target: this.random.pick(['inside', '.', 'nowhere']), path: `${path}/${name}` } };
    }
    this.refresh();
    return path;
  }

  *#handleSteps(op: OperationName, state: string): Generator<Step, void, undefined> {
    const slot = this.random.below(SLOTS);
    const path = yield* this.#aim(this.random.chance(0.3) ? 'hard-linked' : 'file');
    const flags = state === 'append' ? 'a+' : this.random.pick(['r', 'r+', 'w+', 'r+'] as const);
    yield { op: 'open', args: { slot, path, flags, mode: 0o644 } };
    if (this.random.chance(0.3)) yield this.#handleStep(this.random.pick(HANDLE_OPERATIONS), slot);
    if (state === 'unlinked') yield { op: 'unlink', args: { path } };
    if (state === 'renamed') yield { op: 'rename', args: { from: path, to: yield* this.#aim('missing') } };
    yield this.#handleStep(op, slot);
    if (this.random.chance(0.5)) yield this.#handleStep(this.random.pick(HANDLE_OPERATIONS), slot);
    if (this.random.chance(0.5)) yield { op: 'handleReadFile', args: { slot } };
  }

  #handleStep(op: OperationName, slot: number): Step {
    const { random } = this;
    const position = random.chance(0.4) ? null : random.pick(LENGTHS);
    const [atime, mtime] = [random.pick(TIMES), random.pick(TIMES)];
    const args = {
      slot,
      position,
      length: random.pick(LENGTHS),
      data: this.#data(),
      mode: random.pick(MODES),
      atime,
      mtime,
    };
    return { op, args } as unknown as Step;
  }

  #anyKind(): Kind {
    return this.random.chance(0.5)
      ? 'missing'
      : this.random.pick<Kind>([
          'file',
          'hard-linked',
          'empty-directory',
          'full-directory',
          'link-to-file',
          'dangling-link',
        ]);
  }

  /** Returns a path to an entry of the given kind. If there is none, yields the steps that create one first. */
  *#aim(kind: Kind): Generator<Step, string, undefined> {
    const { random } = this;
    if (kind === 'root') return '/';
    const found = this.#find(kind);
    if (found !== undefined && random.chance(0.9)) return found;
    const fresh = this.#fresh();
    const within = (path: string) => `${path === '/' ? '' : path}/${this.#name()}`;
    switch (kind) {
      case 'missing':
        return fresh;
      case 'missing-parent':
        return within(fresh);
      case 'file':
        yield* this.#make({
          op: 'writeFile',
          args: { path: fresh, data: this.#data(), flag: 'wx', mode: random.pick(MODES) },
        });
        return fresh;
      case 'hard-linked': {
        const file = yield* this.#aim('file');
        const name = this.#fresh();
        yield* this.#make({ op: 'link', args: { from: file, to: name } });
        return random.pick([file, name]);
      }
      case 'empty-directory':
        yield* this.#make({ op: 'mkdir', args: { path: fresh, recursive: false, mode: random.pick(DIRECTORY_MODES) } });
        return fresh;
      case 'full-directory': {
        const directory = yield* this.#aim('empty-directory');
        yield* this.#make({
          op: 'writeFile',
          args: { path: within(directory), data: 'inside', flag: 'w', mode: 0o644 },
        });
        return directory;
      }
      case 'link-to-file':
      case 'link-to-directory': {
        const target = yield* this.#aim(
          kind === 'link-to-file' ? 'file' : random.pick(['empty-directory', 'full-directory']),
        );
        const name = this.#fresh();
        yield* this.#make({ op: 'symlink', args: { target: this.#text(name, target), path: name } });
        return name;
      }
      case 'dangling-link': {
        const name = this.#fresh();
        const text = random.pick([
          this.#text(name, fresh),
          'nowhere',
          '../nowhere',
          '/no/where',
          '../../../far',
          'nowhere/',
          'a\\b',
          '../x/../nowhere',
        ]);
        yield* this.#make({ op: 'symlink', args: { target: text, path: name } });
        return name;
      }
      case 'link-loop':
        yield* this.#make({ op: 'symlink', args: { target: fresh, path: fresh } });
        return fresh;
      case 'through-file':
        return within(yield* this.#aim('file'));
      case 'through-link':
        return within(yield* this.#aim('link-to-directory'));
      case 'deep': {
        const directory = `/${Array.from({ length: 4 + random.below(3) }, () => this.#name()).join('/')}`;
        yield* this.#make({ op: 'mkdir', args: { path: directory, recursive: true, mode: 0o755 } });
        return within(directory);
      }
    }
  }

  *#make(step: Step): Generator<Step, void, undefined> {
    yield step;
    this.refresh();
  }

  #find(kind: Kind): string | undefined {
    const { random } = this;
    const wanted = ENTRY_KINDS[kind];
    if (wanted === undefined && kind !== 'deep') return undefined;
    const start = random.below(this.#entries.length);
    for (let i = 0; i < this.#entries.length; i++) {
      const { path, kind: found } = this.#entries[(start + i) % this.#entries.length] as HostEntry;
      if ((wanted === undefined || found === wanted) && this.host.folder.kindsOf(path).includes(kind)) return path;
    }
    return undefined;
  }

  #fresh(): string {
    const shallow = this.#entries.filter(({ path, kind }) => kind === 'directory' && path.split('/').length < 6);
    const directory = shallow.length === 0 || this.random.chance(0.3) ? '/' : this.random.pick(shallow).path;
    const prefix = directory === '/' ? '' : directory;
    for (;;) {
      const path = `${prefix}/${this.#name()}${this.random.chance(0.5) ? this.random.below(100) : ''}`;
      if (this.host.folder.look(path).stats === undefined) return path;
    }
  }

  #name(): string {
    const { random } = this;
    if (random.chance(0.1)) return random.pick(HOSTILE_NAMES);
    // UTF-16 sorts these the other way round than UTF-8.
    if (random.chance(0.04)) return random.pick(['\uffee', '😀', '\ue000private']);
    return random.chance(0.01) ? random.pick([...LONG_NAMES, ...TOO_LONG_NAMES]) : random.pick(NAMES);
  }

  /** Returns a link's text: absolute, relative, climbing above the root, or on a detour. */
  #text(from: string, to: string): string {
    const up = '../'.repeat(Math.max(from.split('/').length - 2, 0));
    switch (this.random.below(6)) {
      case 0:
        return to;
      case 1:
        return `../../${up}${to.slice(1)}`;
      case 2:
        return `/../.${to}`;
      case 3:
        return `.//${up}./${to.slice(1)}`;
      case 4:
        return to.replaceAll('/', '\\');
      default:
        return `${up}${to.slice(1)}` || '.';
    }
  }

  /** Returns the path, or sometimes ill-formed text or another spelling, which may lead elsewhere. */
  #dress(path: string): string {
    const { random } = this;
    if (!random.chance(0.12)) return path;
    const some = random.pick(this.#entries).path;
    switch (random.below(9)) {
      case 0:
        return `${some}/..${path}`;
      case 1:
        return `${path}/.`;
      case 2:
        return `${path}/${random.pick(NAMES)}/..`;
      case 3:
        return `/../..${path}`;
      case 4:
        return `${path}//`;
      case 5:
        return path.replaceAll('/', '\\');
      case 6:
        return `${path}/${random.pick(ILL_FORMED)}`;
      case 7:
        return random.pick([`${path}\0`, '', '.', '..', '/']);
      default:
        return path.slice(1) || '/';
    }
  }

  #data() {
    const { random } = this;
    return random.chance(0.5)
      ? random.pick(['', 'x', 'needle', 'one\ntwo\n', 'ü😀'])
      : { size: random.pick(LENGTHS), fill: random.below(256) };
  }

  #step(op: OperationName, paths: Record<string, string>): Step {
    const { random } = this;
    const [atime, mtime] = [random.pick(TIMES), random.pick(TIMES)];
    const flag = random.pick(WRITE_FLAGS);
    const all = {
      access: { mode: random.below(8) },
      writeFile: { data: this.#data(), flag, mode: random.pick(MODES) },
      writeLines: { lines: random.pick([[], [''], ['one', 'needle']]) },
      appendFile: { data: this.#data() },
      editFile: {
        search: random.pick(['needle', 'o', 'x']),
        replacement: random.pick(['', '$&', 'needle']),
        all: random.chance(0.5),
      },
      truncate: { length: random.pick(LENGTHS) },
      mkdir: { recursive: random.chance(0.5), mode: random.pick(DIRECTORY_MODES) },
      rm: { recursive: random.chance(0.5), force: random.chance(0.4) },
      cp: { recursive: random.chance(0.8), force: random.chance(0.7), errorOnExist: random.chance(0.3) },
      copyFile: { exclusive: random.chance(0.2) },
      symlink: { target: this.#text(paths.path ?? '/', random.pick(this.#entries).path) },
      chmod: { mode: random.pick(random.chance(0.5) ? MODES : DIRECTORY_MODES) },
      chown: { uid: random.pick([0, 1, 1000]), gid: random.pick([0, 1]) },
      lchown: { uid: random.pick([0, 1, 1000]), gid: random.pick([0, 1]) },
      utimes: { atime, mtime },
      lutimes: { atime, mtime },
      open: { slot: random.below(SLOTS), flags: random.pick(FLAGS), mode: random.pick(MODES) },
    } as Partial<Record<OperationName, object>>;
    return { op, args: { ...paths, ...all[op] } } as unknown as Step;
  }
}
