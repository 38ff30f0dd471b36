import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';

/** Linux's number of renameat2, which Node does not have: it swaps two names in one step (RENAME_EXCHANGE). */
const RENAMEAT2: Readonly<Record<string, number>> = {
  x64: 316,
  arm64: 276,
  riscv64: 276,
  ia32: 353,
  ppc64: 357,
  s390x: 347,
};

/**
 * Perl, because every Debian has it (perl-base is essential) and it can call the system by number: no compiler, no module.
 * It swaps each pair of names beneath a directory that it holds wherever that is moved to, until the names are gone; then it
 * goes on in the directory that has the name now. It ends with its parent. How many swaps succeeded it says each second, and
 * when it is asked to end.
 *
 * Names are swapped up to 32 times as fast as that goes, are left where they are for a moment, swapped or not, and come back.
 * Then there is rest, mostly short and seldom long: however slow this computer is, what finds a change each time it looks
 * comes to an end.
 */
const SCRIPT = `
use strict;
my ($nr, $pause, $seed, $top, @names) = @ARGV;
my $swaps = 0;
my $told = time;
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
  if ($told != time) { $told = time; print "$swaps\n" }
  my $times = 1 + int rand 32;
  swap() for 1 .. $times;
  select undef, undef, undef, rand($pause / 100);
  swap() if $times % 2;
  select undef, undef, undef, $pause / (1 + rand 99);
}
`;

/** Why races cannot be run here; undefined where they can. */
export function whyNoRaces(): string | undefined {
  if (process.platform !== 'linux' || RENAMEAT2[process.arch] === undefined) return 'renameat2 is Linux';
  return spawnSync('perl', ['-v']).status === 0 ? undefined : 'there is no perl';
}

/** Another process that swaps names as fast as it can. */
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
   * @param pairs names beneath `top` that change places
   * @param pause the longest rest, in seconds: half are below a fiftieth of it
   * @param seed of when it swaps. Default: another one each time
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

  /** How often two names had really changed places, a second ago at most. */
  get swaps(): number {
    return Number(/(\d+)\n$/.exec(this.#said)?.[1] ?? 0);
  }

  /** Ends it; answers how often two names really changed places. */
  async stop(): Promise<number> {
    this.#child.kill('SIGTERM');
    await this.#ended;
    return this.swaps;
  }
}
