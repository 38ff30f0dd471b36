import { ExitCode } from './errors.js';
import { main } from './main.js';
import { Interrupts } from './terminal/interrupts.js';

const interrupts = new Interrupts();
interrupts.listen();

let exitCode: number | undefined;

// The reader of a pipe may stop early, as `head` does. After SIGHUP or SIGTERM the terminal may be closed, so that
// writing to it fails. Neither is an error.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCode ?? ExitCode.ok);
    if (!interrupts.isTerminated) throw error;
  });

// The exit code if nothing is left to wait for although the command has not ended. There is no `await` at the top
// level, because a bundle with compiled code cannot have one.
process.exitCode = ExitCode.failed;

void main(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  environment: process.env,
  directory: process.cwd(),
  interrupts,
}).then((code) => {
  exitCode = code;
  process.exitCode = code;
});
