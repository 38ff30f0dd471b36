import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));

export interface Bundle {
  readonly text: string;
  /** Files whose code is in the bundle, with the bytes that each adds. */
  readonly inputs: ReadonlyMap<string, number>;
}

/** Bundles code for the browser from the built packages, as a user's bundler does. */
export async function bundle(code: string, conditions: readonly string[] = []): Promise<Bundle> {
  const result = await build({
    stdin: { contents: code, resolveDir: here, loader: 'js' },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: [...conditions],
    logLevel: 'silent',
    logOverride: { 'import-is-undefined': 'error' },
  });
  const output = Object.values(result.metafile.outputs)[0];
  const inputs = new Map<string, number>();
  for (const [path, { bytesInOutput }] of Object.entries(output?.inputs ?? {})) {
    if (bytesInOutput > 0) inputs.set(path, bytesInOutput);
  }
  return { text: result.outputFiles[0]?.text ?? '', inputs };
}
