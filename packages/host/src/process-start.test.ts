import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startOf } from './process-start.js';

describe('startOf()', () => {
  it('returns the same start as long as a process runs', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const pid = child.pid as number;
    const started = startOf(pid);
    expect(started).toMatch(/^\d+$/);
    expect(startOf(pid)).toBe(started);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(startOf(pid)).toBeUndefined();
  });

  it('returns undefined for a process that never existed', () => {
    expect(startOf(4_194_305)).toBeUndefined();
  });

  it.skipIf(process.platform !== 'linux')(
    'returns undefined for a process that has ended and that its parent has not waited for',
    async () => {
      // The outer shell becomes a program that does not wait for the inner one, which ends after a line of input.
      const parent = spawn('sh', ['-c', 'sh -c "read line <&3" & echo $!; exec sleep 60'], {
        stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
      });
      const [line] = (await once(parent.stdout as Readable, 'data')) as [Buffer];
      const pid = Number(line.toString());
      const until = async (file: string, wanted: RegExp): Promise<void> => {
        while (!wanted.test(readFileSync(file, 'latin1'))) await wait(1);
      };
      try {
        expect(startOf(pid)).toMatch(/^\d+$/);
        await until(`/proc/${parent.pid}/comm`, /^sleep$/m);
        (parent.stdio[3] as Writable).write('\n');
        await until(`/proc/${pid}/stat`, /\) Z /);
        expect(startOf(pid)).toBeUndefined();
      } finally {
        parent.kill('SIGKILL');
      }
    },
  );
});
