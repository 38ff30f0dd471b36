import { chmodSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileSystem } from 'scratchfs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changeSomething, dump, fillDirectory, seeded } from './testing/random-operations.js';
import { openWorkspace } from './workspace.js';

let directory: string;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'random-undo-')));
  // A command of root runs as another user.
  chmodSync(directory, 0o755);
  fillDirectory(directory);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const OPERATIONS = 200;
/** Operations that are commands, which take longer than others. */
const COMMANDS: ReadonlyMap<number, string> = new Map(
  existsSync('/usr/bin/bwrap')
    ? [
        [
          60,
          'mkdir -p made/deep; for f in $(find . -type f | sort | head -3); do echo command >> $f; done; echo x > made/deep/x',
        ],
        [
          140,
          'rm -rf $(ls | head -2); for f in $(find . -type f | sort | head -2); do chmod 700 $f; mv $f $f.moved; done; ln -s x new-link',
        ],
      ]
    : [],
);
const FIRST_SEED = Number(process.env['UNDO_SEED'] ?? 1);
const SEEDS = Number(process.env['UNDO_SEEDS'] ?? 10);

describe('a random sequence of operations', () => {
  it.each(Array.from({ length: SEEDS }, (_, i) => FIRST_SEED + i))(
    'is undone and redone byte for byte, also by a process that opens it later (seed %i)',
    { timeout: 120_000 },
    async (seed) => {
      const random = seeded(seed);
      const store = createFileSystem();
      const states: string[][] = [];
      {
        await using workspace = await openWorkspace(directory, { store });
        const attempt = await workspace.attempt();
        let shown = await dump(attempt.fileSystem);
        states.push(shown);
        while (states.length <= OPERATIONS) {
          const command = COMMANDS.get(states.length);
          if (command !== undefined) await attempt.run(command);
          else await changeSomething(attempt.fileSystem, random, states.length, shown);
          shown = await dump(attempt.fileSystem);
          // A call that had nothing to do is no operation.
          if ((await attempt.head()) === states.length) states.push(shown);
        }
      }
      await using workspace = await openWorkspace(directory, { store });
      const attempt = await workspace.attempt();
      const fs = attempt.fileSystem;
      expect(await attempt.head()).toBe(OPERATIONS);
      for (const at of [0, OPERATIONS >> 1, OPERATIONS])
        expect([at, await dump(attempt.at(at))]).toEqual([at, states[at]]);
      for (let i = OPERATIONS; i > 0; i--) {
        await attempt.undo();
        expect([i, await dump(fs)]).toEqual([i, states[i - 1]]);
      }
      expect((await attempt.diff()).paths).toEqual([]);
      for (let i = 1; i <= OPERATIONS; i++) {
        await attempt.redo();
        if (i % 10 === 0) expect([i, await dump(fs)]).toEqual([i, states[i]]);
      }
      await attempt.restore(OPERATIONS >> 2);
      expect(await dump(fs)).toEqual(states[OPERATIONS >> 2]);
    },
  );
});
