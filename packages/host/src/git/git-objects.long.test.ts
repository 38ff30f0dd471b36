import { spawnSync } from 'node:child_process';
import type { ObjectId } from '@scratchfs/history';
import { afterAll, expect, it, vi } from 'vitest';
import { SampleFolders } from '../testing/sample-repository.js';
import { Git } from './git.js';
import { GitObjects } from './git-objects.js';

const folders = new SampleFolders();
afterAll(() => folders.remove());

it('refuses an object that is too large before loading it into memory, and reads on after it', async () => {
  const repository = folders.repository({ large: '\0'.repeat(40_000_000), small: 'small', limit: 'x'.repeat(1_000) });
  const [large, small, limit] = ['large', 'small', 'limit'].map((name) => repository.git('rev-parse', `HEAD:${name}`));
  const objects = new GitObjects(new Git(repository.path), 'sha1', 1_000);
  const joined = vi.spyOn(Buffer, 'concat');
  try {
    const order = [large, small, large, large, limit, small] as ObjectId[];
    const answers = await Promise.allSettled(order.map((id) => objects.read(id)));
    const told = answers.map((answer) =>
      answer.status === 'fulfilled' ? answer.value?.body.length : (answer.reason as { code: string }).code,
    );
    expect(told).toEqual(['too-large', 5, 'too-large', 'too-large', 1_000, 5]);
    expect(await objects.has(large as ObjectId)).toBe(true);
    const lengths = joined.mock.results.map(({ value }) => (value as Buffer).length);
    expect(Math.max(0, ...lengths)).toBeLessThan(1_000_000);
  } finally {
    joined.mockRestore();
    objects.close();
  }
});

it('ends its git process when idle, and starts another one for the next request', async () => {
  const repository = folders.repository({ small: 'small' });
  const id = repository.git('rev-parse', 'HEAD:small') as ObjectId;
  const objects = new GitObjects(new Git(repository.path), 'sha1', 1_000, 200);
  const running = (): number => {
    const { stdout } = spawnSync('ps', ['-A', '-o', 'ppid=,args='], { encoding: 'utf8' });
    return stdout.split('\n').filter((line) => new RegExp(`^ *${process.pid} git cat-file`).test(line)).length;
  };
  try {
    for (let i = 0; i < 2; i++) {
      expect((await objects.read(id))?.body.length).toBe(5);
      await expect.poll(running).toBe(0);
    }
  } finally {
    objects.close();
  }
});
