import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Reads `+pid` and `-pid` lines. When its input ends, because the tests ended in any way, it kills the remaining
 * processes and removes the folder. It leads its own process group, so that a signal to the tests' group does not reach
 * it.
 */
const SCRIPT = `
trap '' INT TERM HUP
left=' '
while read -r line; do
  pid=\${line#?}
  case $line in
    +*) left="$left$pid " ;;
    -*) left="\${left%% $pid *} \${left#* $pid }" ;;
  esac
done
for pid in $left; do kill -9 "$pid"; done
sleep 0.1
rm -rf "$0"
`;

let keeper: { readonly child: ChildProcess; readonly folder: string } | undefined;
let folders = 0;

function keep(): { readonly child: ChildProcess; readonly folder: string } {
  if (keeper === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'scratchfs-redis-'));
    const child = spawn('/bin/sh', ['-c', SCRIPT, folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    child.unref();
    // A pipe holds the event loop open like a socket, and `unref` releases it in the same way.
    (child.stdin as unknown as { unref(): void }).unref();
    keeper = { child, folder };
  }
  return keeper;
}

/** Creates a folder that is removed when this process has ended, in any way. */
export function keptFolder(): string {
  folders += 1;
  const folder = join(keep().folder, String(folders));
  mkdirSync(folder);
  return folder;
}

/** Starts a program that is killed when this process has ended, in any way. */
export function spawnKept(program: string, args: readonly string[]): ChildProcess {
  const { child: guard } = keep();
  const child = spawn(program, args, { stdio: 'ignore' });
  child.unref();
  guard.stdin?.write(`+${child.pid}\n`);
  child.on('exit', () => guard.stdin?.write(`-${child.pid}\n`));
  return child;
}
