import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileSystem } from 'scratchfs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changeSomething, dump, fillDirectory, seeded } from './testing/random-operations.js';
import { openWorkspace } from './workspace.js';

let directory: string;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'random-undo-')));
  fillDirectory(directory);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const OPERATIONS = 200;
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
          await changeSomething(attempt.fileSystem, random, states.length, shown);
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
