#!/usr/bin/env node
import { ExitCode } from './errors.js';
import { main } from './main.js';

const controller = new AbortController();

// The first Ctrl-C ends the work in order; the second ends the process.
process.on('SIGINT', () => {
  if (controller.signal.aborted) process.exit(ExitCode.interrupted);
  controller.abort();
});
process.on('SIGTERM', () => process.exit(128 + 15));

// The reader of a pipe may stop early, as `head` does. That is no failure.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? ExitCode.ok);
    throw error;
  });

process.exitCode = await main(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  environment: process.env,
  directory: process.cwd(),
  signal: controller.signal,
});
