import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readWorktree } from './read-worktree.js';

const top = mkdtempSync(join(tmpdir(), 'scratchfs-worktree-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));

async function pathsIn(within: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { path } of readWorktree(top, { within, onUnrepresentable: () => undefined })) found.push(path);
  return found.sort();
}

describe('readWorktree()', () => {
  it('reads only the entries at a path, and nothing if a link is on the way to it', async () => {
    mkdirSync(join(top, 'way/inner/deep'), { recursive: true });
    writeFileSync(join(top, 'way/inner/a'), 'a');
    writeFileSync(join(top, 'way/inner/deep/b'), 'b');
    writeFileSync(join(top, 'beside'), 'x');
    symlinkSync('way', join(top, 'link'));
    expect(await pathsIn('way/inner')).toEqual(['a', 'deep/b']);
    expect(await pathsIn('link/inner')).toEqual([]);
    expect(await pathsIn('beside')).toEqual([]);
    expect(await pathsIn('missing/inner')).toEqual([]);
    expect(await pathsIn('')).toEqual(['beside', 'link', 'way/inner/a', 'way/inner/deep/b']);
  });
});
