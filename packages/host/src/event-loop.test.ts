import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { isTurnDue, nextTurn } from './event-loop.js';
import { hostFileSystem } from './host-file-system.js';

const root = mkdtempSync(join(tmpdir(), 'scratchfs-turns-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Returns the number of rounds of the event loop that passed during some work. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let ended = false;
  const count = (): void => {
    if (ended) return;
    turns += 1;
    setImmediate(count);
  };
  setImmediate(count);
  await work();
  ended = true;
  return turns;
}

function hold(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
}

describe('a directory of the host', () => {
  it('isTurnDue() is true after calls have followed each other for long, and false at the beginning of a round', async () => {
    await setTimeout(1);
    expect(isTurnDue()).toBe(false);
    hold(20);
    expect(isTurnDue()).toBe(true);
    await nextTurn();
    expect(isTurnDue()).toBe(false);
  });

  it('nextTurn() resumes only one waiting caller in a round', async () => {
    let turns = 0;
    const count = (): void => {
      turns += 1;
      if (turns < 100) setImmediate(count);
    };
    setImmediate(count);
    const met = await Promise.all(
      Array.from({ length: 5 }, async () => {
        await nextTurn();
        return turns;
      }),
    );
    expect(new Set(met).size).toBe(5);
  });

  it('yields to the event loop during repeated calls', async () => {
    await using fs = hostFileSystem(root);
    const begin = performance.now();
    const turns = await turnsDuring(async () => {
      while (performance.now() - begin < 200) await fs.stat('/');
    });
    expect(turns).toBeGreaterThan(4);
  });

  it('yields to the event loop while many names are listed, and while links in a moved tree are checked', async () => {
    mkdirSync(join(root, 'a/many'), { recursive: true });
    for (let i = 0; i < 3000; i++) symlinkSync('x', join(root, 'a/many', `link-${i}`));
    writeFileSync(join(root, 'a/many/x'), 'x');
    await using fs = hostFileSystem(root);
    const listing = fs.entries('/a/many');
    expect(await turnsDuring(() => listing)).toBeGreaterThan(2);
    expect(await listing).toHaveLength(3001);
    expect(await turnsDuring(() => fs.rename('/a/many', '/many'))).toBeGreaterThan(2);
  });
});
