import { createFileSystem } from 'scratchfs';
import { describe, expect, it } from 'vitest';
import { Contents, hashOf } from './contents.js';

describe('Contents', () => {
  const bytes = Buffer.from('the same content');

  it.each(['save', 'toStore'] as const)('%s stores a content that another user has dropped', async (how) => {
    const store = createFileSystem();
    const contents = new Contents(store);
    const [failed, other] = [new Set<string>(), new Set<string>()];
    contents.add(bytes, failed);
    contents.add(bytes, other);
    contents.drop(failed);
    if (how === 'save') await contents.save(other);
    else for (const { path, content } of await contents.toStore(other)) await store.writeFile(path, content ?? '');
    expect(await new Contents(store).read(hashOf(bytes))).toEqual(new Uint8Array(bytes));
  });

  it('forgets a content that all have dropped', async () => {
    const contents = new Contents(createFileSystem());
    const users = [new Set<string>(), new Set<string>()];
    for (const user of users) contents.add(bytes, user);
    for (const user of users) contents.drop(user);
    await expect(contents.read(hashOf(bytes))).rejects.toMatchObject({ kind: 'corrupt' });
  });
});
