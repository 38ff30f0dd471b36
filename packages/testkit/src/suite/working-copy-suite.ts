import { type FileSystem, type Limits, openFileSystem, type SyncFileSystem } from '@scratchfs/core';
import { openWorkingCopy, type WorkingCopy, type WorkingCopyOptions } from '@scratchfs/core/working-copy';
import { differences, dump, dumpSync } from '../dump.js';
import type { WorkingCopyClients } from '../working-copy/clients.js';
import { randomRounds } from '../working-copy/rounds.js';
import { equal, fail, ok, rejects } from './assert.js';
import { type ManualClock, manualClock } from './context.js';
import type { TestRunner } from './runner.js';
import { CONFLICT_CASES, type ConflictCase } from './working-copy-conflicts.js';

export interface WorkingCopySuiteOptions {
  /** `describe` and `it` of any test runner. */
  readonly test: TestRunner;
  readonly create: () => WorkingCopyClients | Promise<WorkingCopyClients>;
  /** The number of random histories in which both sides change the tree. Default 8. */
  readonly histories?: number | undefined;
  /** Name of the group of tests. Default `Working copy`. */
  readonly name?: string | undefined;
}

interface Scene {
  readonly clock: ManualClock;
  readonly clients: WorkingCopyClients;
  /** The storage through another client. */
  readonly shared: FileSystem;
  open(options?: Partial<WorkingCopyOptions>): Promise<WorkingCopy>;
}

type Add = (title: string, run: (scene: Scene) => Promise<void>, limits?: Limits) => void;

/** Tests of working copies: load, push, pull, and exactly the conflicts that exist. */
export function workingCopySuite({
  test,
  create,
  histories = 8,
  name = 'Working copy',
}: WorkingCopySuiteOptions): void {
  const add: Add = (title, run, limits) => {
    test.it(title, async () => {
      const clients = await create();
      const clock = manualClock();
      const shared = await openFileSystem(clients.theirs, { clock: clock.read, limits });
      const open: Scene['open'] = (options) => openWorkingCopy(clients.ours, { clock: clock.read, limits, ...options });
      try {
        await run({ clock, clients, shared, open });
      } finally {
        await closeAll(clients);
      }
    });
  };
  test.describe(name, () => {
    test.describe('loading', () => loadCases(add));
    test.describe('push', () => pushCases(add));
    test.describe('pull', () => pullCases(add));
    test.describe('conflicts', () => conflictCases(add));
    for (let seed = 1; seed <= histories; seed++) {
      test.it(`merges random changes of both sides as a brute-force merge does, seed ${seed}`, async () => {
        const clients = await create();
        try {
          await randomRounds(clients, seed, 6);
        } finally {
          await closeAll(clients);
        }
      });
    }
  });
}

async function closeAll({ ours, theirs }: WorkingCopyClients): Promise<void> {
  await ours.close();
  if (theirs !== ours) await theirs.close();
}

async function plantTree(shared: FileSystem, clock: ManualClock): Promise<void> {
  await shared.mkdir('/src/deep', { recursive: true });
  await shared.writeFile('/src/a', 'content of a');
  await shared.writeFile('/src/b', 'content of b', { mode: 0o600 });
  await shared.writeFile('/src/deep/c', new Uint8Array(200_000).fill(7));
  clock.advance(5);
  await shared.mkdir('/docs');
  await shared.writeFile('/docs/d', '');
  await shared.link('/src/a', '/docs/hard');
  await shared.symlink('../src', '/docs/link');
  await shared.utimes('/docs/d', 1, 2);
  await shared.chown('/src/b', 3, 4);
  clock.advance(5);
}

async function same(copy: WorkingCopy, shared: FileSystem): Promise<void> {
  const wrong = differences(dumpSync(copy.fileSystem), await dump(shared));
  if (wrong.length > 0) fail(`the working copy and the storage differ: ${wrong.slice(0, 8).join('; ')}`);
}

async function pushed(copy: WorkingCopy): Promise<string[]> {
  const result = await copy.push();
  if (result.kind !== 'pushed') fail(`push answered ${JSON.stringify(result)}`);
  return result.changes.map(({ change, path }) => `${change} ${path}`);
}

function loadCases(add: Add): void {
  add(
    'everything is loaded when it opens: contents, modes, owners, times, links and files with several names',
    async (scene) => {
      await plantTree(scene.shared, scene.clock);
      const copy = await scene.open();
      await same(copy, scene.shared);
      equal(copy.status(), []);
    },
  );
  add('an empty storage is an empty working copy', async ({ shared, open }) => same(await open(), shared));
  add(
    '`paths` loads the given entries with everything under them, and their parents',
    async ({ shared, clock, open }) => {
      await plantTree(shared, clock);
      const copy = await open({ paths: ['/src/deep', '/docs/d', '/missing'] });
      const found = [...copy.fileSystem.walkSync('/')].map(({ path }) => path);
      equal(found, ['/docs', '/docs/d', '/src', '/src/deep', '/src/deep/c']);
      copy.fileSystem.writeFileSync('/src/deep/new', 'new');
      await pushed(copy);
      equal(await shared.readdir('/src'), ['a', 'b', 'deep']);
      equal(await shared.readText('/src/deep/new'), 'new');
      await shared.writeFile('/src/other', 'not for us');
      await shared.writeFile('/src/deep/more', 'more');
      equal((await copy.pull()).kind, 'pulled');
      equal(copy.fileSystem.readdirSync('/src'), ['deep']);
      equal(copy.fileSystem.readdirSync('/src/deep'), ['c', 'more', 'new']);
    },
  );
  add('entries outside `paths` are not removed or overwritten', async ({ shared, clock, open }) => {
    await plantTree(shared, clock);
    const copy = await open({ paths: ['/src/deep'] });
    copy.fileSystem.rmSync('/src', { recursive: true });
    equal((await copy.push()).kind, 'conflict');
    equal(await shared.readdir('/src'), ['a', 'b', 'deep']);
    const other = await open({ paths: ['/src/deep'] });
    other.fileSystem.writeFileSync('/src/a', 'over');
    equal(await other.push(), { kind: 'conflict', conflicts: [{ path: '/src/a', ours: 'added', theirs: 'added' }] });
    equal(await shared.readText('/src/a'), 'content of a');
  });
  add('more than the budget is EFBIG, when opening and when pulling', async ({ shared, clock, open }) => {
    await plantTree(shared, clock);
    await rejects(() => open({ budget: 100_000 }), 'EFBIG');
    const copy = await open({ budget: 250_000 });
    await shared.writeFile('/large', new Uint8Array(100_000));
    await rejects(() => copy.pull(), 'EFBIG');
    ok(!copy.fileSystem.existsSync('/large'), 'nothing came in');
  });
  add('arguments of a wrong type are refused', async ({ clients, open }) => {
    await rejects(() => open({ budget: 0.5 }), 'RangeError');
    await rejects(() => open({ paths: [] }), 'TypeError');
    await rejects(() => open({ paths: '/a' as never }), 'TypeError');
    await rejects(() => open({ path: ['/a'] } as never), 'TypeError');
    await rejects(() => openWorkingCopy({} as never), 'TypeError');
    const aborted = AbortSignal.abort(new RangeError('stop'));
    await rejects(() => openWorkingCopy(clients.ours, { signal: aborted }), 'RangeError');
    const copy = await open();
    await rejects(() => copy.pull({ prefer: 'mine' as never }), 'TypeError');
    await rejects(() => copy.push({ signal: aborted }), 'RangeError');
  });
  add('after close only the storage still works', async ({ shared, open }) => {
    const copy = await open();
    await copy.close();
    await rejects(() => copy.push(), 'EBADF');
    await rejects(() => copy.pull(), 'EBADF');
    await rejects(async () => copy.status(), 'EBADF');
    await rejects(async () => copy.fileSystem.readdirSync('/'), 'EBADF');
    await shared.writeFile('/a', 'still');
  });
}

const CHANGES: Readonly<Record<string, (fs: SyncFileSystem) => void>> = {
  'a new file': (fs) => fs.writeFileSync('/src/new', 'new'),
  'a file with other content': (fs) => fs.writeFileSync('/src/a', 'other'),
  'one byte of a large file': (fs) => {
    const handle = fs.openSync('/src/deep/c', 'r+');
    handle.writeSync(new Uint8Array([1]), 100_000);
    handle.closeSync();
  },
  'a longer file': (fs) => fs.appendFileSync('/src/deep/c', new Uint8Array(70_000).fill(1)),
  'a shorter file': (fs) => fs.truncateSync('/src/deep/c', 70_000),
  'an emptied file': (fs) => fs.truncateSync('/src/b'),
  'a mode': (fs) => fs.chmodSync('/src/b', 0o755),
  'a mode of a directory': (fs) => fs.chmodSync('/src', 0o700),
  'an owner of the root': (fs) => fs.chownSync('/', 5, 6),
  times: (fs) => fs.utimesSync('/src/b', 100, 200),
  'times of a directory': (fs) => fs.utimesSync('/docs', 100, 200),
  'times of a link': (fs) => fs.lutimesSync('/docs/link', 100, 200),
  'a removed file': (fs) => fs.unlinkSync('/src/b'),
  'a removed name of a file with two': (fs) => fs.unlinkSync('/src/a'),
  'a removed directory': (fs) => fs.rmSync('/src', { recursive: true }),
  'everything removed': (fs) => {
    for (const name of fs.readdirSync('/')) fs.rmSync(`/${name}`, { recursive: true });
  },
  'a renamed file': (fs) => fs.renameSync('/src/b', '/docs/b'),
  'a renamed name of a file with two': (fs) => fs.renameSync('/src/a', '/docs/a'),
  'a renamed directory': (fs) => fs.renameSync('/src', '/docs/src'),
  'a renamed directory that is changed within': (fs) => {
    fs.renameSync('/src', '/lib');
    fs.rmSync('/lib/b');
    fs.writeFileSync('/lib/deep/new', 'new');
    fs.writeFileSync('/lib/deep/c', 'other');
  },
  'two names exchanged': (fs) => {
    fs.renameSync('/src', '/tmp');
    fs.renameSync('/docs', '/src');
    fs.renameSync('/tmp', '/docs');
  },
  'a directory put into its own child': (fs) => {
    fs.renameSync('/src/deep', '/deep');
    fs.renameSync('/src', '/deep/src');
  },
  'a file moved out of a removed directory': (fs) => {
    fs.renameSync('/src/deep/c', '/c');
    fs.rmSync('/src', { recursive: true });
  },
  'a directory made anew': (fs) => {
    fs.rmSync('/src', { recursive: true });
    fs.mkdirSync('/src');
    fs.writeFileSync('/src/a', 'again');
  },
  'a file in the place of a directory': (fs) => {
    fs.rmSync('/src', { recursive: true });
    fs.writeFileSync('/src', 'a file');
  },
  'a directory in the place of a file': (fs) => {
    fs.rmSync('/src/b');
    fs.mkdirSync('/src/b/deeper', { recursive: true });
  },
  'a file renamed over another': (fs) => fs.renameSync('/src/b', '/docs/d'),
  'a new name of a file': (fs) => fs.linkSync('/src/b', '/docs/second'),
  'a new file with three names': (fs) => {
    fs.writeFileSync('/one', 'x');
    fs.linkSync('/one', '/docs/two');
    fs.linkSync('/one', '/src/deep/three');
  },
  'content of a file with two names': (fs) => fs.writeFileSync('/docs/hard', 'both'),
  'a link': (fs) => fs.symlinkSync('nowhere', '/src/link'),
  'a link with another target': (fs) => {
    fs.rmSync('/docs/link');
    fs.symlinkSync('elsewhere', '/docs/link');
  },
  'a copy': (fs) => fs.cpSync('/src', '/copy', { recursive: true }),
  'names that need care': (fs) => {
    fs.mkdirSync('/__proto__');
    fs.writeFileSync('/__proto__/constructor', '\u{1f600}');
    fs.writeFileSync('/__proto__/\uff5e\u{1f600}', 'astral');
  },
};

function pushCases(add: Add): void {
  for (const [what, change] of Object.entries(CHANGES)) {
    add(`writes ${what} to the storage, whatever others change elsewhere`, async ({ shared, clock, open }) => {
      await plantTree(shared, clock);
      const copy = await open();
      clock.advance(10);
      change(copy.fileSystem);
      const before = dumpSync(copy.fileSystem);
      ok(copy.status().length > 0, 'status says what changed');
      await shared.writeFile('/docs/theirs', 'theirs').catch(() => undefined);
      clock.advance(10);
      const result = await copy.push();
      if (what === 'everything removed') {
        equal(result, { kind: 'conflict', conflicts: [{ path: '/docs/theirs', ours: 'removed', theirs: 'added' }] });
        await shared.rm('/docs/theirs');
        await pushed(copy);
        await copy.pull();
        await same(copy, shared);
        return;
      }
      equal(result.kind, 'pushed');
      equal(copy.status(), []);
      equal(differences(before, dumpSync(copy.fileSystem)), [], 'what push changed here');
      equal(await copy.pull().then(({ kind }) => kind), 'pulled');
      await same(copy, shared);
      equal(await pushed(copy), []);
    });
  }
  add('a push without changes does nothing', async ({ shared, clock, open }) => {
    await plantTree(shared, clock);
    const copy = await open();
    const before = await dump(shared);
    equal(await pushed(copy), []);
    equal(differences(before, await dump(shared)), []);
  });
  add('changes that cancel out are not pushed', async ({ shared, clock, open }) => {
    await plantTree(shared, clock);
    const copy = await open();
    copy.fileSystem.writeFileSync('/new', 'x');
    copy.fileSystem.rmSync('/new');
    equal(copy.status(), []);
  });
  add('changes made during a push are not pushed, and not lost', async ({ shared, clock, open }) => {
    await plantTree(shared, clock);
    const copy = await open();
    copy.fileSystem.writeFileSync('/src/b', 'first');
    const pushing = copy.push();
    copy.fileSystem.writeFileSync('/src/b', 'second');
    equal((await pushing).kind, 'pushed');
    equal(
      copy.status().map(({ path }) => path),
      ['/src/b'],
    );
    await pushed(copy);
    equal(await shared.readText('/src/b'), 'second');
  });
  add('concurrent pushes and pulls run one after another', async ({ shared, clock, open }) => {
    await plantTree(shared, clock);
    const copy = await open();
    copy.fileSystem.writeFileSync('/src/new', 'new');
    await shared.writeFile('/docs/new', 'new');
    const kinds = await Promise.all([copy.push(), copy.pull(), copy.push(), copy.pull()]);
    equal(
      kinds.map(({ kind }) => kind),
      ['pushed', 'pulled', 'pushed', 'pulled'],
    );
    await same(copy, shared);
  });
  add(
    'concurrent pushes of different changes by several working copies all succeed',
    async ({ shared, clock, open }) => {
      await plantTree(shared, clock);
      const copies = await Promise.all([1, 2, 3, 4, 5, 6].map(() => open()));
      copies.forEach(({ fileSystem }, i) => {
        fileSystem.mkdirSync('/out', { recursive: true });
        fileSystem.writeFileSync(`/out/${i}`, `${i}`);
        fileSystem.writeFileSync(`/src/from-${i}`, `${i}`);
      });
      const results = await Promise.all(copies.map((copy) => copy.push()));
      equal(
        results.map(({ kind }) => kind),
        copies.map(() => 'pushed'),
      );
      equal(await shared.readdir('/out'), ['0', '1', '2', '3', '4', '5']);
      for (const copy of copies) {
        equal((await copy.pull()).kind, 'pulled');
        await same(copy, shared);
      }
    },
  );
  add(
    'a push over a limit of the storage is ENOSPC, and nothing changes',
    async ({ shared, clock, open }) => {
      await plantTree(shared, clock);
      const copy = await open({ limits: {} });
      copy.fileSystem.writeFileSync('/fits', 'x');
      await pushed(copy);
      const limited = await open({ limits: { maxNodeCount: 11 } });
      limited.fileSystem.writeFileSync('/last', 'x');
      await rejects(async () => limited.fileSystem.writeFileSync('/more', 'x'), 'ENOSPC');
      await shared.writeFile('/theirs', 'x');
      const before = await dump(shared);
      await rejects(() => limited.push(), 'ENOSPC');
      equal(differences(before, await dump(shared)), []);
      equal(
        limited.status().map(({ path }) => path),
        ['/last'],
      );
    },
    { maxNodeCount: 11 },
  );
}

function pullCases(add: Add): void {
  for (const [what, change] of Object.entries(CHANGES)) {
    add(`merges ${what} with local changes`, async ({ shared, clock, clients, open }) => {
      await plantTree(shared, clock);
      const copy = await open();
      const other = await openWorkingCopy(clients.theirs, { clock: clock.read });
      clock.advance(10);
      change(other.fileSystem);
      await pushed(other);
      copy.fileSystem.writeFileSync('/ours', 'ours');
      const pulled = await copy.pull();
      ok(pulled.kind === 'pulled' && pulled.changes.length > 0, 'pull says what changed');
      equal(
        copy.status().map(({ path }) => path),
        ['/ours'],
      );
      await pushed(copy);
      await same(copy, shared);
    });
  }
  add('a pull without changes leaves open handles open', async ({ shared, clock, open }) => {
    await plantTree(shared, clock);
    const copy = await open();
    const handle = copy.fileSystem.openSync('/src/a', 'r');
    equal(await copy.pull(), { kind: 'pulled', changes: [], conflicts: [] });
    equal(handle.statSync().size, 12);
    await shared.writeFile('/src/b', 'other');
    await copy.pull();
    await rejects(async () => handle.statSync(), 'EBADF');
  });
  add('a rollback to a checkpoint before a pull reverts it, as a local change', async ({ shared, clock, open }) => {
    await plantTree(shared, clock);
    const copy = await open();
    const before = copy.fileSystem.checkpointSync();
    await shared.writeFile('/src/b', 'other');
    await copy.pull();
    copy.fileSystem.rollbackSync(before);
    equal(
      copy.status().map(({ path, change }) => `${change} ${path}`),
      ['modified /src/b'],
    );
  });
  add('a pull over a limit of the working copy is ENOSPC, and nothing changes', async ({ shared, clock, open }) => {
    await plantTree(shared, clock);
    const copy = await open({ limits: { maxNodeCount: 9 } });
    await shared.writeFile('/one', 'x');
    await shared.writeFile('/two', 'x');
    const before = dumpSync(copy.fileSystem);
    await rejects(() => copy.pull(), 'ENOSPC');
    equal(differences(before, dumpSync(copy.fileSystem)), []);
  });
  add('a rollback or restore of the storage is merged like any other change', async ({ shared, clock, open }) => {
    await plantTree(shared, clock);
    const copy = await open();
    await shared.rm('/src/deep', { recursive: true });
    await shared.writeFile('/later', 'x');
    await copy.pull();
    copy.fileSystem.writeFileSync('/ours', 'ours');
    await shared.rm('/later');
    await shared.mkdir('/src/deep');
    equal((await copy.pull()).kind, 'pulled');
    await pushed(copy);
    await same(copy, shared);
  });
}

function conflictCases(add: Add): void {
  for (const testCase of CONFLICT_CASES) {
    const { what, conflicts, preferOurs, preferTheirs } = testCase;
    add(what, async (scene) => {
      const copy = await bothChanged(scene, testCase);
      const { shared } = scene;
      const [before, beforeShared] = [dumpSync(copy.fileSystem), await dump(shared)];
      const pulled = await copy.pull();
      if (pulled.kind === 'pulled') {
        equal([], conflicts);
        await pushed(copy);
        await same(copy, shared);
        return;
      }
      equal(pulled.conflicts.map((one) => `${one.path} ${one.ours} ${one.theirs}`).sort(), conflicts);
      equal(await copy.push(), pulled, 'what push says');
      equal(differences(before, dumpSync(copy.fileSystem)), []);
      equal(differences(beforeShared, await dump(shared)), []);
    });
    for (const [prefer, expected] of [
      ['ours', preferOurs],
      ['theirs', preferTheirs],
    ] as const) {
      if (expected === undefined) continue;
      add(`${what}: pull with prefer: ${prefer}`, async (scene) => {
        const copy = await bothChanged(scene, testCase);
        const pulled = await copy.pull({ prefer });
        ok(pulled.kind === 'pulled' && pulled.conflicts.length === conflicts.length, 'it says what was decided');
        for (const [path, held] of Object.entries(expected)) equal(heldAt(copy.fileSystem, path), held, path);
        await pushed(copy);
        await same(copy, scene.shared);
      });
    }
  }
}

async function bothChanged(
  { shared, clock, clients, open }: Scene,
  { ours, theirs }: ConflictCase,
): Promise<WorkingCopy> {
  await plantTree(shared, clock);
  const copy = await open();
  const other = await openWorkingCopy(clients.theirs, { clock: clock.read });
  clock.advance(10);
  ours(copy.fileSystem);
  clock.advance(10);
  theirs(other.fileSystem);
  await pushed(other);
  return copy;
}

/** Returns the content at a path; `null` for a directory, undefined if the path leads nowhere. */
function heldAt(fs: SyncFileSystem, path: string): string | null | undefined {
  if (!fs.existsSync(path)) return undefined;
  return fs.isDirectorySync(path) ? null : fs.readTextSync(path);
}
