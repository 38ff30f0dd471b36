/** The part of a test runner that the suites need. Vitest's, Jest's, Deno's and Bun's `describe` and `it` fit as they are. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: () => Promise<void>): unknown;
}

/** What one collected test came to. */
export interface TestResult {
  readonly name: string;
  readonly error?: unknown;
}

/**
 * A runner of its own for places without one: collects the tests of a suite, then runs them one after the other.
 *
 * @example
 * ```ts
 * import { collectTests } from '@scratchfs/testkit';
 *
 * const runner = collectTests();
 * runner.describe('one', () => runner.it('is odd', async () => {}));
 * console.log(await runner.run()); // → [ { name: 'one › is odd' } ]
 * ```
 */
export function collectTests(): TestRunner & {
  readonly tests: readonly { readonly name: string; readonly body: () => Promise<void> }[];
  run(options?: { readonly only?: (name: string) => boolean; readonly stopAtFirst?: boolean }): Promise<TestResult[]>;
} {
  const tests: { name: string; body: () => Promise<void> }[] = [];
  const titles: string[] = [];
  return {
    tests,
    describe(name, body) {
      titles.push(name);
      body();
      titles.pop();
    },
    it(name, body) {
      tests.push({ name: [...titles, name].join(' › '), body });
    },
    async run({ only = () => true, stopAtFirst = false } = {}) {
      const results: TestResult[] = [];
      for (const { name, body } of tests) {
        if (!only(name)) continue;
        try {
          await body();
          results.push({ name });
        } catch (error) {
          results.push({ name, error });
          if (stopAtFirst) break;
        }
      }
      return results;
    },
  };
}
