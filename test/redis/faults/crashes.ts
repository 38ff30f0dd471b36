import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '@scratchfs/testkit';
import { connect, stateAt } from '../clients.js';
import { RedisServer } from '../servers/redis-server.js';
import { PrivateDirectory } from './private-directory.js';

export interface CrashReport {
  kills: number;
  acknowledged: number;
  /** Operations whose outcome the storage could not tell. */
  unanswered: number;
  readonly problems: string[];
}

const CLIENTS = 2;
const WRITERS_OF_EACH = 4;
/** Kills per server. The append-only file grows with each. */
const ROUNDS = 50;

/**
 * Repeatedly kills and restarts a server with an append-only file while clients write. Compares the state after each
 * restart with the acknowledged operations.
 */
export async function killAndCompare(seed: number, kills: number, report: CrashReport): Promise<void> {
  const random = new Random(seed);
  const server = await RedisServer.start({ appendOnly: 'always' });
  const place = { url: server.url, namespace: `crash-${seed}` };
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => connect(place, { timeoutMs: 5_000 })));
  const writers = clients.flatMap(({ fs }, client) =>
    Array.from(
      { length: WRITERS_OF_EACH },
      (_, writer) => new PrivateDirectory(fs, `/w${client}${writer}`, new Random(seed * 100 + client * 10 + writer)),
    ),
  );
  try {
    for (const writer of writers) await writer.begin();
    for (let round = 0; round < Math.min(kills, ROUNDS); round++) {
      let isOver = false;
      const writing = writers.map(async (writer) => {
        while (!isOver) await writer.step();
      });
      await sleep(random.below(40));
      await server.kill();
      report.kills += 1;
      // Sometimes the clients see the dead server for a while, sometimes they hardly notice.
      await sleep(random.below(30));
      await server.start();
      await sleep(random.below(20));
      isOver = true;
      await Promise.all(writing);
      const there = await stateAt(place);
      for (const writer of writers) writer.check(there);
      if (writers.some(({ problems }) => problems.length > 0)) break;
    }
  } catch (error) {
    report.problems.push(`seed ${seed}: ${String(error)}`);
  } finally {
    for (const writer of writers) {
      report.acknowledged += writer.acknowledged;
      report.unanswered += writer.unanswered;
      report.problems.push(...writer.problems.map((problem) => `seed ${seed}: ${problem}`));
    }
    await Promise.all(clients.map((client) => client.close()));
    await server.stop();
  }
}
