import { join } from 'node:path';
import type * as Chokidar from 'chokidar';
import { describe, expect, it } from 'vitest';
import { onBoth, writeFiles } from './grounds.js';
import { loadWith } from './load-with.js';

describe('chokidar', () => {
  it('reports existing, new, changed and removed files by polling', { timeout: 600_000 }, async () => {
    const { answer } = await onBoth(async (ground) => {
      const { fs, root } = ground;
      const { watch } = await loadWith<typeof Chokidar>(fs, 'chokidar');
      writeFiles(ground, { 'a.txt': 'a', 'sub/b.txt': 'b', 'ignored/c.txt': 'c' });
      const watcher = watch(root, {
        usePolling: true,
        interval: 20,
        ignored: (path) => path.includes('ignored'),
        cwd: root,
      });
      const events: string[] = [];
      watcher.on('all', (event, path) => events.push(`${event} ${path}`));
      await new Promise<void>((resolve, reject) => watcher.on('ready', resolve).on('error', reject));
      const begun = events.splice(0).sort();
      /** Runs `work` and waits for the event. */
      const seen = async (event: string, work: () => void) => {
        work();
        await expect.poll(() => events).toContain(event);
      };
      await seen('change a.txt', () => fs.writeFileSync(join(root, 'a.txt'), 'longer'));
      await seen('add new/d.txt', () => writeFiles(ground, { 'new/d.txt': 'd' }));
      await seen('unlink sub/b.txt', () => fs.rmSync(join(root, 'sub/b.txt')));
      await seen('unlinkDir new', () => fs.rmSync(join(root, 'new'), { recursive: true }));
      await seen('add moved.txt', () => fs.renameSync(join(root, 'a.txt'), join(root, 'moved.txt')));
      await expect.poll(() => events).toContain('unlink a.txt');
      const watched = watcher.getWatched();
      await watcher.close();
      fs.writeFileSync(join(root, 'late.txt'), 'late');
      return { begun, events: [...new Set(events)].sort(), watched };
    });
    expect(answer.begun).toEqual(['add a.txt', 'add sub/b.txt', 'addDir ', 'addDir sub']);
    expect(answer.events).toEqual([
      'add moved.txt',
      'add new/d.txt',
      'addDir new',
      'change a.txt',
      'unlink a.txt',
      'unlink new/d.txt',
      'unlink sub/b.txt',
      'unlinkDir new',
    ]);
  });
});
