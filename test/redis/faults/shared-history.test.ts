import { describe, expect, it } from 'vitest';
import { checkSharedHistory } from '../../faults/remote/shared-history.js';
import { redisRemote } from '../remote.js';
import { hasOwnServer } from '../servers/test-server.js';
import { disturb } from './disturb.js';
import { useProcesses, useServer } from './test-fixtures.js';

/** Two of the bugs that the memory tests inject. They show that the checker also notices them on a server. */
const BUGS = ['ignores all checks', 'drops the last write of a batch'];
const LONG_TIMEOUT = { timeout: 600_000 };

describe.skipIf(!hasOwnServer)('8 clients × 100 operations in 3 processes', () => {
  const on = useServer();
  const processes = useProcesses();

  it('are linearizable', LONG_TIMEOUT, async () => {
    for (let seed = 1; seed <= 4; seed++)
      expect(await checkSharedHistory(redisRemote, processes.pool, on.place(), seed), `seed ${seed}`).toEqual([]);
  });

  it('are linearizable on a server that is disturbed, over connections that fail', LONG_TIMEOUT, async () => {
    for (let seed = 11; seed <= 12; seed++) {
      const options = { faults: 0.01, disturb: disturb(on.server, seed) };
      expect(await checkSharedHistory(redisRemote, processes.pool, on.place(), seed, options), `seed ${seed}`).toEqual(
        [],
      );
    }
  });

  it.each(BUGS)('the checker finds a client that %s', LONG_TIMEOUT, async (bug) => {
    let found: string[] = [];
    for (let seed = 1; seed <= 8 && found.length === 0; seed++)
      found = await checkSharedHistory(redisRemote, processes.pool, on.place(), seed, { bug, operations: 50 });
    expect(found).not.toEqual([]);
  });
});
