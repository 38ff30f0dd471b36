import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { createFileSystem } from 'scratchfs';
import { restoreSnapshot } from 'scratchfs/snapshot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examples } from '../run-example.js';
import { findChromium } from './find-chromium.js';

const folder = join(examples, 'browser');
const found = findChromium();
const isMissing = 'missing' in found;
if (isMissing) console.log(`The page is not tested: ${found.missing}`);

// On a build server a missing browser is a failure.
describe.skipIf(isMissing && !process.env.CI)('The page in headless Chromium', () => {
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    if (isMissing) throw new Error(found.missing);
    execFileSync(process.execPath, [join(folder, 'build.mjs')]);
    const args = [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
    ];
    browser = await chromium.launch({ executablePath: found.program, args, timeout: 120_000 });
    page = await browser.newPage();
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(pathToFileURL(join(folder, 'index.html')).href);
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
  });

  const message = (text: string) => page.locator('#message').filter({ hasText: text }).waitFor();
  const files = () => page.locator('#files').textContent();

  async function write(path: string, text: string): Promise<void> {
    await page.locator('#path').fill(path);
    await page.locator('#text').fill(text);
    await page.locator('#editor button').click();
  }

  it('writes files, and rolls them back to a checkpoint', async () => {
    await message('Ready');
    await write('/notes/hello.md', 'Hello');
    await message('Wrote /notes/hello.md');
    await page.locator('#checkpoint').click();
    await message('Remembered');
    await write('/notes/../bad.md', 'Oh no');
    await message('Wrote /bad.md');
    expect(await files()).toBe('/bad.md  5 bytes\n/notes/\n/notes/hello.md  5 bytes\n\n2 files, 10 bytes');
    await page.locator('#rollback').click();
    await message('As it was');
    expect(await files()).toBe('/notes/\n/notes/hello.md  5 bytes\n\n1 files, 5 bytes');
  });

  it('shows a refusal by the filesystem', async () => {
    await write('/notes', 'a file where a directory is');
    await message('EISDIR');
  });

  it('saves a snapshot that Node opens, and opens it again', async () => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#save').click()]);
    const path = await download.path();
    const fs = createFileSystem();
    await restoreSnapshot(fs, new Uint8Array(await readFile(path)));
    expect(fs.toJSON()).toEqual({ '/notes/hello.md': 'Hello' });

    await write('/notes/hello.md', 'changed since');
    await message('Wrote');
    await page.locator('#open').setInputFiles(path);
    await message('Opened');
    expect(await files()).toBe('/notes/\n/notes/hello.md  5 bytes\n\n1 files, 5 bytes');
    expect(complaints).toEqual([]);
  });
});
