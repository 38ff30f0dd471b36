/** Options of a command line. If an option is given several times, `text()` returns the last value. */
export class Options {
  constructor(readonly values: ReadonlyMap<string, readonly (string | true)[]>) {}

  flag(name: string): boolean {
    return this.values.has(name);
  }

  text(name: string): string | undefined {
    const value = this.values.get(name)?.at(-1);
    return typeof value === 'string' ? value : undefined;
  }
}
