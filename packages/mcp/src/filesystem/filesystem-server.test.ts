import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWorkspace } from '@scratchfs/workspace';
import { createFileSystem } from 'scratchfs';
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '../testing/clients.js';
import { FilesystemServer } from './filesystem-server.js';

it('log and undo take paths by the link through which the directory was given', async () => {
  const top = mkdtempSync(join(tmpdir(), 'scratchfs-link-'));
  onTestFinished(() => rmSync(top, { recursive: true }));
  const [real, link] = [join(top, 'real'), join(top, 'link')];
  mkdirSync(real);
  symlinkSync('real', link);
  for (const name of ['a', 'b']) writeFileSync(join(real, name), 'old');
  const store = createFileSystem();
  const server = new FilesystemServer([{ path: link, open: () => openWorkspace(real, { store, live: true }) }]);
  onTestFinished(() => server.close());
  const { text } = await connect(server as never, 'legacy');
  for (const name of ['a', 'b']) await text('write_file', { path: join(link, name), content: 'new' });
  expect(await text('log', { path: join(link, 'a') })).toMatch(/^1 .*write_file/);
  await text('undo', { to: 0, path: join(link, 'a') });
  expect(['a', 'b'].map((name) => readFileSync(join(real, name), 'utf8'))).toEqual(['old', 'new']);
});
