import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { toolchainOf } from './toolchain.js';

const home = realpathSync(mkdtempSync(join(tmpdir(), 'scratchfs-home-')));
chmodSync(home, 0o755);
afterAll(() => rmSync(home, { recursive: true, force: true }));
const project = join(home, 'project');

function mountsFor(...directories: readonly string[]): string[] {
  for (const directory of directories) mkdirSync(join(home, directory), { recursive: true });
  const path = directories.map((directory) => join(home, directory)).join(':');
  return toolchainOf(`${path}:/usr/bin`, project, home).mounts.map(({ host }) => host.slice(home.length + 1));
}

describe('toolchainOf()', () => {
  it('shows the whole of a version manager, and of other installations only what programs need', () => {
    mkdirSync(join(home, '.local/share/keyrings'), { recursive: true });
    mkdirSync(join(home, '.local/lib'), { recursive: true });
    mkdirSync(join(home, '.rustup'), { recursive: true });
    expect(mountsFor('.nvm/versions/node/v24/bin', '.local/bin', '.cargo/bin', 'tools')).toEqual([
      '.nvm/versions',
      '.local/bin',
      '.local/lib',
      '.cargo/bin',
      '.rustup',
      'tools',
    ]);
  });

  it('never shows the home directory, what contains it, or the directory of the command', () => {
    mkdirSync(join(home, 'lib'));
    expect(mountsFor('bin')).toEqual(['bin']);
    expect(mountsFor('', 'project/node_modules/.bin', 'project')).toEqual([]);
    expect(toolchainOf(`/:/tmp:${tmpdir()}:relative:${home}/missing`, project, home).mounts).toEqual([]);
  });

  it('returns a PATH of what is shown and of the system', () => {
    const { path } = toolchainOf(`${home}/tools:/usr/bin:${home}/missing`, project, home);
    expect(path).toBe(`${home}/tools:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`);
  });
});
