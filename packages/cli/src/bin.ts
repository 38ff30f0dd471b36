#!/usr/bin/env node
import { keepCompiledCode } from './compile-cache.js';

// Before the modules of the program are imported.
keepCompiledCode();
await import('./program.js');
