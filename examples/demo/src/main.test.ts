import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const command = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', '.ci', 'demo.mjs');

function demo(...args: string[]) {
  return spawnSync(process.execPath, [command, ...args], { encoding: 'utf8', timeout: 280_000 });
}

describe('npm run demo', () => {
  it('succeeds on this repository, and every claim holds', () => {
    const { status, stdout } = demo();
    expect(stdout).not.toContain('NOT TRUE');
    expect(stdout).toMatch(/✓ (\d+) of \1 claims hold/);
    expect(status).toBe(0);
  });

  it('reports wrong arguments and fails', () => {
    const missing = demo('no/such/folder');
    expect(missing.stderr).toContain('There is no folder');
    expect(missing.status).toBe(2);
    expect(demo('one', 'two').status).toBe(2);
    expect(demo('--help').status).toBe(0);
  });
});
