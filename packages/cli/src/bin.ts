#!/usr/bin/env node
import { keepCompiledCode } from './compile-cache.js';

// Must come before the import of the program, so that its modules are cached.
keepCompiledCode();
await import('./program.js');
