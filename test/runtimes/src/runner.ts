import { JestAsymmetricMatchers, JestChaiExpect, JestExtend } from '@vitest/expect';
import * as chai from 'chai';

/** What the suites ask of a runner; vitest and this file both have it. */
export interface SuiteRunner {
  readonly describe: (name: string, body: () => void) => void;
  readonly it: ((name: string, body: () => void | Promise<void>, timeoutMs?: number) => void) & {
    readonly skip: (name: string, body?: () => void | Promise<void>) => void;
  };
  // biome-ignore lint/suspicious/noExplicitAny: the matchers' own types differ between runners
  readonly expect: any;
}

export interface TestResult {
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly ms: number;
  readonly error?: string;
}

interface Test {
  readonly name: string;
  readonly body: (() => void | Promise<void>) | undefined;
  readonly timeoutMs: number;
}

const DEFAULT_TIMEOUT_MS = 20_000;

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);

/** Collects tests by `describe` and `it` and runs them one after the other; it needs nothing of a runtime but timers. */
export function createRunner(): SuiteRunner & { run(): Promise<TestResult[]> } {
  const tests: Test[] = [];
  const names: string[] = [];
  const add = (name: string, body: Test['body'], timeoutMs = DEFAULT_TIMEOUT_MS) => {
    tests.push({ name: [...names, name].join(' > '), body, timeoutMs });
  };

  return {
    describe(name, body) {
      names.push(name);
      body();
      names.pop();
    },
    it: Object.assign(
      (name: string, body: () => void | Promise<void>, timeoutMs?: number) => add(name, body, timeoutMs),
      {
        skip: (name: string) => add(name, undefined),
      },
    ),
    expect: chai.expect,
    async run() {
      const results: TestResult[] = [];
      for (const test of tests) results.push(await runOne(test));
      return results;
    },
  };
}

async function runOne({ name, body, timeoutMs }: Test): Promise<TestResult> {
  if (!body) return { name, state: 'skipped', ms: 0 };
  const started = performance.now();
  const ms = () => Math.round(performance.now() - started);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${timeoutMs} ms`)), timeoutMs);
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
