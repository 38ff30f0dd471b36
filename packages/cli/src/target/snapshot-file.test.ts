import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { replaceFile } from './snapshot-file.js';

it('a replaced file keeps its mode, and what a link leads to stays', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'scratchfs-snapshot-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const [file, link] = [join(directory, 'file'), join(directory, 'link')];
  writeFileSync(file, 'old', { mode: 0o600 });
  symlinkSync('file', link);
  await replaceFile(link, Buffer.from('new'));
  expect([readFileSync(link, 'utf8'), readFileSync(file, 'utf8')]).toEqual(['new', 'old']);
  await replaceFile(file, Buffer.from('new'));
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['new', 0o600]);
  expect(readdirSync(directory)).toEqual(['file', 'link']);
});
