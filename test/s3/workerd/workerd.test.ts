import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { Miniflare } from 'miniflare';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestResult } from '../../runtimes/src/runner.js';
import { freshPlace, hasBucket } from '../servers/test-bucket.js';

/**
 * The SDK's browser build parses XML with `DOMParser`, which a Worker lacks. A parser without dependencies is next to
 * it.
 */
const ownXmlParser: Plugin = {
  name: 'xml parser without DOMParser',
  setup({ onLoad }) {
    onLoad({ filter: /xml-builder.dist-es.xml-parser\.browser\.js$/ }, async ({ path }) => ({
      contents: await readFile(path.replace('.browser', ''), 'utf8'),
    }));
  },
};

/** Bundles the worker with the SDK's browser modules and without Node's. */
async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./worker.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['@scratchfs/source', 'workerd', 'worker'],
    plugins: [ownXmlParser],
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}

describe.skipIf(!hasBucket)('S3Storage inside workerd', () => {
  let worker: Miniflare;
  beforeAll(async () => {
    const { endpoint, bucket, prefix, region } = freshPlace();
    worker = new Miniflare({
      modules: true,
      script: await bundle(),
      compatibilityDate: '2025-01-01',
      bindings: {
        ENDPOINT: endpoint ?? `https://s3.${region}.amazonaws.com`,
        BUCKET: bucket,
        PREFIX: prefix,
        REGION: region,
        ACCESS_KEY: process.env.AWS_ACCESS_KEY_ID ?? '',
        SECRET_KEY: process.env.AWS_SECRET_ACCESS_KEY ?? '',
      },
    });
  });
  afterAll(() => worker?.dispose());

  it('passes the storage suite, keeps checkpoints and transactions, and collects garbage', {
    timeout: 600_000,
  }, async () => {
    const response = await worker.dispatchFetch('http://tests.invalid/');
    const text = await response.text();
    expect(response.ok, text.slice(0, 4_000)).toBe(true);
    const results = JSON.parse(text) as readonly TestResult[];
    expect(results.filter(({ state }) => state === 'failed')).toEqual([]);
    expect(results.length).toBeGreaterThan(40);
    console.log(`${results.length} tests inside workerd`);
  });
});
