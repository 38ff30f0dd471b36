import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runExample } from '../../examples/run-example.js';
import { withClient } from '../faults/remote/remote.js';
import { s3Remote } from './remote.js';
import { freshPlace, hasBucket, urlOf } from './servers/test-bucket.js';

describe.skipIf(!hasBucket)('The demo with --storage', { timeout: 600_000 }, () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scratchfs-demo-s3-'));
    await writeFile(
      join(folder, 'shape.ts'),
      'export function getArea(side: number): number {\n  return side ** 2;\n}\n',
    );
    for (const name of ['tiles', 'paint'])
      await writeFile(
        join(folder, `${name}.ts`),
        `import { getArea } from './shape.js';\n\nexport const ${name} = getArea(3);\n`,
      );
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('runs on a bucket, all claims hold, and it leaves nothing behind', async () => {
    const place = freshPlace();
    const { code, output } = await runExample('demo/src/main.ts', folder, '--storage', urlOf(place));
    expect(output).toMatch(/✓ (\d+) of \1 claims hold/);
    expect(output).toContain('A storage that processes share');
    expect(output).not.toContain(process.env.AWS_SECRET_ACCESS_KEY);
    expect(code).toBe(0);
    await withClient(s3Remote, place, async (fs) => {
      expect(await fs.stats()).toMatchObject({ nodeCount: 0, totalSize: 0 });
      expect(await fs.checkpoints()).toEqual([]);
    });
  });

  it('fails on a namespace that is not empty, and leaves it unchanged', async () => {
    const place = freshPlace();
    await withClient(s3Remote, place, (fs) => fs.writeFile('/mine', 'x'));
    const { code, output } = await runExample('demo/src/main.ts', folder, '--storage', urlOf(place));
    expect(output).toContain('choose another namespace');
    expect(code).toBe(1);
    await withClient(s3Remote, place, async (fs) => expect(await fs.readdir('/')).toEqual(['mine']));
  });
});
