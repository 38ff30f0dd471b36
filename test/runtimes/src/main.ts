import { createRunner, type TestResult } from './runner.js';
import { defineSuites } from './suites.js';

/** Runs all suites in whatever runtime this is bundled for. */
export async function runSuites(): Promise<TestResult[]> {
  const runner = createRunner();
  defineSuites(runner);
  return runner.run();
}
