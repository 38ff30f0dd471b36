import type { TestRunner } from '@scratchfs/testkit';

export interface TestResult {
  readonly name: string;
  readonly state: 'passed' | 'failed';
  readonly ms: number;
  readonly error?: string;
}

interface Test {
  readonly name: string;
  readonly body: () => Promise<void>;
}

/** Time limit of one test in milliseconds: a hanging test is reported by name instead of the whole run. */
const TIMEOUT_MS = 300_000;

/** Collects tests by `describe` and `it` and runs them one after another. It needs only timers from the runtime. */
export function createRunner(): TestRunner & { run(): Promise<TestResult[]> } {
  const tests: Test[] = [];
  const names: string[] = [];
  return {
    describe(name, body) {
      names.push(name);
      body();
      names.pop();
    },
    it(name, body) {
      tests.push({ name: [...names, name].join(' > '), body });
    },
    async run() {
      const results: TestResult[] = [];
      for (const test of tests) results.push(await runOne(test));
      return results;
    },
  };
}

async function runOne({ name, body }: Test): Promise<TestResult> {
  const started = performance.now();
  const ms = () => Math.round(performance.now() - started);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  });
  try {
    await Promise.race([body(), late]);
    return { name, state: 'passed', ms: ms() };
  } catch (error) {
    const text = error instanceof Error ? `${error.name}: ${error.message}\n${error.stack ?? ''}` : String(error);
    return { name, state: 'failed', ms: ms(), error: text.slice(0, 4000) };
  } finally {
    clearTimeout(timer);
  }
}
