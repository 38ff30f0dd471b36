import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '@scratchfs/testkit';
import { openWorkspace } from '@scratchfs/workspace';
import { bundleProgram } from './bundle-program.js';
import { leftovers, told } from './host-changes.js';
import { printed } from './printed.js';

/** Number of directories that a pair of programs works on, because starting a program is slow. */
const TOGETHER = 20;
/** Number of times that a program makes its three operations in a directory. */
const ROUNDS = 1;

export interface KilledOperations {
  /** Directories in which the killed program had left a note or files about an operation that it had begun. */
  readonly within: number;
  readonly operations: number;
  readonly problems: readonly string[];
}

/**
 * Lets two programs change live workspaces at the same time and kills one of them (SIGKILL) at a random moment. Then
 * everything that the log has is undone, and the directory must be as it was. It is not if a change had no line, or a
 * line no change.
 */
export async function killOperations(count: number, random: Random): Promise<KilledOperations> {
  const top = mkdtempSync(join(tmpdir(), 'scratchfs-live-'));
  process.env['XDG_STATE_HOME'] = join(top, 'state');
  const result = { within: 0, operations: 0, problems: [] as string[] };
  try {
    const program = await bundleProgram('live-program.ts', top);
    for (let done = 0; done < count && result.problems.length < 10; done += TOGETHER) {
      const disks = Array.from({ length: TOGETHER }, (_, i) => ground(join(top, `ground-${done + i}`)));
      const before = told(disks[0] as string);
      const [first, second] = [start(program, 'a', disks), start(program, 'b', disks)];
      await Promise.all([first, second].map((child) => printed(child, 'ready')));
      const ended = [first, second].map((child) => once(child, 'exit'));
      const isDone = printed(second, 'done');
      const moment = acknowledged(first, random.below(TOGETHER * ROUNDS));
      for (const child of [first, second]) child.stdin?.write('go\n');
      await Promise.race([moment, isDone]);
      await pause(random.below(10));
      first.kill('SIGKILL');
      await isDone;
      await Promise.all(ended);
      for (const [i, disk] of disks.entries()) await check(disk, before, i % 4 === 0, result);
    }
    return result;
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

async function check(
  disk: string,
  before: string,
  isStepwise: boolean,
  result: { within: number; operations: number; problems: string[] },
): Promise<void> {
  const problem = (text: string): void => void result.problems.push(`${disk}: ${text}`);
  if (leftovers(disk).length > 0) result.within++;
  await using workspace = await openWorkspace(disk, { live: true });
  const attempt = await workspace.attempt();
  try {
    if (isStepwise) while ((await attempt.next('undo')) !== undefined) await attempt.undo();
    else await attempt.restore(0);
  } catch (error) {
    problem(String(error));
  }
  result.operations += await attempt.head();
  const now = told(disk);
  if (now !== before) problem(`not as before:\n${now}\nbefore:\n${before}`);
  if (leftovers(disk).length > 0) problem(`left ${leftovers(disk)}`);
  rmSync(disk, { recursive: true });
}

function ground(disk: string): string {
  mkdirSync(disk);
  writeFileSync(join(disk, 'shared'), 'first\n');
  writeFileSync(join(disk, 'run'), '#!/bin/sh\n');
  chmodSync(join(disk, 'run'), 0o755);
  for (let i = 0; i < ROUNDS; i++) for (const name of ['a', 'b']) writeFileSync(join(disk, `old-${name}${i}`), name);
  return disk;
}

function start(program: string, name: string, disks: readonly string[]): ChildProcess {
  return spawn(process.execPath, [program, name, String(ROUNDS), ...disks], { stdio: ['pipe', 'pipe', 'inherit'] });
}

/** Resolves when a program has printed that it has made a number of rounds. */
async function acknowledged(child: ChildProcess, count: number): Promise<void> {
  let seen = '';
  for await (const chunk of child.stdout ?? [])
    if ((seen += String(chunk)).split('acknowledged').length > count) return;
}
