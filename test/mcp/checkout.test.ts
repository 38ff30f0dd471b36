import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const script = fileURLToPath(new URL('../../.ci/mcp.mjs', import.meta.url));

it('the script of a checkout builds before it starts the server, and leaves stdout to the protocol', () => {
  const top = mkdtempSync(join(tmpdir(), 'scratchfs-checkout-'));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  mkdirSync(join(top, '.ci'));
  cpSync(script, join(top, '.ci', 'mcp.mjs'));
  const bin = join(top, 'packages', 'mcp', 'dist', 'bin.js');
  mkdirSync(dirname(bin), { recursive: true });
  writeFileSync(bin, "console.log('an old build');");
  writeFileSync(join(top, '.ci', 'install.mjs'), "export const install = async () => console.log('installed');");
  const building = (code: number): void =>
    writeFileSync(
      join(top, '.ci', 'build.mjs'),
      `import { writeFileSync } from 'node:fs';
      export async function build() {
        console.log('built');
        writeFileSync(${JSON.stringify(bin)}, "console.log('a new build');");
        return ${code};
      }`,
    );
  const start = () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(top, '.ci', 'mcp.mjs')], { encoding: 'utf8' });
    return { status, stdout, stderr };
  };
  building(0);
  expect(start()).toEqual({ status: 0, stdout: 'a new build\n', stderr: 'installed\nbuilt\n' });
  building(1);
  expect(start()).toEqual({ status: 1, stdout: '', stderr: 'installed\nbuilt\n' });
});
