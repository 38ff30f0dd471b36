import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium } from '../../examples/browser/find-chromium.js';
import { TestBrowser } from './browser.js';
import type { Tools } from './page.js';

/**
 * Prints tables: milliseconds of a write and of a read of 4 KB in Chromium, beside plain IndexedDB and unstorage; and
 * of large contents in IndexedDB and in private files. The profile lies on the disk, because in a private window both
 * are in memory, and each access to a private file is a message to another process.
 */
declare const tools: Tools;

const found = findChromium();
if ('missing' in found) throw new Error(found.missing);
await using browser = await TestBrowser.start(found.program);
const folder = mkdtempSync(join(tmpdir(), 'scratchfs-profile-'));
const context = await browser.startWithProfile(folder);
const page = await browser.newTab(context);
const measured = await page.evaluate((operations) => tools.rates(operations), Number(process.argv[2] ?? 40));
console.log('| 4 KB, one after another, ms | write | read |\n|---|---|---|');
for (const [name, { write, read }] of Object.entries(measured))
  console.log(`| ${name} | ${write.toFixed(2)} | ${read.toFixed(2)} |`);
for (const [size, bytes] of [
  ['4 KiB', 4_096],
  ['1 MiB', 2 ** 20],
  ['16 MiB', 2 ** 24],
] as const) {
  const contents = await page.evaluate((bytes) => tools.contentRatesInWorker(bytes, 10), bytes);
  console.log(`\n| content of ${size} in a worker, ms | write | read | read 64 KiB of it |\n|---|---|---|---|`);
  for (const [name, { write, read, range }] of Object.entries(contents))
    console.log(`| ${name} | ${write.toFixed(2)} | ${read.toFixed(2)} | ${range.toFixed(2)} |`);
}
await context.close();
rmSync(folder, { recursive: true, force: true });
