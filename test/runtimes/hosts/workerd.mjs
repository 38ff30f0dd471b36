import { createRequire } from 'node:module';
import { bundle } from './bundle.mjs';
import { here } from './process.mjs';

const require = createRequire(import.meta.url);

/** Runs the suites in Cloudflare's runtime, without its flag for Node's modules. */
export async function workerd() {
  const { Miniflare } = await import('miniflare');
  const manifest = require.resolve('miniflare/package.json', { paths: [here] });
  const worker = new Miniflare({
    modules: true,
    scriptPath: await bundle('main-worker'),
    compatibilityDate: '2025-01-01',
  });
  try {
    const response = await worker.dispatchFetch('http://tests.invalid/');
    const text = await response.text();
    if (!response.ok) throw new Error(`The worker answered ${response.status}: ${text.slice(0, 4000)}`);
    return { version: `workerd in miniflare ${require(manifest).version}`, tests: JSON.parse(text) };
  } finally {
    await worker.dispose();
  }
}
