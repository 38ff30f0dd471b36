import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Miniflare, type MiniflareOptions } from 'miniflare';

/** Bundles a Worker of this folder from the sources. */
export async function bundle(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(file, import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    conditions: ['@scratchfs/source', 'workerd', 'worker'],
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}

let bundled: Promise<string> | undefined;

/** Starts the Worker of these tests in workerd, without Node's modules. The caller disposes of it. */
export async function openWorker(options: Partial<MiniflareOptions> = {}): Promise<Miniflare> {
  bundled ??= bundle('worker.ts');
  return new Miniflare({
    modules: [{ type: 'ESModule', path: 'worker.js', contents: await bundled }],
    compatibilityDate: '2025-01-01',
    r2Buckets: ['BUCKET'],
    durableObjects: {
      AGENTS: { className: 'Agent', useSQLite: true },
      OLD: { className: 'Old', useSQLite: false },
    },
    ...options,
  } as MiniflareOptions);
}

/** Calls the Worker. @throws Error with its text, unless the status is 200 */
export async function call<T>(worker: Miniflare, path: string): Promise<T> {
  const response = await worker.dispatchFetch(`http://tests.invalid/${path}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`/${path} returned ${response.status}: ${text.slice(0, 4_000)}`);
  return JSON.parse(text) as T;
}
