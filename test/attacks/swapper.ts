import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';

/** Linux's system call number of renameat2, which Node lacks: it swaps two names atomically (RENAME_EXCHANGE). */
const RENAMEAT2: Readonly<Record<string, number>> = {
  x64: 316,
  arm64: 276,
  riscv64: 276,
  ia32: 353,
  ppc64: 357,
  s390x: 347,
};

/**
 * Script that holds a directory and swaps each pair of names under it, even after the directory has been moved. When
 * the names are gone it continues in the directory that has the path now. It ends with its parent. It prints the number
 * of successful swaps after each 50, and when it receives SIGTERM. It is in Perl, because every Debian has it (perl-base
 * is essential) and it can make system calls by number, without a compiler or a module.
 *
 * Names are swapped up to 32 times as fast as possible, stay for a moment, swapped or not, and are swapped back. A
 * pause follows, mostly short and seldom long, so that a call that restarts whenever it finds a change still ends on a
 * slow computer.
 */
const SCRIPT = `
use strict;
my ($nr, $pause, $seed, $top, @names) = @ARGV;
my $swaps = 0;
my $told = 0;
srand $seed;
$SIG{TERM} = sub { print "$swaps\n"; exit };
chdir $top or die "chdir: $!";
my $parent = getppid();
$| = 1;
sub swap {
  for (my $i = 0; $i < @names; $i += 2) {
    if (syscall($nr, -100, "$names[$i]", -100, "$names[$i + 1]", 2) == 0) { $swaps++; next }
    # The directory has been taken apart: there may be a new one under its name.
    chdir $top;
  }
}
print "ready\\n";
for (my $round = 0; ; $round++) {
  exit if getppid() != $parent;
  chdir $top if $round % 32 == 31;
  if ($swaps >= $told + 50) { $told = $swaps; print "$swaps\n" }
  my $times = 1 + int rand 32;
  swap() for 1 .. $times;
  select undef, undef, undef, rand($pause / 100);
  swap() if $times % 2;
  select undef, undef, undef, $pause / (1 + rand 99);
}
`;

/** Returns the reason why races cannot run on this machine; undefined if they can. */
export function whyNoRaces(): string | undefined {
  if (process.platform !== 'linux' || RENAMEAT2[process.arch] === undefined) return 'renameat2 is Linux';
  return spawnSync('perl', ['-v']).status === 0 ? undefined : 'there is no perl';
}

/** Another process that swaps names. */
export class Swapper {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #said = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = new Promise((resolve) => child.once('close', resolve));
    child.stdout?.on('data', (chunk) => {
      this.#said = `${this.#said}${chunk}`.slice(-64);
    });
  }

  /**
   * @param pairs names under `top` that change places
   * @param pause longest pause in seconds; half of the pauses are shorter than a fiftieth of it
   * @param seed seed of the swap times. Default: a new one each run
   */
  static async start(
    top: string,
    pairs: readonly (readonly [string, string])[],
    pause: number,
    seed: number = randomInt(2 ** 31),
  ): Promise<Swapper> {
    const numbers = [RENAMEAT2[process.arch], pause, seed].map(String);
    const args = ['-e', SCRIPT, ...numbers, top, ...pairs.flat()];
    const child = spawn('perl', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`The swapper has ended with ${code}`)));
      child.stdout?.once('data', () => resolve());
    });
    return new Swapper(child);
  }

  /** Number of swaps that happened; the last 100 may be missing. */
  get swaps(): number {
    return Number(/(\d+)\n[^\n]*$/.exec(this.#said)?.[1] ?? 0);
  }

  /** Ends the process. Returns the number of swaps that happened. */
  async stop(): Promise<number> {
    this.#child.kill('SIGTERM');
    await this.#ended;
    return this.swaps;
  }
}
