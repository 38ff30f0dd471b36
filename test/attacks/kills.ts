import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostFileSystem, recoverDirectory } from '@scratchfs/host';
import type { Random } from '@scratchfs/testkit';
import { bundleProgram } from './bundle-program.js';
import { APPLICATIONS, type Changes, fill, leftovers, RECOVERY, RECOVERY_STEPS, told } from './host-changes.js';
import { interceptSteps } from './host-steps.js';
import type { Cut } from './killed-program.js';

export interface Killed {
  /** Number of changes that were cut short. */
  readonly kills: number;
  readonly problems: readonly string[];
}

interface Whole {
  readonly after: string;
  readonly steps: number;
}

/** A change that will be cut short, and the state of its directory before. */
interface Victim extends Cut {
  readonly before: string;
}

const PHASES = ['before', 'half', 'after'] as const;
/** Number of changes that one program makes before it dies, because starting a program is slow. */
const TOGETHER = 10;
/** Number of programs that run concurrently. */
const AT_ONCE = 2;

/**
 * Kills programs (SIGKILL) that change directories of the host, each change at a random step.
 * @param onKills is called from time to time with the number of kills so far
 */
export async function killOften(
  changes: Changes,
  kills: number,
  random: Random,
  onKills: (kills: number) => void = () => undefined,
): Promise<Killed> {
  const top = mkdtempSync(join(tmpdir(), 'scratchfs-kills-'));
  try {
    return await new Kills(top, await bundleProgram('killed-program.ts', top), changes, random, onKills).run(kills);
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

class Kills {
  readonly #problems: string[] = [];
  readonly #whole = new Map<string, Whole>();
  #kills = 0;
  #grounds = 0;

  constructor(
    readonly top: string,
    readonly program: string,
    readonly changes: Changes,
    readonly random: Random,
    readonly onKills: (kills: number) => void,
  ) {}

  async run(kills: number): Promise<Killed> {
    for (const change of Object.keys(this.changes)) this.#whole.set(change, await this.#playWhole(change));
    let drawn = 0;
    const keepKilling = async (): Promise<void> => {
      while (drawn < kills && this.#problems.length < 5) {
        const count = Math.min(TOGETHER, kills - drawn);
        drawn += count;
        await this.#kill(Array.from({ length: count }, () => this.#draw()));
        this.onKills(this.#kills);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, keepKilling));
    return { kills: this.#kills, problems: this.#problems };
  }

  #draw(): Victim {
    const { random } = this;
    const change = random.pick(Object.keys(this.changes));
    const step = random.below((this.#whole.get(change) as Whole).steps);
    const root = this.#ground();
    return { root, change, step, phase: random.pick(PHASES), before: told(root) };
  }

  async #kill(victims: readonly Victim[]): Promise<void> {
    try {
      await this.#play(victims);
      await this.#killRecoveries(victims);
      for (const victim of victims) await this.#examine(victim);
    } finally {
      for (const { root } of victims) rmSync(root, { recursive: true, force: true });
    }
  }

  async #examine({ root, change, step, phase, before }: Victim): Promise<void> {
    const { after } = this.#whole.get(change) as Whole;
    if (this.changes === APPLICATIONS) await recoverDirectory(root);
    const now = told(root);
    const where = `${change}, killed ${phase} step ${step}`;
    if (now !== after && now !== before) this.#problems.push(`${where}:\n${now}\nis neither\n${before}\nnor\n${after}`);
    await this.#findsNothing(root, where);
  }

  /** Checks that the next client works as if nothing had happened, and cleans up. */
  async #findsNothing(root: string, where: string): Promise<void> {
    const fs = hostFileSystem(root);
    await fs.writeFile('/next', 'next');
    await fs.close();
    if (leftovers(root).length > 0) this.#problems.push(`${where}: ${leftovers(root).join(', ')} is left`);
  }

  /** Kills the recovery of some of the directories too. */
  async #killRecoveries(victims: readonly Victim[]): Promise<void> {
    if (this.changes !== APPLICATIONS) return;
    const some = victims.filter(() => this.random.below(2) === 0);
    await this.#play(some.map((victim) => ({ ...victim, change: RECOVERY, step: this.random.below(RECOVERY_STEPS) })));
  }

  async #play(victims: readonly Cut[]): Promise<void> {
    if (victims.length === 0) return;
    const cuts = victims.map(({ root, change, step, phase }): Cut => ({ root, change, step, phase }));
    const child = spawn(process.execPath, [this.program, JSON.stringify(cuts)], { stdio: 'inherit' });
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    if (signal === 'SIGKILL') this.#kills += cuts.length;
    else this.#problems.push(`A program was not killed, and ended with ${code ?? signal}: ${JSON.stringify(cuts)}`);
  }

  /** Runs a change to its end, and returns the resulting state and the number of steps. */
  async #playWhole(change: string): Promise<Whole> {
    const root = this.#ground();
    const fs = hostFileSystem(root);
    let steps = 0;
    const takeBack = await interceptSteps(({ run }) => {
      steps += 1;
      return run();
    });
    try {
      await this.changes[change]?.(fs, root);
      await fs.close();
    } finally {
      takeBack();
    }
    const after = told(root);
    rmSync(root, { recursive: true });
    return { after, steps };
  }

  #ground(): string {
    const root = join(this.top, String(++this.#grounds));
    mkdirSync(root);
    fill(root);
    return root;
  }
}
