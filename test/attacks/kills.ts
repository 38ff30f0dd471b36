import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostFileSystem } from '@scratchfs/host';
import type { Random } from '@scratchfs/testkit';
import { build } from 'esbuild';
import { CHANGES, fill, leftovers, told } from './host-changes.js';
import { interceptSteps } from './host-steps.js';

export interface Killed {
  readonly kills: number;
  readonly problems: readonly string[];
}

interface Whole {
  readonly after: string;
  readonly steps: number;
}

const PHASES = ['before', 'half', 'after'];
const AT_ONCE = 4;

/** Kills programs that change a directory of the host, each at a step that is drawn. */
export async function killOften(kills: number, random: Random): Promise<Killed> {
  const top = mkdtempSync(join(tmpdir(), 'scratchfs-kills-'));
  try {
    return await new Kills(top, await bundled(top)).run(kills, random);
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

/** The program in one file: most of its short life would else be spent on loading. */
async function bundled(top: string): Promise<string> {
  const outfile = join(top, 'program.mjs');
  const entry = fileURLToPath(new URL('./killed-program.ts', import.meta.url));
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['@scratchfs/source'],
    logLevel: 'error',
  });
  return outfile;
}

class Kills {
  readonly #problems: string[] = [];
  readonly #whole = new Map<string, Whole>();
  #kills = 0;
  #grounds = 0;

  constructor(
    readonly top: string,
    readonly program: string,
  ) {}

  async run(kills: number, random: Random): Promise<Killed> {
    const changes = Object.keys(CHANGES);
    for (const change of changes) this.#whole.set(change, await this.#playWhole(change));
    while (this.#kills < kills && this.#problems.length < 5) {
      const round = Array.from({ length: Math.min(AT_ONCE, kills - this.#kills) }, () => {
        const change = random.pick(changes);
        const { steps } = this.#whole.get(change) as Whole;
        return { change, step: random.below(steps), phase: random.pick(PHASES) };
      });
      await Promise.all(round.map((each) => this.#killOnce(each)));
    }
    return { kills: this.#kills, problems: this.#problems };
  }

  async #killOnce({ change, step, phase }: { change: string; step: number; phase: string }): Promise<void> {
    const root = this.#ground();
    try {
      const before = told(root);
      const { after } = this.#whole.get(change) as Whole;
      await this.#play(root, change, step, phase);
      const now = told(root);
      const where = `${change}, killed ${phase} step ${step}`;
      if (now !== after && now !== before)
        this.#problems.push(`${where}:\n${now}\nis neither\n${before}\nnor\n${after}`);
      await this.#findsNothing(root, where);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  }

  /** Whoever comes next works as if nothing had happened, and cleans up. */
  async #findsNothing(root: string, where: string): Promise<void> {
    const fs = hostFileSystem(root);
    await fs.writeFile('/next', 'next');
    await fs.close();
    if (leftovers(root).length > 0) this.#problems.push(`${where}: ${leftovers(root).join(', ')} is left`);
  }

  async #play(root: string, change: string, step: number, phase: string): Promise<void> {
    const child = spawn(process.execPath, [this.program, root, change, String(step), phase], { stdio: 'inherit' });
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    if (signal === 'SIGKILL') this.#kills += 1;
    else this.#problems.push(`${change} was not killed at step ${step}, and ended with ${code ?? signal}`);
  }

  /** What a change makes of it where nothing goes wrong, and in how many steps. */
  async #playWhole(change: string): Promise<Whole> {
    const root = this.#ground();
    const fs = hostFileSystem(root);
    let steps = 0;
    const takeBack = await interceptSteps(({ run }) => {
      steps += 1;
      return run();
    });
    try {
      await CHANGES[change]?.(fs);
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
