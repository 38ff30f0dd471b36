import { type EntryInfo, type FileSystem, openFileSystem } from '@scratchfs/core';
import { openWorkingCopy, type WorkingCopy } from '@scratchfs/core/working-copy';
import { type Dump, differences, dump, dumpSync, recount } from '../dump.js';
import { Random } from '../random.js';
import { fail } from '../suite/assert.js';
import { manualClock } from '../suite/context.js';
import type { WorkingCopyClients } from './clients.js';
import { differencesOf, identitiesOf, mergeIdentities } from './identities.js';
import { applyEdit, applyEditSync, type Edit, randomEdit } from './random-edit.js';

const SHARED_NAMES = ['a', 'b', 'c', 'd'];

/** Number of rounds of each kind. */
export interface RoundCounts {
  clean: number;
  conflicts: number;
}

/**
 * Plays rounds of random changes by a working copy, which pulls and pushes, and by another client of the same storage.
 * In rounds in which the sides create entries with different names, the merge is compared with a brute-force merge over
 * all names and nodes.
 */
export async function randomRounds(clients: WorkingCopyClients, seed: number, rounds: number): Promise<RoundCounts> {
  const random = new Random(seed);
  const clock = manualClock();
  const options = { clock: clock.read, random: (below: number) => random.below(below) };
  const shared = await openFileSystem(clients.theirs, options);
  const log: string[] = [];
  const editShared = async (names: readonly string[], count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      const edit = randomEdit(random, await listing(shared), { names, now: clock.advance(random.below(3)) });
      if (await applyEdit(shared, edit)) log.push(`theirs ${print(edit)}`);
    }
  };
  await editShared(SHARED_NAMES, 40);
  const copy = await openWorkingCopy(clients.ours, options);
  const report: RoundCounts = { clean: 0, conflicts: 0 };
  try {
    for (let round = 0; round < rounds; round++) {
      const base = await identitiesOf(copy.fileSystem);
      log.push(`round ${round}`);
      // With shared names, both sides may create the same entry, with different identities.
      const areApart = random.chance(0.7);
      for (let i = random.below(5); i > 0; i--) {
        const names = areApart ? ['our1', 'our2', 'our3'] : SHARED_NAMES;
        const edit = randomEdit(random, [...copy.fileSystem.walkSync('/')], {
          names,
          now: clock.advance(random.below(3)),
        });
        if (applyEditSync(copy.fileSystem, edit)) log.push(`ours ${print(edit)}`);
      }
      await editShared(areApart ? ['their1', 'their2', 'their3'] : SHARED_NAMES, random.below(4));
      await playRound(copy, shared, base, random, areApart, report);
    }
  } catch (error) {
    if (error instanceof Error) error.message = `seed ${seed}: ${error.message}\n${log.slice(-60).join('\n')}`;
    throw error;
  } finally {
    await copy.close();
    await shared.close();
  }
  return report;
}

async function playRound(
  copy: WorkingCopy,
  shared: FileSystem,
  base: Awaited<ReturnType<typeof identitiesOf>>,
  random: Random,
  areApart: boolean,
  report: RoundCounts,
): Promise<void> {
  const ours = await identitiesOf(copy.fileSystem, base);
  const theirs = await identitiesOf(shared, base);
  const expected = mergeIdentities(base, ours, theirs);
  const before = dumpSync(copy.fileSystem);
  const beforeShared = await stateOf(shared);
  const pushesFirst = random.chance(0.5);
  if (pushesFirst) {
    const { kind } = await copy.push();
    if (areApart && (kind === 'pushed') !== (expected !== undefined))
      fail(`push answered ${kind}, but the two sides ${expected === undefined ? 'do' : 'do not'} conflict`);
    check('push left its own side alone', differences(before, dumpSync(copy.fileSystem)));
    if (kind === 'conflict') check('a refused push changed nothing', differences(beforeShared, await stateOf(shared)));
    else if (areApart && expected !== undefined)
      check('the storage has what was pushed', differencesOf(expected, await identitiesOf(shared, base)));
  }
  const pulled = await copy.pull();
  if (areApart && (pulled.kind === 'pulled') !== (expected !== undefined))
    fail(`pull answered ${pulled.kind}, but the two sides ${expected === undefined ? 'do' : 'do not'} conflict`);
  if (pulled.kind === 'conflict') {
    report.conflicts += 1;
    check('a refused pull changed nothing', differences(before, dumpSync(copy.fileSystem)));
    const prefer = random.pick(['ours', 'theirs'] as const);
    const chosen = await copy.pull({ prefer });
    if (chosen.kind !== 'pulled') fail(`pull with prefer: ${prefer} answered ${chosen.kind}`);
    if (chosen.conflicts.length !== pulled.conflicts.length)
      fail('the conflicts that were decided are not those that were found');
  } else {
    report.clean += 1;
    if (areApart && expected !== undefined)
      check('the merge', differencesOf(expected, await identitiesOf(copy.fileSystem, base)));
  }
  const pushed = await copy.push();
  if (pushed.kind !== 'pushed') fail(`push after pull answered ${JSON.stringify(pushed)}`);
  check('both sides are the same', differences(dumpSync(copy.fileSystem), await stateOf(shared)));
  if (copy.status().length > 0) fail(`after all, status says ${JSON.stringify(copy.status())}`);
}

/** Reads the state of a client and recounts it, because a storage need not count. */
async function stateOf(fileSystem: FileSystem): Promise<Dump> {
  const state = await dump(fileSystem);
  return { ...state, stats: recount(state) };
}

function check(what: string, wrong: readonly string[]): void {
  if (wrong.length > 0) fail(`${what}: ${wrong.slice(0, 8).join('; ')}`);
}

async function listing(fileSystem: FileSystem): Promise<EntryInfo[]> {
  const all: EntryInfo[] = [];
  for await (const info of fileSystem.walk('/')) all.push(info);
  return all;
}

function print({ method, args }: Edit): string {
  return `${method} ${args.map((one) => (one instanceof Uint8Array ? `${one.length} bytes` : JSON.stringify(one))).join(' ')}`;
}
