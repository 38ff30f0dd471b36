import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshNamespace, withClient } from './clients.js';
import { RedisServer } from './servers/redis-server.js';
import { hasOwnServer } from './servers/test-server.js';

const MAIN = fileURLToPath(new URL('../../examples/demo/src/main.ts', import.meta.url));
const LOADER = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const PASSWORD = 'hunter2-swordfish';

describe.skipIf(!hasOwnServer)('The demo with --storage', () => {
  let server: RedisServer;
  let folder: string;
  beforeAll(async () => {
    server = await RedisServer.start({ password: PASSWORD });
    folder = await mkdtemp(join(tmpdir(), 'scratchfs-demo-redis-'));
    await writeFile(
      join(folder, 'shape.ts'),
      'export function getArea(side: number): number {\n  return side * side;\n}\n',
    );
    for (const name of ['tiles', 'paint'])
      await writeFile(
        join(folder, `${name}.ts`),
        `import { getArea } from './shape.js';\n\nexport const ${name} = getArea(3);\n`,
      );
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const demo = (namespace: string): Promise<{ readonly status: number; readonly text: string }> =>
    new Promise((resolve) => {
      const url = `${server.url}/0?namespace=${namespace}`;
      const args = ['--conditions=@scratchfs/source', '--import', LOADER, MAIN, folder, '--storage', url];
      const child = execFile(process.execPath, args, (_, stdout, stderr) =>
        resolve({ status: child.exitCode ?? -1, text: stdout + stderr }),
      );
    });

  it('runs on Redis, all claims hold, and it leaves nothing behind', async () => {
    const namespace = freshNamespace();
    const { status, text } = await demo(namespace);
    expect(text).toMatch(/✓ (\d+) of \1 claims hold/);
    expect(text).toContain('A storage that processes share');
    expect(text).not.toContain(PASSWORD);
    expect(status).toBe(0);
    await withClient({ url: server.url, namespace }, async (fs) => {
      expect(await fs.stats()).toMatchObject({ nodeCount: 0, totalSize: 0 });
      expect(await fs.checkpoints()).toEqual([]);
    });
  });

  it('fails on a namespace that is not empty, and leaves it unchanged', async () => {
    const place = { url: server.url, namespace: freshNamespace() };
    await withClient(place, (fs) => fs.writeFile('/mine', 'x'));
    const { status, text } = await demo(place.namespace);
    expect(text).toContain('choose another namespace');
    expect(status).toBe(1);
    await withClient(place, async (fs) => expect(await fs.readdir('/')).toEqual(['mine']));
  });
});
