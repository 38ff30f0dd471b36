import { describe, expect, it } from 'vitest';
import { createFileSystem } from './create-file-system.js';
import { openStorage } from './open-storage.js';

describe('openStorage', () => {
  it.each(['memory://', 'C:\\files', '/tmp', '', 'redis', '1redis://x', 'ftp://host/file'])(
    'refuses %j, and lists the known schemes',
    async (url) => {
      await expect(openStorage(url)).rejects.toThrow(TypeError);
      await expect(openStorage(url)).rejects.toThrow('begins with one of file://, redis://, rediss://');
    },
  );

  it.each([undefined, null, 5, {}, new URL('redis://host')])('refuses %s, which is not a string', async (url) => {
    await expect(openStorage(url as never)).rejects.toThrow(TypeError);
  });

  it('shows nothing of a URL but its scheme, because the rest may contain a password', async () => {
    const error = await openStorage('amqp://user:secret@host').catch((thrown: unknown) => String(thrown));
    expect(error).toContain("not with 'amqp:'");
    expect(error).not.toContain('secret');
  });

  it('is called by createFileSystem with a URL', async () => {
    await expect(createFileSystem({ storage: 'nothing://host' })).rejects.toThrow("not with 'nothing:'");
  });
});
