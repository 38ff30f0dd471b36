import { findChromium } from '../../examples/browser/find-chromium.js';
import { TestBrowser } from './browser.js';
import type { Tools } from './page.js';

/** Prints a table: milliseconds of a write and of a read of 4 KB in Chromium, beside plain IndexedDB and unstorage. */
declare const tools: Tools;

const found = findChromium();
if ('missing' in found) throw new Error(found.missing);
await using browser = await TestBrowser.start(found.program);
const page = await browser.newTab();
const measured = await page.evaluate((operations) => tools.rates(operations), Number(process.argv[2] ?? 200));
console.log('| 4 KB, one after another, ms | write | read |\n|---|---|---|');
for (const [name, { write, read }] of Object.entries(measured))
  console.log(`| ${name} | ${write.toFixed(2)} | ${read.toFixed(2)} |`);
