#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { isBundled, runBundle } from './bundle.js';
import { compiledCodeDirectory, keepCompiledCode } from './compile-cache.js';

const argv = process.argv.slice(2);
const bundle = fileURLToPath(new URL('program.cjs', import.meta.url));
if (!isBundled(argv) || !runBundle(bundle, argv, compiledCodeDirectory())) {
  // Must come before the import of the program, so that its modules are cached.
  keepCompiledCode();
  await import('./program.js');
}
