import { duration } from './figures.js';
import { cutVisible, printable, type Terminal } from './terminal.js';

interface Row {
  readonly step: string;
  readonly what: string;
  readonly ms: number;
}

/** The demo's output. A false claim is shown as such and makes the whole demo fail. */
export class Report {
  readonly #rows: Row[] = [];
  #sections = 0;
  #kept = 0;
  #broken = 0;

  constructor(readonly terminal: Terminal) {}

  get brokenClaims(): number {
    return this.#broken;
  }

  section(title: string, explanation: string): void {
    const { terminal } = this;
    this.#sections++;
    terminal.line();
    terminal.line(`${terminal.cyan(String(this.#sections).padStart(2))}  ${terminal.bold(title)}`);
    terminal.prose('    ', explanation, terminal.dim);
    terminal.line();
  }

  /** Prints one action of the agent: verb, subject, result, time. */
  action(verb: string, subject: string, result: string, ms?: number): void {
    const { terminal } = this;
    const left = `    ${terminal.dim('›')} ${verb.padEnd(11)} ${printable(subject)}`;
    const time = terminal.dim((ms === undefined ? '' : duration(ms)).padStart(9));
    terminal.between(left, `${result} ${time}`);
  }

  /** Prints a sentence. */
  remark(text: string): void {
    this.terminal.prose('      ', text, this.terminal.dim);
  }

  /** Prints a line of a file or a diff, cut at the right edge. */
  note(text: string): void {
    this.terminal.line(cutVisible(`      ${text}`, this.terminal.width));
  }

  /** Prints a claim and whether it is true. */
  claim(text: string, isTrue: boolean): void {
    const { terminal } = this;
    if (isTrue) this.#kept++;
    else this.#broken++;
    const mark = isTrue ? terminal.green('✓') : terminal.red('✗');
    if (isTrue) terminal.prose(`    ${mark} `, text);
    else terminal.prose(`    ${mark} `, `NOT TRUE: ${text}`, terminal.red);
  }

  /** Adds a row to the table of the closing summary. */
  summarize(step: string, what: string, ms: number): void {
    this.#rows.push({ step, what, ms });
  }

  summary(totalMs: number): void {
    const { terminal } = this;
    terminal.line();
    terminal.line(terminal.bold('    In short'));
    terminal.line();
    const widest = Math.max(0, ...this.#rows.map(({ step }) => step.length));
    for (const { step, what, ms } of this.#rows) {
      terminal.between(`    ${step.padEnd(widest)}  ${terminal.dim(what)}`, duration(ms).padStart(9));
    }
    terminal.line(`    ${terminal.dim('─'.repeat(terminal.width - 4))}`);
    const claims = `${this.#kept} of ${this.#kept + this.#broken} claims hold`;
    const verdict = this.#broken === 0 ? terminal.green(`✓ ${claims}`) : terminal.red(`✗ only ${claims}`);
    terminal.between(`    ${verdict}`, terminal.bold(duration(totalMs).padStart(9)));
    terminal.line();
  }
}

/** Runs something and measures its time. */
export async function timed<T>(work: () => T | Promise<T>): Promise<[result: T, ms: number]> {
  const started = performance.now();
  const result = await work();
  return [result, performance.now() - started];
}
