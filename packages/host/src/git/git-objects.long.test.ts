import type { ObjectId } from '@scratchfs/history';
import { afterAll, expect, it, vi } from 'vitest';
import { SampleFolders } from '../testing/sample-repository.js';
import { Git } from './git.js';
import { GitObjects } from './git-objects.js';

const folders = new SampleFolders();
afterAll(() => folders.remove());

it('refuses an object that is too large before it is in memory, and reads on behind it', async () => {
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
