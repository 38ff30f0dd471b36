import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { openFileSystem } from '@scratchfs/core';
import { S3Storage } from '@scratchfs/s3';
import { freshPlace, urlOf } from '../servers/test-bucket.js';

export interface Race {
  readonly problems: readonly string[];
  /** Milliseconds of each process, sorted. */
  readonly times: readonly number[];
}

/** Processes that append to files of their own in one filesystem, all at the same time: every write must be there, in order. */
export async function race(processes: number, writes: number): Promise<Race> {
  const url = urlOf(freshPlace());
  const storage = new S3Storage(url);
  const fs = await openFileSystem(storage);
  await fs.writeFile('/ready', '');
  const children = Array.from({ length: processes }, (_, i) => begin(url, `p${i}`, writes));
  try {
    await Promise.all(children.map((child) => messageOf(child)));
    const times = await Promise.all(
      children.map(async (child) => {
        const answer = messageOf(child);
        child.send('go');
        return ((await answer) as { readonly ms: number }).ms;
      }),
    );
    const expected = Array.from({ length: writes }, (_, i) => `${i} `).join('');
    const problems: string[] = [];
    for (let i = 0; i < processes; i++) {
      const text = await fs.readText(`/log-p${i}`);
      if (text !== expected) problems.push(`process ${i} wrote ${writes}, there is ${text.slice(-200)}`);
    }
    return { problems, times: times.sort((a, b) => a - b) };
  } finally {
    for (const child of children) child.kill();
    await storage.close();
  }
}

function begin(url: string, name: string, writes: number): ChildProcess {
  const program = fileURLToPath(new URL('./writer.ts', import.meta.url));
  return fork(program, [url, name, String(writes)], {
    execArgv: ['--conditions=@scratchfs/source', '--import', 'tsx', '--no-warnings'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

function messageOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`The process ended with ${code}`)));
  });
}
