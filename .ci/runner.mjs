import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { bin, cache, cpuSeconds, root, run } from './lib.mjs';

const DEFAULT_TIMEOUT_MS = 40 * 60_000;
const SHOWN_FAILURES = 20;
const inCI = /^(1|true)$/.test(process.env.CI ?? '');

/** Reads the counts from vitest's JSON report. A file that fails to load counts as one failure. */
function countVitest(report) {
  const unloaded = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + unloaded.length,
    skipped: report.numPendingTests + report.numTodoTests,
    missing: 0,
    reasons: [],
    failures: report.testResults.flatMap(failuresOf),
  };
}

/** Returns the failed tests of a file: each name with the first line of its message. */
function failuresOf({ name, status, message, assertionResults }) {
  const failed = assertionResults.filter((test) => test.status === 'failed');
  const said = (text = '') => text.split('\n', 1)[0].slice(0, 300);
  if (failed.length > 0) return failed.map((test) => `${test.fullName}: ${said(test.failureMessages?.[0])}`);
  return status === 'failed'
    ? [`${relative(root, name)}: ${said(message) || 'what it does before or after its tests'}`]
    : [];
}

function readCounts(step, file) {
  if (!existsSync(file)) return undefined;
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    if (step.vitest) return countVitest(report);
    return { missing: 0, reasons: [], ...report };
  } catch (error) {
    console.error(`The report of "${step.name}" cannot be read: ${error}`);
    return undefined;
  }
}

function command(step, file) {
  if (step.vitest) {
    const projects = step.vitest.flatMap((name) => ['--project', name]);
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
    return ['vitest', 'run', '--config', 'test/vitest.config.ts', ...projects, ...reporters];
  }
  return step.run ?? step.report;
}

// CPU time as well: wall time says little on a shared machine.
const time = (wall, cpu) => `${wall.toFixed(1)} s${cpu === undefined ? '' : `, ${cpu.toFixed(1)} s of CPU`}`;
const since = (started) => (performance.now() - started) / 1000;

/** Returns the problems of an ended step; empty if it succeeded. */
function problemsOf(step, code, counts) {
  const problems = [];
  if (code === 124) problems.push(`took longer than ${(step.timeoutMs ?? DEFAULT_TIMEOUT_MS) / 1000} s`);
  else if (code !== 0 && !counts?.failed) problems.push(`exit code ${code}`);
  if (!step.run && !counts) problems.push('wrote no report');
  else if (counts && counts.passed + counts.failed + counts.skipped === 0) problems.push('reported no test');
  if (counts?.failed) problems.push(`${counts.failed} failed`);
  if (inCI && counts?.missing) problems.push(`${counts.missing} not run for want of a runtime or a server`);
  return problems;
}

async function runStep(step, title, quiet) {
  console.log(quiet ? `${title} …` : `\n${title}`);
  const file = join(cache, 'results', `${step.name.replaceAll(/[^a-z0-9]+/g, '-')}.json`);
  rmSync(file, { force: true });
  const started = performance.now();
  const [tool, ...args] = command(step, file);
  const { code, output, cpu } = await run(tool === 'node' ? process.execPath : bin(tool), args, {
    env: { ...step.env, SCRATCHFS_RESULTS: file },
    timeoutMs: step.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    quiet,
  });
  const counts = step.run ? undefined : readCounts(step, file);
  const problems = problemsOf(step, code, counts);
  if (problems.length > 0 && output) console.log(`\n${title}\n${output}`);
  for (const reason of counts?.reasons ?? []) console.log(`  skipped: ${reason}`);
  const result = problems.length === 0 ? 'ok' : `FAILED: ${problems.join(', ')}`;
  const tests = counts ? `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped, ` : '';
  const taken = time(since(started), cpu);
  console.log(`${title}: ${result} (${tests}${taken})`);
  return { step, counts, problems, taken };
}

/**
 * Runs steps, `lanes` at a time, each after those it needs, and steps with `isAlone` while nothing else runs. Returns
 * the results in the order of the list.
 */
async function runAll(steps, lanes) {
  const results = new Map();
  const waiting = steps.map((step, index) => ({ step, title: `[${index + 1}/${steps.length}] ${step.name}` }));
  const isReady = ({ step }) =>
    (step.needs ?? []).every((name) => results.has(name) || !steps.some((other) => other.name === name));
  const running = new Map();
  const mayStart = (one) => isReady(one) && (running.size === 0 || !one.step.isAlone);
  const isFree = () => running.size < lanes && ![...running.values()].some((step) => step.isAlone);
  while (waiting.length > 0 || running.size > 0) {
    const next = isFree() ? waiting.findIndex(mayStart) : -1;
    if (next < 0) {
      await Promise.race(running.keys());
      continue;
    }
    const [{ step, title }] = waiting.splice(next, 1);
    const done = runStep(step, title, lanes > 1).then((result) => {
      results.set(step.name, result);
      running.delete(done);
    });
    running.set(done, step);
  }
  return steps.map(({ name }) => results.get(name));
}

/**
 * Has vitest keep transformed modules in files for the steps of this run, since each step loads the same sources. Every
 * run has a directory of its own: the cache does not notice that an import resolves to another file, and two runs in
 * one checkout do not disturb each other.
 */
function startModuleCache() {
  const modules = mkdtempSync(join(cache, 'modules-'));
  process.on('exit', () => rmSync(modules, { recursive: true, force: true }));
  process.env.SCRATCHFS_MODULE_CACHE = modules;
}

/**
 * Runs all steps regardless of failures, and prints a table and the totals at the end. With one lane all output is
 * shown; with more only that of failed steps.
 */
export async function runSteps(steps, { totals, lanes = 1 }) {
  mkdirSync(join(cache, 'results'), { recursive: true });
  // A test of this file runs within a run.
  if (process.env.SCRATCHFS_MODULE_CACHE === undefined) startModuleCache();
  const started = performance.now();
  const results = await runAll(steps, lanes);

  const sum = (key) => results.reduce((total, { counts }) => total + (counts?.[key] ?? 0), 0);
  const broken = results.filter(({ problems }) => problems.length > 0);
  console.log(`\nSteps (${time(since(started), cpuSeconds())}):`);
  for (const { step, problems, taken, counts } of results) {
    console.log(
      `  ${problems.length ? 'FAILED' : 'ok    '}  ${taken.padStart(24)}  ${step.name}  ${problems.join(', ')}`,
    );
    const failures = counts?.failures ?? [];
    for (const failure of failures.slice(0, SHOWN_FAILURES)) console.log(`          ${failure}`);
    if (failures.length > SHOWN_FAILURES) console.log(`          and ${failures.length - SHOWN_FAILURES} more`);
  }
  // A step that broke without naming a failed test counts as one failure, so that the totals never look green.
  const unnamed = broken.filter(({ counts }) => !counts?.failed).length;
  const line = `${sum('passed')} passed, ${sum('failed') + unnamed} failed, ${sum('skipped')} skipped`;
  console.log(totals ? `\n${line}` : `\n${broken.length === 0 ? 'All good' : 'Not good'}: ${line}`);
  return broken.length === 0 ? 0 : 1;
}
