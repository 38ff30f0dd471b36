import { chmodSync, existsSync, lstatSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as tick } from 'node:timers/promises';
import { isFsError, isWithin } from '@scratchfs/core';
import { createFileSystem } from 'scratchfs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AcceptResult, Attempt } from './attempt-types.js';
import { WorkspaceError } from './errors.js';
import { type Found, Person, scan } from './testing/person.js';
import { changeSomething, seeded } from './testing/random-operations.js';
import { openWorkspace } from './workspace.js';
import type { Workspace } from './workspace-types.js';

let directory: string;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'random-person-')));
  chmodSync(directory, 0o755);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const STEPS = Number(process.env['PERSON_STEPS'] ?? 30);
const FIRST_SEED = Number(process.env['PERSON_SEED'] ?? 1);
const SEEDS = Number(process.env['PERSON_SEEDS'] ?? 2);
const HAS_OS_SANDBOX = existsSync('/usr/bin/bwrap');
/** True to log every step. */
const TRACE = process.env['PERSON_TRACE'] !== undefined;

type Tree = ReadonlyMap<string, Found>;

/** Returns what an attempt shows, in the form of a scan of the disk. A moved directory that the person has taken away is empty. */
async function view({ fileSystem }: Pick<Attempt, 'fileSystem'>): Promise<Tree> {
  const found = new Map<string, Found>();
  const pending = ['/'];
  for (const directory of pending) {
    const entries = await fileSystem.entries(directory, { content: true }).catch((error: unknown) => {
      if (isFsError(error, 'EBUSY')) return [];
      throw error;
    });
    for (const { path, kind, mode, target, content } of entries) {
      if (kind === 'directory') pending.push(path);
      const data = kind === 'file' ? Buffer.from(content).toString('latin1') : (target ?? '');
      found.set(path, { kind, mode: kind === 'symlink' ? 0 : mode & 0o777, data });
    }
  }
  return found;
}

const PERSON = /person 2\d{6}/gu;
const AGENT = /step 1\d{6}/gu;

/** Returns the texts that a pattern finds in files and targets, each with its paths. */
function texts(tree: Tree, pattern: RegExp): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [path, { data }] of tree)
    for (const text of data.match(pattern) ?? []) found.set(text, [...(found.get(text) ?? []), path]);
  return found;
}

const list = (tree: Tree): [string, Found][] => [...tree].sort(([a], [b]) => (a < b ? -1 : 1));
const missing = (wanted: Iterable<string>, tree: Tree, pattern: RegExp): string[] => {
  const there = texts(tree, pattern);
  return [...wanted].filter((text) => !there.has(text));
};
/** Where an attempt shows a line of the agent. */
interface Place {
  readonly path: string;
  /**
   * Identity of the disk's file there, if it has several names and the attempt shows the line under this one alone: maybe
   * only because the agent wrote to another of its names.
   */
  readonly linked: string | undefined;
}

type Places = ReadonlyMap<string, Place>;

/** Returns lines without those at a linked name that the person may have given to another file since: that file is shown. */
function atTheirFiles(lines: Places): Places {
  const isThere = ({ path, linked }: Place): boolean => existsSync(directory + path) && identity(path) === linked;
  return new Map([...lines].filter(([, place]) => place.linked === undefined || isThere(place)));
}

/** Returns lines of the agent that an attempt does not have any more. */
async function lost(lines: Places, attempt: Pick<Attempt, 'fileSystem'>): Promise<string[]> {
  const gone: string[] = [];
  for (const text of missing(lines.keys(), await view(attempt), AGENT)) {
    // A file in a directory that cannot be listed can be read by its name.
    const { path } = lines.get(text) as Place;
    const read = await attempt.fileSystem.readText(path).catch(String);
    if (!read.includes(text)) gone.push(`${text} of ${path}: ${read.slice(0, 100)}`);
  }
  return gone;
}
const same = (a: Found | undefined, b: Found | undefined): boolean =>
  a?.kind === b?.kind && a?.mode === b?.mode && a?.data === b?.data;

/** Returns the paths in which two trees differ, with both sides. */
function difference(a: Tree, b: Tree): unknown[] {
  return [...new Set([...a.keys(), ...b.keys()])]
    .filter((path) => !same(a.get(path), b.get(path)))
    .map((path) => [path, a.get(path), b.get(path)]);
}

/**
 * Returns what lies at the old path of an entry in a moved directory, if an accept has left it there: an ignored entry, or
 * what the person has added since the move.
 * @param moved what the disk had at old paths when the attempt moved them: that must have moved along
 */
function staying(
  path: string,
  moves: readonly { readonly path: string; readonly from?: string | undefined }[],
  before: Tree,
  after: Tree,
  moved: ReadonlyMap<string, string>,
): Found | undefined {
  for (const { path: to, from } of moves) {
    const old = from !== undefined && isWithin(path, to) ? from + path.slice(to.length) : undefined;
    if (old === undefined || !same(before.get(old), after.get(old))) continue;
    const isKnown = moved.has(old) && moved.get(old) === identity(old);
    if (!isKnown || IGNORED.test(old)) return after.get(old);
  }
  return undefined;
}

const IGNORED = /\/build(?:\/|$)/u;

/**
 * Reports whether an entry is the disk's one at an ignored path. An attempt shows its change of a file with several names
 * there too, but an accept leaves the name alone.
 */
function isIgnoredOnDisk(path: string, found: Found | undefined, disk: Tree): boolean {
  return IGNORED.test(path) && found !== undefined && same(found, disk.get(path) ?? found);
}

/** Returns a text that differs between an entry of the disk and a later one at its path. */
function identity(path: string): string {
  const { ino, birthtimeMs } = lstatSync(directory + path);
  return `${ino} ${birthtimeMs}`;
}

/** Facts about an attempt that the checks need. */
class Known {
  /** Lines of the person that the agent has seen and removed, with the paths where the disk had them. */
  readonly removed = new Map<string, Set<string>>();
  /** Lines of the person at paths of conflicts that a result has told of: a write by the agent settles them. */
  readonly told = new Map<string, Iterable<string>>();
  /** Lines of the agent that only the attempt had after an operation. */
  readonly own = new Map<number, Places>();
  /** Identities of the files of the disk, by path, that were in a directory when the attempt moved it last. */
  readonly moved = new Map<string, string>();
}

class Scene {
  readonly known = new Map<string, Known>();
  /** The disk before and after an accept, or an operation of a live attempt. */
  readonly accepts = new Map<string, { readonly before: Tree; readonly after: Tree }>();
  readonly attempts: Attempt[] = [];
  /** Lines that the person has removed, or of which a step has written a copy: what is on the disk is the agent's. */
  readonly copied = new Set<string>();
  /** Lines of `copied` that the person has put back since. An accept may remove them with their file. */
  readonly returned = new Set<string>();
  #written = 1_000_000;
  #steps: string[] = [];

  constructor(
    readonly workspace: Workspace,
    readonly live: Workspace,
    readonly person: Person,
    readonly random: (below: number) => number,
  ) {}

  note(text: string): void {
    this.#steps.push(text);
    if (TRACE) console.log(this.#steps.length, text);
  }

  /** Compares values. A failure shows the last 20 steps. */
  check(what: string, found: unknown, wanted: unknown): void {
    expect(found, [what, ...this.#steps.slice(-20)].join('\n')).toEqual(wanted);
  }

  knownOf({ name }: Attempt): Known {
    let known = this.known.get(name);
    if (known === undefined) this.known.set(name, (known = new Known()));
    return known;
  }

  /** Returns lines of the agent that only the attempt has. */
  own(shown: Tree, disk: Tree): Places {
    const onDisk = texts(disk, AGENT);
    const found = new Map<string, Place>();
    for (const [text, paths] of texts(shown, AGENT)) {
      const path = paths[0] as string;
      const isLinked = paths.length === 1 && disk.get(path)?.kind === 'file' && lstatSync(directory + path).nlink > 1;
      if (!onDisk.has(text)) found.set(text, { path, linked: isLinked ? identity(path) : undefined });
    }
    return found;
  }

  async personActs(): Promise<void> {
    const before = scan(directory);
    const own: (readonly [Attempt, Places])[] = [];
    for (const attempt of this.attempts) own.push([attempt, this.own(await view(attempt), before)]);
    const there = texts(before, PERSON);
    for (let i = this.random(3); i >= 0; i--) this.note(`person: ${this.person.act()}`);
    this.#own(there, texts(scan(directory), PERSON));
    for (const [attempt, lines] of own)
      this.check(`${attempt.name} has what it wrote`, await lost(atTheirFiles(lines), attempt), []);
  }

  /** Notes which lines the person has removed, and which are back. */
  #own(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): void {
    for (const text of before.keys()) if (!after.has(text)) this.copied.add(text);
    for (const text of after.keys()) if (!before.has(text) && this.copied.delete(text)) this.returned.add(text);
  }

  /** Runs a step of an attempt and checks that nothing of the person is lost. */
  async step<T>(
    attempt: Attempt,
    name: string,
    {
      isWriting = attempt.isLive === true,
      isEdit = false,
      acts = false,
      removed = [],
      removals = removed,
    }: {
      isWriting?: boolean;
      isEdit?: boolean;
      acts?: boolean;
      /** Paths whose removal alone is accepted. */
      removed?: readonly string[];
      /** All paths whose removal is accepted. */
      removals?: readonly string[];
    },
    work: () => Promise<T>,
  ): Promise<{ value: T | undefined; code: string | undefined; before: Tree; after: Tree; shown: Tree }> {
    const known = this.knownOf(attempt);
    const before = scan(directory);
    const shown = await view(attempt);
    this.note(`${attempt.name}: ${name}`);
    let [value, code]: [T | undefined, string | undefined] = [undefined, undefined];
    const wanted = texts(before, PERSON);
    /** Number of copies that the person has made of a line. */
    const added = new Map<string, number>();
    const running = work().catch((error: unknown) => {
      if (!(error instanceof WorkspaceError) && !isFsError(error, 'EBUSY') && !(isEdit && isFsError(error)))
        throw error;
      code = error.code;
      this.note(`  ${error.code}: ${error.message}`);
      return undefined;
    });
    if (acts) {
      running.catch(() => undefined);
      for (let i = this.random(80); i > 0; i--) await tick();
      const atFirst = texts(scan(directory), PERSON);
      this.note(`  meanwhile: ${this.person.act()}`);
      const then = texts(scan(directory), PERSON);
      this.#own(atFirst, then);
      for (const text of atFirst.keys()) if (!then.has(text)) wanted.delete(text);
      for (const [text, paths] of then) {
        if (!atFirst.has(text)) wanted.set(text, paths);
        else added.set(text, paths.length - (atFirst.get(text)?.length ?? 0));
      }
    }
    value = await running;
    const after = scan(directory);
    const now = await view(attempt);
    if (isEdit) {
      const [onDisk, left] = [texts(before, PERSON), texts(now, PERSON)];
      for (const [text, places] of texts(shown, PERSON)) {
        const still = left.get(text) ?? [];
        if (still.length >= places.length) continue;
        const paths = known.removed.get(text) ?? new Set();
        for (const path of onDisk.get(text) ?? []) if (!still.includes(path)) paths.add(path);
        known.removed.set(text, paths);
      }
    }
    if (!isWriting) this.check('the disk is as it was', difference(before, after), []);
    const there = texts(after, PERSON);
    const isShown = texts(now, PERSON);
    for (const [text, paths] of wanted) {
      const places = there.get(text);
      if (this.copied.has(text)) continue;
      if ((places?.length ?? 0) > paths.length + (added.get(text) ?? 0)) this.copied.add(text);
      if (places === undefined) {
        const isReturned = this.returned.has(text);
        const isSeen = paths.some(
          (path) =>
            known.removed.get(text)?.has(path) === true ||
            (removed.includes(path) && isShown.has(text)) ||
            (isReturned && removals.includes(path)),
        );
        this.check(`${text} of ${paths} is lost`, isSeen, true);
      } else {
        // An accept may have moved lines that other attempts have removed: their new paths count as removed too.
        for (const { removed } of this.known.values())
          if (removed.has(text)) for (const place of places) removed.get(text)?.add(place);
      }
    }
    if (code !== undefined && !acts) this.check('an error leaves the disk as it was', difference(before, after), []);
    const head = await attempt.head();
    if (!known.own.has(head)) known.own.set(head, this.own(now, after));
    return { value, code, before, after, shown };
  }

  async edit(attempt: Attempt): Promise<void> {
    const { fileSystem } = attempt;
    const { random } = this;
    const head = await attempt.head();
    await this.step(attempt, 'edit', { isEdit: true }, async () => {
      const number = ++this.#written;
      const before = [...(await view(attempt))].map(([path, { kind }]) => [path, kind] as const);
      if (random(3) > 0)
        return changeSomething(
          fileSystem,
          random,
          number,
          before.map((entry) => JSON.stringify(entry)),
        );
      const files = before.filter(([, kind]) => kind === 'file');
      const path = files[random(files.length)]?.[0];
      if (path === undefined) return;
      this.note(`  a line of ${path}`);
      const { value: text, operation } = await attempt.operation({ tool: 'edit' }, async (fs) => {
        const lines = (await fs.readText(path)).split(/(?<=\n)/u);
        lines.splice(random(lines.length + 1), random(2), `step ${number}\n`);
        await fs.writeFile(path, lines.join(''));
        return lines.join('');
      });
      const told = operation === undefined ? undefined : this.knownOf(attempt).told.get(path);
      for (const text of told ?? []) this.knownOf(attempt).removed.set(text, new Set([path]));
      if (operation !== undefined) this.check('a read gives what was written', await fileSystem.readText(path), text);
    });
    const operations = (await attempt.log({ limit: 1 })).operations[0];
    if (operations !== undefined && operations.id > head)
      for (const { from } of operations.changes)
        if (from !== undefined)
          for (const [path, { kind }] of scan(directory))
            if (kind !== 'directory' && isWithin(path, from)) this.knownOf(attempt).moved.set(path, identity(path));
    if (operations !== undefined)
      this.note(
        `  ${operations.id} ${operations.summary} ${operations.changes.map(({ path, from }) => (from ? `${from}>${path}` : path)).join(' ')}`,
      );
  }

  async run(attempt: Attempt): Promise<void> {
    const number = ++this.#written;
    const commands = [
      `for f in $(find . -type f -name x | head -2); do echo 'step ${number}' >> $f; done`,
      `rm -rf a; mkdir -p n1; echo 'step ${number}' > n1/made`,
      `mv c n2 2>/dev/null; echo 'step ${number}' > top`,
      `find . -name y -type f | head -2 | xargs -r chmod 755; echo 'step ${number}' | tee n3 > n4`,
      `for f in $(find . -type f -name 'p*' | head -1); do rm $f; mkdir $f; echo 'step ${number}' > $f/in; done`,
    ];
    const command = commands[this.random(commands.length)] as string;
    await this.step(attempt, `run ${command}`, { isEdit: true }, () => attempt.run(command));
  }

  async move(attempt: Attempt, tool: 'undo' | 'redo'): Promise<void> {
    const target = await attempt.next(tool);
    const key = `${attempt.name} ${target?.id}`;
    const accept = this.accepts.get(key);
    const isAccept = target?.tool === 'accept';
    const isWriting = attempt.isLive === true || isAccept;
    // Changes that the accept itself has made, such as a file that another attempt's accept had removed.
    const changes = isAccept ? target.changes : [];
    const written = changes.filter((change) => change[tool === 'undo' ? 'before' : 'after'] === null);
    const { code, before, after } = await this.step(
      attempt,
      `${tool} ${target?.id} ${target?.tool}`,
      { isWriting, removed: written.map(({ path }) => path) },
      () => attempt[tool](),
    );
    if (accept === undefined) return;
    const [from, to] = tool === 'undo' ? [accept.after, accept.before] : [accept.before, accept.after];
    const isUntouched = difference(before, from).length === 0;
    if (isUntouched) {
      this.check(`${tool} of an accept is possible`, code, undefined);
      this.check(`${tool} of an accept gives what was there`, difference(to, after), []);
    } else if (code === undefined) {
      for (const path of new Set([...from.keys(), ...to.keys()]))
        if (!same(from.get(path), to.get(path)))
          this.check(`${tool} of an accept restores ${path}`, after.get(path), to.get(path));
    }
  }

  async restore(attempt: Attempt): Promise<void> {
    const to = this.random((await attempt.head()) + 1);
    const shown = await view(attempt);
    const paths = [...shown.keys()];
    const path = this.random(2) === 0 ? paths[this.random(paths.length)] : undefined;
    // The restored path may be the new one of a move, whose old path stays free.
    const isEdit = path !== undefined;
    await this.step(attempt, `restore ${to} ${path ?? ''}`, { isEdit }, () => attempt.restore(to, { path }));
  }

  async accept(attempt: Attempt): Promise<void> {
    const acts = this.random(4) === 0;
    const { value: refreshed } = await this.step(attempt, 'refresh', {}, () => attempt.refresh());
    const byHunk = this.random(6) === 0;
    const { paths } = await attempt.diff({ hunks: byHunk });
    const hunks = paths.flatMap((path) => path.hunks.map(({ id }) => id));
    this.#tell(attempt, refreshed?.conflicts ?? []);
    const own = this.own(await view(attempt), scan(directory));
    const isPart = paths.length > 1 && this.random(3) === 0;
    const hunk = byHunk ? hunks[this.random(hunks.length)] : undefined;
    const chosen =
      isPart && hunk === undefined ? [(paths[this.random(paths.length)] as { path: string }).path] : undefined;
    // A command that moves a file removes one and creates another: the person may accept the removal alone. A removed
    // directory stands for all in it.
    const isSelected = ({ path, hunks }: (typeof paths)[number]): boolean =>
      chosen?.some((top) => isWithin(path, top)) === true || hunks.some(({ id }) => id === hunk);
    const all = paths.filter(({ after }) => after === null);
    const removed = all.filter(isSelected).map(({ path }) => path);
    const removals = (chosen ?? hunk) ? removed : all.map(({ path }) => path);
    const onConflict = this.random(2) === 0 ? 'skip' : 'fail';
    const { value, code, before, after, shown } = await this.step(
      attempt,
      `accept ${chosen ?? hunk ?? ''} ${onConflict}`,
      { isWriting: true, acts, removed, removals },
      () => attempt.accept({ paths: chosen, hunks: hunk === undefined ? undefined : [hunk], onConflict }),
    );
    if (hunk !== undefined && !acts) this.check('a hunk of the diff is known', code, undefined);
    const now = await view(attempt);
    this.check('the attempt shows what it wrote', await lost(own, attempt), []);
    if (value === undefined) return;
    this.note(`  ${value.message} ${value.conflicts.map(({ path, code }) => `${code} ${path}`)}`);
    this.#tell(attempt, value.conflicts);
    if (acts) return;
    if (value.operation === undefined) this.check('nothing is written', difference(before, after), []);
    else this.accepts.set(`${attempt.name} ${value.operation.id}`, { before, after });
    if (hunk !== undefined || !value.success || value.conflicts.length > 0 || refreshed?.conflicts.length !== 0) return;
    const { moved } = this.knownOf(attempt);
    this.#isAsDiff(paths, chosen, value, { before, after, shown, moved });
    if (!isPart)
      this.check(
        'no difference is left',
        (await attempt.diff()).paths.map(({ path }) => path),
        [],
      );
    for (const [path, found] of shown) {
      const left = now.get(path) ?? staying(path, paths, before, after, moved);
      if (!isIgnoredOnDisk(path, left, before)) this.check(`${path} is as it was`, left, found);
    }
    for (const [path, found] of now)
      if (!shown.has(path)) this.check(`${path} was left alone`, found, before.get(path));
  }

  #tell(attempt: Attempt, conflicts: AcceptResult['conflicts']): void {
    const disk = scan(directory);
    for (const { path } of conflicts) {
      const found = disk.get(path);
      this.knownOf(attempt).told.set(
        path,
        found === undefined ? [] : [...texts(new Map([[path, found]]), PERSON).keys()],
      );
    }
  }

  #isAsDiff(
    paths: Awaited<ReturnType<Attempt['diff']>>['paths'],
    chosen: readonly string[] | undefined,
    { accepted }: AcceptResult,
    { before, after, shown, moved }: { before: Tree; after: Tree; shown: Tree; moved: ReadonlyMap<string, string> },
  ): void {
    const ends = paths.flatMap(({ path, from }) => (from === undefined ? [] : [from, path]));
    const wide = paths.flatMap(({ path, before, after }) =>
      before?.kind === 'directory' && after?.kind !== 'directory' ? [path] : [],
    );
    const isCovered = (path: string): boolean => [...ends, ...wide].some((top) => isWithin(path, top));
    for (const { path, after: state } of paths) {
      const isChosen = chosen === undefined || accepted.includes(path);
      if (!isChosen) continue;
      const found = after.get(path);
      if (state !== null) this.check(`${path} is what the attempt has`, found, shown.get(path));
      else if (found !== undefined) this.check(`${path} stays only as a directory`, found.kind, 'directory');
    }
    const told = new Set([...paths.map(({ path }) => path), ...accepted]);
    for (const path of new Set([...before.keys(), ...after.keys()]))
      if (!told.has(path) && !isCovered(path) && !same(before.get(path), after.get(path)))
        this.check(`${path} is not in the diff`, after.get(path), before.get(path));
    if (chosen === undefined)
      for (const [path, state] of shown) {
        if (!ends.some((top) => isWithin(path, top))) continue;
        const left = after.get(path) ?? staying(path, paths, before, after, moved);
        if (!isIgnoredOnDisk(path, left, before)) this.check(`${path} is what the attempt has`, left, state);
      }
  }

  async fork(attempt: Attempt): Promise<void> {
    const at = this.random(3) === 0 ? this.random((await attempt.head()) + 1) : undefined;
    const { value: fork } = await this.step(attempt, `fork ${at ?? ''}`, { isWriting: false }, () =>
      attempt.fork(undefined, { at }),
    );
    if (fork === undefined) return;
    const { removed } = this.knownOf(attempt);
    const known = this.knownOf(fork);
    for (const [text, paths] of removed) known.removed.set(text, new Set(paths));
    if (at === undefined) this.check('a fork shows the same', difference(await view(attempt), await view(fork)), []);
    this.attempts.push(fork);
  }

  async lookBack(attempt: Attempt): Promise<void> {
    const { own } = this.knownOf(attempt);
    const numbers = [...own.keys()];
    const at = numbers[this.random(numbers.length)];
    if (at === undefined) return;
    const lines = atTheirFiles(own.get(at) ?? new Map());
    this.check(`${attempt.name} at ${at} has what it had`, await lost(lines, { fileSystem: attempt.at(at) }), []);
  }

  async act(): Promise<void> {
    const { random } = this;
    if (random(12) === 0 && !this.attempts.some(({ isLive }) => isLive)) this.attempts.push(await this.live.attempt());
    const attempt = this.attempts[random(this.attempts.length)] as Attempt;
    const kind = random(20);
    if (kind < 9) await this.edit(attempt);
    else if (kind === 9 && random(3) === 0 && HAS_OS_SANDBOX) await this.run(attempt);
    else if (kind < 12) await this.move(attempt, 'undo');
    else if (kind === 12) await this.move(attempt, 'redo');
    else if (kind === 13) await this.restore(attempt);
    else if (kind === 14 && this.attempts.length < 5) await this.fork(attempt);
    else if (kind === 15) await this.lookBack(attempt);
    else if (attempt.isLive !== true) {
      await this.accept(attempt);
      if (random(3) === 0) await this.move(attempt, 'undo');
    }
  }
}

describe('a person and an agent at one directory', () => {
  it.each(Array.from({ length: SEEDS }, (_, i) => FIRST_SEED + i))(
    'lose nothing to each other (seed %i)',
    { timeout: 120_000 },
    async (seed) => {
      const random = seeded(seed);
      const person = new Person(directory, random);
      person.fill();
      const store = createFileSystem();
      const shown = new Map<string, [string, Found][]>();
      const heads = new Map<string, number>();
      const own = new Map<string, Known>();
      {
        await using workspace = await openWorkspace(directory, { store });
        await using live = await openWorkspace(directory, { store, live: true });
        await using other = await openWorkspace(directory, { store });
        const scene = new Scene(workspace, live, person, random);
        scene.attempts.push(await workspace.createAttempt('first'), await other.attempt('first'));
        for (let i = 0; i < STEPS; i++) await (random(5) < 2 ? scene.personActs() : scene.act());
        for (const attempt of scene.attempts) {
          await scene.lookBack(attempt);
          if ((await attempt.head()) === 0 && attempt.isLive) continue; // does not exist
          shown.set(attempt.name, list(await view(attempt)));
          heads.set(attempt.name, await attempt.head());
          own.set(attempt.name, scene.knownOf(attempt));
        }
      }
      await using workspace = await openWorkspace(directory, { store });
      for (let round = 0; round < 2; round++) {
        for (const [name, tree] of shown) {
          const attempt = await workspace.attempt(name);
          expect([name, await attempt.head(), list(await view(attempt))]).toEqual([name, heads.get(name), tree]);
          for (const [at, lines] of own.get(name)?.own ?? [])
            if (at % 7 === 0) expect(await lost(atTheirFiles(lines), { fileSystem: attempt.at(at) })).toEqual([]);
        }
        await workspace.gc({ graceMs: 0 });
      }
    },
  );
});
