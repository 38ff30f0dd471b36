import { mkdtempSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Call } from '../table/command-spec.js';
import { run } from './fs-mv.js';

it('fs mv without --force does not replace a link that leads nowhere', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'scratchfs-mv-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, 'a'), '');
  symlinkSync('nowhere', join(directory, 'link'));
  const options = { text: (name: string) => (name === 'store' ? directory : undefined), flag: () => false };
  const { signal } = new AbortController();
  const call = { args: ['a', 'link'], options, directory, output: { isQuiet: true }, signal } as unknown as Call;
  await expect(run(call)).rejects.toMatchObject({ exitCode: 5, message: '/link exists.' });
  expect(readlinkSync(join(directory, 'link'))).toBe('nowhere');
});
