import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { compileFunction } from 'node:vm';
import { build } from 'esbuild';
import type { NodeFs } from './grounds.js';

const require = createRequire(import.meta.url);
const bundles = new Map<string, Promise<string>>();

/**
 * Loads a package that takes no filesystem as an option so that its `fs` is the given one.
 *
 * The package is bundled with all its dependencies as CommonJS for Node, which leaves `require('fs')` in the code; the
 * function that the code gets as `require` then returns the given object. Each call makes its own copy, so one can run
 * on the disk and another on a filesystem in memory at the same time.
 */
export async function loadWith<T>(fs: NodeFs, specifier: string): Promise<T> {
  const made = bundles.get(specifier) ?? bundle(specifier);
  bundles.set(specifier, made);
  return runWith(fs, await made, `${import.meta.dirname}/${specifier}.cjs`);
}

/** Runs the text of a CommonJS module located at `path`, with its `fs` redirected. Returns its exports. */
export function runWith<T>(fs: NodeFs, text: string, path: string): T {
  const module: { exports: unknown } = { exports: {} };
  const code = compileFunction(text, ['module', 'exports', 'require', '__filename', '__dirname'], { filename: path });
  const redirected = (name: string): unknown => {
    const plain = name.replace(/^node:/, '');
    if (plain === 'fs') return fs;
    if (plain === 'fs/promises') return fs.promises;
    return require(name);
  };
  code(module, module.exports, redirected, path, dirname(path));
  return module.exports as T;
}

async function bundle(specifier: string): Promise<string> {
  const result = await build({
    stdin: { contents: `module.exports = require(${JSON.stringify(specifier)});`, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
  });
  return result.outputFiles[0]?.text ?? '';
}
