#!/usr/bin/env node
import { keepCompiledCode } from './command/compile-cache.js';

// Must run before the modules of the program are imported.
keepCompiledCode();
const { main } = await import('./command/main.js');
process.exitCode = await main(process.argv.slice(2));
