/** The parts of a test runner that the suites use. `describe` and `it` of Vitest, Jest, Deno and Bun fit. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: () => Promise<void>): unknown;
}

/** The result of one collected test. */
export interface TestResult {
  readonly name: string;
  readonly error?: unknown;
}

/**
 * A test runner for environments that have none: it collects the tests of a suite and runs them one by one.
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
