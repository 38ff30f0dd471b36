import { openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { Sandbox } from '@scratchfs/sandbox';
import { runInOsSandbox } from '../os-sandbox/run-in-os-sandbox.js';

/** Runs a command in an OS sandbox, and prints what it prints. */
const fs = await openFileSystem(new MemoryStorage());
const { stdout, stderr } = await runInOsSandbox(new Sandbox(fs, { root: { root: '/' } }), process.argv.slice(2));
process.stdout.write(stdout + stderr);
