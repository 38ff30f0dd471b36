import { createRunner, type TestResult } from './runner.js';
import { defineSuites } from './suites.js';

/** Runs all suites in the runtime for which this is bundled. */
export async function runSuites(): Promise<TestResult[]> {
  const runner = createRunner();
  defineSuites(runner);
  return runner.run();
}
