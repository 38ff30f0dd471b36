#!/usr/bin/env node
import { ExitCode } from './errors.js';
import { main } from './main.js';
import { Interrupts } from './terminal/interrupts.js';

const interrupts = new Interrupts();

// The first Ctrl-C ends the work in order; the second ends the process.
process.on('SIGINT', () => {
  if (!interrupts.interrupt()) process.exit(ExitCode.interrupted);
});
const terminated = 128 + 15;
let isTerminated = false;
process.on('SIGTERM', () => {
  isTerminated = true;
  if (!interrupts.terminate()) process.exit(terminated);
});

// The reader of a pipe may stop early, as `head` does. That is no failure.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? ExitCode.ok);
    throw error;
  });

const code = await main(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  environment: process.env,
  directory: process.cwd(),
  interrupts,
});
process.exitCode = isTerminated ? terminated : code;
