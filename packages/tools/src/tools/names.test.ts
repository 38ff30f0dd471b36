import type { FileSystem } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import { memoryHandlers } from '../adapters/anthropic.js';
import { applyPatch } from '../adapters/openai.js';
import { createFileTools } from '../file-tools.js';
import { STORAGES, whole, yes } from '../testing/sandboxes.js';

describe.each(STORAGES)('a move on %s', (_, create) => {
  const setUp = async () => {
    const fileSystem: FileSystem = await create({ '/a': 'a', '/b': 'bb', '/c': 'c', '/d/x': 'x' });
    await fileSystem.mkdir('/empty');
    await fileSystem.symlink('/nowhere', '/link');
    await fileSystem.link('/a', '/same');
    const { call } = createFileTools(whole(fileSystem), { approve: yes });
    return { fileSystem, move: async (from: string, to: string) => (await call('move_file', { from, to })).text };
  };

  it('says what it has replaced', async () => {
    const { fileSystem, move } = await setUp();
    expect(await move('/a', '/new')).toBe("Moved '/a' to '/new'.");
    expect(await move('/new', 'b')).toBe("Moved '/new' to 'b', replacing the file of 2 bytes that was there.");
    expect(await move('/b', '/link')).toBe("Moved '/b' to '/link', replacing the link that was there.");
    expect(await move('/d', '/empty')).toBe("Moved '/d' to '/empty', replacing the empty directory that was there.");
    expect(await fileSystem.readText('/link')).toBe('a');
  });

  it('says nothing of a replacement if nothing was replaced', async () => {
    const { move } = await setUp();
    expect(await move('/c', '/c')).toBe("Moved '/c' to '/c'.");
    expect(await move('/a', '/same')).toBe("Moved '/a' to '/same'.");
    expect(await move('/d', '/c')).toMatch(/^ENOTDIR/);
    expect(await move('/none', '/c')).toContain("rename '/none' -> '/c'");
  });

  it('by the memory tool or a patch replaces nothing, not even a link that leads nowhere', async () => {
    const { fileSystem } = await setUp();
    const sandbox = whole(fileSystem);
    const patch = '*** Begin Patch\n*** Update File: /a\n*** Move to: /link\n@@\n-a\n+b\n*** End Patch';
    expect((await applyPatch(sandbox, patch, { approve: yes })).text).toBe("There is something at '/link' already.");
    const handlers = memoryHandlers(sandbox, { approve: yes, root: '/' });
    await expect(handlers.rename({ old_path: '/memories/a', new_path: '/memories/link' })).rejects.toThrow(
      "There is something at '/memories/link' already.",
    );
    expect(await fileSystem.readlink('/link')).toBe('/nowhere');
  });
});
