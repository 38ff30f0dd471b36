import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { root } from './sources.js';

const runner = pathToFileURL(join(root, '.ci', 'runner.mjs')).href;

interface FakeStep {
  readonly name: string;
  readonly run?: readonly string[];
  readonly report?: readonly string[];
  readonly timeoutMs?: number;
  readonly needs?: readonly string[];
  readonly isAlone?: boolean;
}

const node = (code: string) => ['node', '-e', code];
const writes = (counts: object, exit = 0) =>
  node(
    `require('fs').writeFileSync(process.env.SCRATCHFS_RESULTS, '${JSON.stringify(counts)}'); process.exit(${exit})`,
  );

/** Runs steps as `npm test` does. Returns the last line of the output and the exit code. */
function runFake(steps: readonly FakeStep[], ci = '', lanes = 1): { last: string | undefined; code: number | null } {
  const named = steps.map((step) => ({
    ...step,
    name: `fake ${step.name}`,
    needs: step.needs?.map((name) => `fake ${name}`),
  }));
  const script = `import { runSteps } from '${runner}'; process.exit(await runSteps(${JSON.stringify(named)}, { totals: true, lanes: ${lanes} }));`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    env: { ...process.env, CI: ci },
  });
  return { last: stdout.trimEnd().split('\n').at(-1), code: status };
}

describe('npm test', () => {
  it('adds up what the steps report', () => {
    const steps = [
      { name: 'a', run: node('') },
      { name: 'b', report: writes({ passed: 3, failed: 0, skipped: 1 }) },
      { name: 'c', report: writes({ passed: 4, failed: 0, skipped: 0 }) },
    ];
    expect(runFake(steps)).toEqual({ last: '7 passed, 0 failed, 1 skipped', code: 0 });
  });

  it('fails with a failed test, even if the step exits with 0', () => {
    const steps = [{ name: 'a', report: writes({ passed: 3, failed: 2, skipped: 0 }) }];
    expect(runFake(steps)).toEqual({ last: '3 passed, 2 failed, 0 skipped', code: 1 });
  });

  it('counts a step that breaks as a failure, and runs the rest', () => {
    const steps = [
      { name: 'a', run: node('process.exit(3)') },
      { name: 'b', report: writes({ passed: 3, failed: 0, skipped: 0 }, 1) },
      { name: 'c', run: ['no-such-tool'] },
      // spawn() throws for NUL in an argument.
      { name: 'd', run: node('\0') },
      { name: 'e', report: writes({ passed: 1, failed: 0, skipped: 0 }) },
    ];
    expect(runFake(steps)).toEqual({ last: '4 passed, 4 failed, 0 skipped', code: 1 });
  });

  it('counts a step without a report, or with no test in it, as a failure', () => {
    const steps = [
      { name: 'a', report: node('') },
      { name: 'b', report: writes({ passed: 0, failed: 0, skipped: 0 }) },
      { name: 'c', report: node("require('fs').writeFileSync(process.env.SCRATCHFS_RESULTS, 'no JSON')") },
    ];
    expect(runFake(steps)).toEqual({ last: '0 passed, 3 failed, 0 skipped', code: 1 });
  });

  it('ends a step that takes too long', () => {
    const steps = [{ name: 'a', run: node('setInterval(() => {}, 1000)'), timeoutMs: 300 }];
    expect(runFake(steps)).toEqual({ last: '0 passed, 1 failed, 0 skipped', code: 1 });
  });

  it('runs two steps at a time, a step after those it needs, and one that is alone while no other runs', () => {
    const folder = mkdtempSync(join(tmpdir(), 'scratchfs-steps-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'log');
    const step = (name: string, more: Partial<FakeStep> = {}, until = 'true'): FakeStep => ({
      name,
      run: node(
        `const fs = require('fs'); const say = (what) => fs.appendFileSync(${JSON.stringify(file)}, what + ' '); say('${name}');
        const at = setInterval(() => { if (!(${until})) return; clearInterval(at); say('/${name}'); }, 5);`,
      ),
      ...more,
    });
    const sees = (what: string) => `fs.readFileSync(${JSON.stringify(file)}, 'utf8').includes('${what}')`;
    // Each of a and b ends only after the other has begun. Then it is chance which of the others is first.
    const steps = [
      step('a', {}, sees('b ')),
      step('alone', { isAlone: true }),
      step('b', {}, sees('/a ')),
      step('c', { needs: ['b'] }),
    ];
    expect(runFake(steps, '', 2).code).toBe(0);
    const log = readFileSync(file, 'utf8');
    expect(log).toMatch(/^(a b|b a) \/a \/b (alone \/alone c \/c|c \/c alone \/alone) $/);
  });

  it('accepts a missing runtime on a desk and not on a build server', () => {
    const steps = [{ name: 'a', report: writes({ passed: 1, failed: 0, skipped: 1, missing: 1, reasons: ['no x'] }) }];
    expect(runFake(steps)).toEqual({ last: '1 passed, 0 failed, 1 skipped', code: 0 });
    expect(runFake(steps, 'true')).toEqual({ last: '1 passed, 1 failed, 1 skipped', code: 1 });
  });

  it('is what .ci/run runs, where a missing runtime is a failure', () => {
    const path = join(root, '.ci', 'run');
    expect(readFileSync(path, 'utf8')).toMatch(/^CI=true exec npm test$/m);
    expect(statSync(path).mode & 0o111).toBe(0o111);
  });
});
