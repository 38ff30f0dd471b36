import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FileSystem, isFsError, isStorageError } from '@scratchfs/core';
import { overlay } from '@scratchfs/core/layers';
import { glob, grep, type LineMatcher } from '@scratchfs/core/search';
import { hostFileSystem, ReadOnlySandboxFS } from '@scratchfs/host';
import { Sandbox } from '@scratchfs/sandbox';
import { Swapper } from './swapper.js';

/** Content of everything outside. */
const OUTSIDE = 'OUTSIDE-8a1f';

const EVERY_LINE: LineMatcher = { find: () => [{ start: 0, end: 0 }] };

interface Ground {
  readonly top: string;
  readonly root: string;
}

/** A scenario in which another process swaps names during calls. Nothing outside may be read, listed or changed. */
export interface Race {
  readonly name: string;
  /**
   * Directory in which names are swapped, relative to the ground. It is held open, so swapping continues after it is
   * moved.
   */
  readonly at: string;
  readonly pairs: readonly (readonly [string, string])[];
  /** Creates the entries that the work removes. */
  readonly prepare?: (ground: Ground) => void;
  /** True if the forbidden part lies within the directory and a sandbox hides it. */
  readonly isHidden?: boolean;
  /** True if changes stay in memory, over a directory that is only read. */
  readonly isOverlaid?: boolean;
  /** Number of concurrent calls. */
  readonly atOnce: number;
  readonly work: readonly ((fs: FileSystem, i: number, ground: Ground) => Promise<unknown>)[];
}

const READS: Race['work'] = [
  (fs) => fs.readText('/d/e/f'),
  (fs) => fs.readFile('/d/e/f'),
  (fs) => fs.readdir('/d/e'),
  (fs) => fs.readdir('/d/e', { withFileTypes: true }),
  (fs) => fs.entries('/d/e', { content: true }),
  (fs) => fs.getEntry('/d/e/f'),
  (fs) => all(fs.walk('/d')),
  (fs) => new Response(fs.createReadStream('/d/e/f')).text(),
  (fs) => all(glob(fs, '**')),
  (fs) => all(grep(fs, EVERY_LINE)),
  (fs) => fs.realpath('/d/e/f'),
  async (fs) => ((await fs.exists('/d/e/only-outside')) ? OUTSIDE : ''),
  (fs) => fs.stat('/d/e/only-outside').then(() => OUTSIDE),
  async (fs) => {
    const handle = await fs.open('/d/e/f', 'r');
    try {
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  },
  (fs) => fs.copyFile('/d/e/f', '/copy').then(() => fs.readText('/copy')),
];

const WRITES: Race['work'] = [
  (fs) => fs.writeFile('/d/e/f', 'inside too'),
  (fs) => fs.appendFile('/d/e/f', '!'),
  (fs) => fs.truncate('/d/e/f', 3),
  (fs) => fs.editFile('/d/e/f', 'i', 'I'),
  (fs) => fs.chmod('/d/e/f', 0o600),
  (fs) => fs.chown('/d/e/f', 12, 12),
  (fs) => fs.utimes('/d/e/f', 1, 2),
  (fs) => fs.lutimes('/d/e/f', 1, 2),
  (fs, i) => fs.writeFile(`/d/e/new-${i % 3}`, 'new'),
  (fs, i) => fs.mkdir(`/d/e/made-${i % 3}/deep`, { recursive: true }),
  (fs, i) => fs.rm(`/d/e/made-${i % 3}`, { recursive: true, force: true }),
  (fs, i) => fs.rm(`/d/e/new-${i % 3}`, { force: true }),
  (fs) => fs.symlink('f', '/d/e/link'),
  (fs) => fs.unlink('/d/e/link'),
  (fs) => fs.link('/d/e/f', '/d/e/second'),
  (fs) => fs.unlink('/d/e/second'),
  (fs) => fs.rename('/d/e/f', '/d/e/g'),
  (fs) => fs.rename('/d/e/only-outside', '/caught').then(() => OUTSIDE),
  (fs) => fs.unlink('/d/e/only-outside').then(() => OUTSIDE),
  async (fs) => fs.rmdir(await fs.mkdtemp('/d/e/tmp-')),
  async (fs) => {
    const handle = await fs.open('/d/e/f', 'r+');
    try {
      await handle.write('I', 0);
    } finally {
      await handle.close();
    }
  },
  (fs) => new Response('streamed').body?.pipeTo(fs.createWriteStream('/d/e/streamed')) ?? Promise.resolve(),
];

/** Reads the whole directory, without a sandbox around it. */
const readOnly: Race['work'][number] = async (_fs, _i, { root }) => {
  await using sandbox = new ReadOnlySandboxFS({ rootDir: root });
  return [await sandbox.readText('d/e/f'), await sandbox.listFiles()];
};

const READING = { work: [...READS, readOnly], atOnce: 8 };
/** Writing calls wait for each other, so two are enough. */
const WRITING = { work: WRITES, atOnce: 2 };

export const RACES: readonly Race[] = [
  { name: 'a directory and a link out, read', at: 'root', pairs: [['d', 'out']], ...READING },
  { name: 'a directory further down and a link out, read', at: 'root/d', pairs: [['e', 'out']], ...READING },
  { name: 'a file and a link out, read', at: 'root/d/e', pairs: [['f', 'out']], ...READING },
  {
    name: 'a link in and a link out, read',
    at: 'root/d',
    pairs: [['in', 'out']],
    ...READING,
    work: viaLink([...READS, readOnly]),
  },
  { name: 'a directory and a link out, written', at: 'root', pairs: [['d', 'out']], ...WRITING },
  { name: 'a directory further down and a link out, written', at: 'root/d', pairs: [['e', 'out']], ...WRITING },
  { name: 'a file and a link out, written', at: 'root/d/e', pairs: [['f', 'out']], ...WRITING },
  {
    name: 'a link in and a link out, written',
    at: 'root/d',
    pairs: [['in', 'out']],
    ...WRITING,
    work: viaLink(WRITES),
  },
  {
    name: 'a directory and a link to what a sandbox hides, read',
    at: 'root/d',
    pairs: [['e', 'out']],
    ...READING,
    work: READS,
    isHidden: true,
  },
  {
    name: 'a directory and a link to what a sandbox hides, written',
    at: 'root/d',
    pairs: [['e', 'out']],
    ...WRITING,
    isHidden: true,
  },
  {
    name: 'a directory and a link out, beneath an overlay',
    at: 'root/d',
    pairs: [['e', 'out']],
    work: [...READS, ...WRITES],
    atOnce: 8,
    isOverlaid: true,
  },
  {
    name: 'what is removed, and a link out',
    at: 'root/t',
    pairs: [['e', 'out']],
    prepare: planted,
    atOnce: 1,
    work: [(fs) => fs.rm('/t', { recursive: true })],
  },
  {
    name: 'what is copied, and a link out',
    at: 'root/t',
    pairs: [['e', 'out']],
    prepare: planted,
    atOnce: 1,
    work: [
      async (fs, _i, { root }) => {
        await fs.cp('/t', '/u', { recursive: true });
        // Read with plain `node:fs`, which sees everything, because no names are swapped in the copy.
        const found = held(join(root, 'u'));
        await fs.rm('/u', { recursive: true });
        return found;
      },
    ],
  },
];

function viaLink(work: Race['work']): Race['work'] {
  return work.map(
    (each) => (fs, i, ground) =>
      each(
        new Proxy(fs, {
          get: (target, key) => {
            const value: unknown = Reflect.get(target, key);
            if (typeof value !== 'function') return value;
            return (...args: unknown[]) =>
              value.apply(
                target,
                args.map((arg) => (typeof arg === 'string' ? arg.replace('/d/e', '/d/in') : arg)),
              );
          },
        }),
        i,
        ground,
      ),
  );
}

/** Enough names that swaps happen in the middle of a call. */
const MANY = ['f', 'g', 'sub/h', 'n3'];
const FEW = ['f', 'g', 'sub/h'];

function tree(place: string, outside: string, names: readonly string[]): void {
  mkdirSync(join(place, 'e/sub'), { recursive: true });
  for (const name of names) writeFileSync(join(place, 'e', name), 'inside');
  symlinkSync(outside, join(place, 'out'));
}

/** Creates a tree with one rename if it does not exist, so that names are never swapped in an incomplete one. */
function planted({ root, top }: Ground): void {
  if (existsSync(join(root, 't'))) return;
  tree(join(top, 'planted'), join(top, 'outside'), MANY);
  renameSync(join(top, 'planted'), join(root, 't'));
}

/** Returns every name and content under a directory, links not followed. */
function held(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const stat = lstatSync(path);
    if (stat.isDirectory()) return [name, ...held(path)];
    return stat.isFile() ? [name, readFileSync(path, 'utf8')] : [name];
  });
}

/** Returns everything outside as text. It includes ctime, which no call can set and every change updates. */
function told(folder: string): string {
  return ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]
    .sort()
    .map((name) => {
      const stat = statSync(join(folder, name), { bigint: true });
      return `${name} ${stat.ino} ${stat.mode} ${stat.uid} ${stat.size} ${stat.nlink} ${stat.mtimeNs} ${stat.ctimeNs}`;
    })
    .join('\n');
}

const SHOWN = { paths: { d: { root: '/d', mode: 'rw' as const } } };

/**
 * Longest pause between swaps, in seconds. A call that finds a change each time it looks gives up, and without pauses
 * the race would test nothing.
 */
const PAUSE = 0.1;
/** Longest pause in seconds for a call that takes as long as many others and restarts when it finds a change. */
const LONG_PAUSE = 0.4;
/**
 * Number of calls from one check of the outside to the next. Rare checks suffice: ctime keeps a change there visible.
 */
const LOOK_AFTER = 64;
/** Number of calls that share one overlay, which keeps what it has read. */
const SHARED = 8;

export interface Raced {
  readonly iterations: number;
  /** Number of successful calls. If all fail, the race tests nothing. */
  readonly done: number;
  /** Number of swaps that really happened. */
  readonly swaps: number;
  readonly escapes: readonly string[];
}

function viewOf(race: Race, host: FileSystem): FileSystem {
  if (race.isOverlaid === true) return overlay(host);
  return race.isHidden === true ? new Sandbox(host, SHOWN).fileSystem : host;
}

export interface RunOptions {
  /** Seed of the swap times. Default: a new one each run. */
  readonly seed?: number | undefined;
  /** Called after each call with the progress. */
  readonly onCall?: (at: { readonly calls: number; readonly swaps: number; readonly escapes: number }) => void;
}

/** Runs a race. */
export async function run(race: Race, iterations: number, { seed, onCall }: RunOptions = {}): Promise<Raced> {
  const top = mkdtempSync(join(tmpdir(), 'scratchfs-race-'));
  const ground = { top, root: join(top, 'root') };
  const outside = join(top, race.isHidden === true ? 'root/hidden' : 'outside');
  mkdirSync(ground.root);
  for (const place of [outside, join(outside, 'e')]) {
    mkdirSync(place);
    for (const name of ['f', 'only-outside', 'n3', 'n17', 'n28']) writeFileSync(join(place, name), OUTSIDE);
  }
  tree(join(ground.root, 'd'), outside, FEW);
  writeFileSync(join(ground.root, 'keep'), 'inside');
  symlinkSync(outside, join(ground.root, 'out'));
  symlinkSync('e', join(ground.root, 'd/in'));
  symlinkSync(join(outside, 'f'), join(ground.root, 'd/e/out'));
  const before = told(outside);
  const host = hostFileSystem(ground.root, { readonly: race.isOverlaid === true });
  let fs = viewOf(race, host);
  const escapes: string[] = [];
  let done = 0;
  let swaps = 0;
  let next = 0;
  let swapper: Swapper | undefined;
  try {
    const play = async (): Promise<void> => {
      // On a busy machine one of the two processes may get little time, so the race goes on until both got enough.
      const isEnough = () => done > iterations / 100 && (swapper?.swaps ?? 0) > iterations / 2;
      while ((next < iterations || (!isEnough() && next < 20 * iterations)) && escapes.length < 5) {
        // The swapper's output is read in a turn of the event loop.
        if (next >= iterations) await new Promise((resolve) => setImmediate(resolve));
        const at = next++;
        race.prepare?.(ground);
        if (race.isOverlaid === true && at % SHARED === 0) fs = viewOf(race, host);
        const work = race.work[at % race.work.length] as Race['work'][number];
        const outcome = await outcomeOf(() => work(fs, at, ground));
        if (outcome.isDone) done += 1;
        if (outcome.text.includes(OUTSIDE)) escapes.push(`${work}: ${outcome.text}`);
        if (outcome.isDone && outcome.text.includes('only-outside')) escapes.push(`${work}: listed ${outcome.text}`);
        if (!outcome.isDone && outcome.text.includes(top)) escapes.push(`${work}: told of the host: ${outcome.text}`);
        if (at % LOOK_AFTER === 0 && told(outside) !== before)
          escapes.push(`changed outside:\n${before}\n→\n${told(outside)}`);
        onCall?.({ calls: at + 1, swaps: swapper?.swaps ?? 0, escapes: escapes.length });
      }
    };
    race.prepare?.(ground);
    const pause = race.prepare === undefined ? PAUSE : LONG_PAUSE;
    swapper = await Swapper.start(join(top, race.at), race.pairs, pause, seed);
    await Promise.all(Array.from({ length: race.atOnce }, play));
  } finally {
    next = Number.POSITIVE_INFINITY;
    swaps = (await swapper?.stop()) ?? 0;
    await host.close();
    if (told(outside) !== before) escapes.push(`at the end: changed outside:\n${before}\n→\n${told(outside)}`);
    rmSync(top, { recursive: true, force: true });
  }
  return { iterations, done, swaps, escapes };
}

async function outcomeOf(work: () => Promise<unknown>): Promise<{ readonly isDone: boolean; readonly text: string }> {
  try {
    return { isDone: true, text: textOf(await work()) };
  } catch (error) {
    if (!isFsError(error) && !isStorageError(error)) throw error;
    return { isDone: false, text: `${error.message} ${JSON.stringify(error)} ${String(error.cause ?? '')}` };
  }
}

function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (Array.isArray(value)) return value.map(textOf).join(' ');
  if (typeof value === 'object' && value !== null) return Object.values(value).map(textOf).join(' ');
  return String(value);
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
