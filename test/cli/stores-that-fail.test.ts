import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mountSmallDisk, unmountSmallDisk, whyNoDisk } from '../attacks/small-disk.js';
import { folder, ok, run } from './program.js';
import { repository } from './repository.js';

const noDisk = whyNoDisk();

describe('a store', () => {
  it.skipIf(noDisk !== undefined)(
    `on a full disk loses nothing and says so (${noDisk ?? 'a disk of 1 MB'})`,
    async () => {
      const cwd = repository();
      const state = folder('small');
      const env = { XDG_STATE_HOME: state };
      mountSmallDisk(state);
      try {
        await ok(['fs', 'write', 'a', 'first'], { cwd, env });
        expect(() => writeFileSync(join(state, 'fill'), new Uint8Array(2 ** 21))).toThrow('ENOSPC');
        for (const args of [['fs', 'write', 'a', 'second'], ['undo'], ['fork', 'x'], ['accept']]) {
          const { code, stderr } = await run(args, { cwd, env });
          expect({ args, code, stderr }).toEqual({ args, code: 1, stderr: expect.stringContaining('free some space') });
        }
        expect(await ok(['fs', 'cat', 'a'], { cwd, env })).toBe('first');
        rmSync(join(state, 'fill'));
        await ok(['undo'], { cwd, env });
        await ok(['redo'], { cwd, env });
        expect(await ok(['fs', 'cat', 'a'], { cwd, env })).toBe('first');
      } finally {
        unmountSmallDisk(state);
      }
    },
  );

  it('of another workspace is refused, and so is one that an agent could change', async () => {
    const [cwd, other] = [repository(), repository()];
    const store = folder('store');
    await ok(['fork', 'mine', '--store', store], { cwd });
    const { code, stderr } = await run(['fork', 'theirs', '--store', store], { cwd: other });
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining(`belongs to the workspace '${cwd}'`) });
    expect(await ok(['attempts', '--names', '--store', store], { cwd })).toBe('mine\n');
    for (const inside of ['./store', 'sqlite:./agents.db', `file://${cwd}/store`])
      expect(await run(['fork', 'x', '--store', inside], { cwd })).toMatchObject({ code: 4 });
    expect(readdirSync(cwd).sort()).toEqual(['.git', 'b.txt', 'src']);
  });
});
