import { linkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Directories } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';

const directories = new Directories();
afterAll(() => directories.remove());

describe('restore() of one path', () => {
  it('gives a file with several names what it had, if the name under which it was changed is gone', async () => {
    const disk = directories.directory({ 'd/a': 'old\n' });
    linkSync(join(disk, 'd/a'), join(disk, 'b'));
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    const { fileSystem } = attempt;
    await fileSystem.writeFile('/d/a', 'new\n');
    await fileSystem.rename('/d/a', '/x');
    await fileSystem.rm('/d', { recursive: true });
    const read = async (): Promise<string[]> => [await fileSystem.readText('/b'), await fileSystem.readText('/x')];
    expect(await read()).toEqual(['new\n', 'new\n']);
    await attempt.restore(0, { path: '/b' });
    expect(await read()).toEqual(['old\n', 'old\n']);
  });
});
