import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Attempt } from './attempt-types.js';
import { changeSomething, dump, fillDirectory, seeded } from './testing/random-operations.js';
import { openWorkspace } from './workspace.js';

let directory: string;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'random-accept-')));
  fillDirectory(directory);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const ROUNDS = Number(process.env['ACCEPT_ROUNDS'] ?? 6);
const FIRST_SEED = Number(process.env['ACCEPT_SEED'] ?? 1);
const SEEDS = Number(process.env['ACCEPT_SEEDS'] ?? 1);

/** Returns what a filesystem shows, without sizes, times and the modes of links. */
async function shown(fs: Attempt['fileSystem']): Promise<string[]> {
  const lines = (await dump(fs)).map((line) => JSON.parse(line) as [string, string, number, number, string]);
  return lines.map(([path, kind, mode, , data]) => JSON.stringify([path, kind, kind === 'symlink' ? 0 : mode, data]));
}

describe('a random sequence of operations', () => {
  it.each(Array.from({ length: SEEDS }, (_, i) => FIRST_SEED + i))(
    'is on the disk after it is accepted, whole or in parts, and undone there (seed %i)',
    { timeout: 120_000 },
    async (seed) => {
      const random = seeded(seed);
      await using workspace = await openWorkspace(directory, { store: 'memory:' });
      const attempt = await workspace.attempt();
      const onDisk = (): Promise<string[]> => shown(attempt.at(0));
      for (let round = 0; round < ROUNDS; round++) {
        for (let i = random(8); i >= 0; i--)
          await changeSomething(attempt.fileSystem, random, round, await dump(attempt.fileSystem));
        const [wanted, before] = [await shown(attempt.fileSystem), await onDisk()];
        const { paths } = await attempt.diff();
        if (paths.length > 0 && random(2) === 0) {
          const { path } = paths[random(paths.length)] as { path: string };
          const { success, operation } = await attempt.accept({ paths: [path] });
          expect([round, path, success, await shown(attempt.fileSystem)]).toEqual([round, path, true, wanted]);
          if (operation !== undefined && random(2) === 0) {
            await attempt.undo();
            expect([round, path, await onDisk()]).toEqual([round, path, before]);
            expect([round, path, await shown(attempt.fileSystem)]).toEqual([round, path, wanted]);
          }
        }
        const { success, conflicts } = await attempt.accept();
        expect([round, success, conflicts, await onDisk()]).toEqual([round, true, [], wanted]);
        expect([round, await shown(attempt.fileSystem)]).toEqual([round, wanted]);
        expect([round, (await attempt.diff()).paths]).toEqual([round, []]);
      }
    },
  );
});
